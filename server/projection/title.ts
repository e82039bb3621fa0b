import type { EventData } from '../wire/events.ts'
import type { Projection } from './projection.ts'

export type Title = EventData['session/title']

export const title: Projection<Title | null> = {
  key: 'title',
  stateVersion: 1,
  init: () => null,
  apply: (state, event) => (event.type === 'session/title' ? event.data : state),
}

/** In graphemes. */
const TITLE_LENGTH = 60
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/**
 * The rule title of a session: the first line of its first prompt that says something, without Markdown marks, cut at a
 * word where one ends in the last third. Empty when the text says nothing.
 */
export function titleFrom(text: string): string {
  // A pasted file must not be segmented as a whole; the first lines decide.
  for (const line of text.slice(0, 4000).split(/\r?\n/)) {
    const plain = plainLine(line)
    if (plain) return cut(plain)
  }
  return ''
}

/**
 * The title in a model's answer, by the same rule, without the quotation marks, the word "Title:" and the full stop that
 * models put around one. Empty when the answer says nothing.
 */
export function titleFromModel(text: string): string {
  for (const line of text.slice(0, 4000).split(/\r?\n/)) {
    const plain = bare(plainLine(line))
    if (plain) return cut(plain)
  }
  return ''
}

const QUOTES = `"'“”„‘’«»「」『』`

const bare = (line: string): string =>
  line
    .replace(/^title\s*[:：]/i, '')
    .replace(new RegExp(`^[\\s${QUOTES}]+|[\\s${QUOTES}]+$`, 'gu'), '')
    .replace(/(?<!\.)\.$|。$/, '')
    .replace(new RegExp(`[\\s${QUOTES}]+$`, 'u'), '')

function plainLine(line: string): string {
  if (/^\s*(```|~~~)/.test(line)) return ''
  return (
    line
      .replace(/^\s*(#{1,6}|[-*+>]|\d+[.)])\s+/, '')
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[`*]+/g, '')
      // Control and format characters could reorder or hide the title in a list; the two joiners make emoji and words.
      .replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')
      .replace(/\s+/g, ' ')
      .trim()
  )
}

function cut(line: string): string {
  const graphemes = Array.from(segmenter.segment(line.slice(0, 1000)), (part) => part.segment)
  if (graphemes.length <= TITLE_LENGTH) return graphemes.join('')
  const head = graphemes.slice(0, TITLE_LENGTH - 1)
  const space = head.lastIndexOf(' ')
  const kept = space > (TITLE_LENGTH * 2) / 3 ? head.slice(0, space) : head
  return `${kept.join('').trimEnd()}…`
}
