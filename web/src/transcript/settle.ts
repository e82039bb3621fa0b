import { marked } from 'marked'
import type { Token } from 'marked'

/** Blocks that are mounted and compared as one: a long answer costs React a few comparisons per frame, not hundreds. */
const CHUNK_BLOCKS = 12
const CHUNK_CHARS = 2000
/** Characters that one frame may lex, mount and lay out; about 10 ms of a slow and busy machine. */
export const SLICE = 4000
/** A paragraph longer than this is cut at the end of a line or sentence: as one block it would be lexed again with every word. */
const LONG = 4000
/** Longer than the longest list marker: what stands after a list is known to be no further item of it. */
const MARKER = 12
/** The address of a reference link may stand anywhere in the text. */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m

export type Chunk = readonly Token[]

export interface Settled {
  /** The text that was taken in so far: what `chunks` stand for and the unsettled rest. */
  text: string
  /** Characters of the text that `chunks` stand for. */
  length: number
  chunks: Chunk[]
  /** Chunks from the first index up to the second are not in the page yet. */
  hidden: readonly [number, number]
  /** Pixels of chunks that were in the page once. */
  heights: number[]
}

export const unsettled = (): Settled => ({ text: '', length: 0, chunks: [], hidden: [0, 0], heights: [] })

/** Moves what cannot change any more into `into`, which only ever grows unless the text is another; returns the rest. */
export function settle(into: Settled, text: string): string {
  if (!text.startsWith(into.text)) Object.assign(into, unsettled())
  into.text = text
  const rest = text.slice(into.length)
  if (rest.length <= LONG && !rest.includes('\n\n')) return rest
  const tokens = marked.lexer(rest)
  const last = tokens.findLastIndex((token) => token.type !== 'space')
  const tail = tokens.slice(Math.max(0, last)).reduce((length, token) => length + token.raw.length, 0)
  const end = text.length - tail
  const undecided = tail < MARKER && tokens.slice(0, last).some((token) => token.type === 'list')
  if (!undecided) for (const token of tokens.slice(0, Math.max(0, last))) push(into, token)
  if (into.length === end && tokens[last]?.type === 'paragraph') cutParagraph(into, text)
  return text.slice(into.length)
}

function push(into: Settled, token: Token): void {
  const open = into.chunks.at(-1)
  if (open && open.length < CHUNK_BLOCKS && sizeOf(open) < CHUNK_CHARS)
    into.chunks[into.chunks.length - 1] = [...open, token]
  else into.chunks.push([token])
  into.length += token.raw.length
}

function cutParagraph(into: Settled, text: string): void {
  while (text.length - into.length > LONG) {
    const window = text.slice(into.length, into.length + LONG)
    const at = [
      window.lastIndexOf('\n'),
      window.lastIndexOf('. ') + 1,
      window.lastIndexOf('。'),
      window.lastIndexOf(' '),
    ].find((place) => place > LONG / 2)
    // Between the halves of a character nothing is cut.
    const whole = /[\uD800-\uDBFF]$/.test(window) ? LONG - 1 : LONG
    const raw = window.slice(0, at === undefined ? whole : at + 1)
    const piece = { type: 'paragraph', raw, text: raw, tokens: marked.Lexer.lexInline(raw.trimEnd()) }
    into.chunks.push([piece])
    into.length += raw.length
  }
}

/** Characters of a chunk. */
export const sizeOf = (chunk: Chunk): number => chunk.reduce((size, token) => size + token.raw.length, 0)

/**
 * A text that is whole from the start, all of it lexed; what is more than a slice is hidden, both ends are not: the reader
 * comes to it from one of them.
 */
function settleWhole(into: Settled, text: string): void {
  Object.assign(into, unsettled())
  let step = SLICE
  for (let end = step; end < text.length; end += step) {
    const before = into.length
    settle(into, text.slice(0, end))
    // A block without an end in sight is not lexed again for every slice of it.
    if (into.length === before) step *= 2
  }
  settle(into, text)
  finish(into)
  hideMiddle(into)
}

function hideMiddle(into: Settled): void {
  const { chunks } = into
  const first = reach(chunks, { from: 0, by: 1, size: SLICE / 2 })
  const last = reach(chunks, { from: chunks.length - 1, by: -1, size: SLICE / 2 })
  into.hidden = first <= last ? [first, last + 1] : [0, 0]
}

/** Lexes the text as one when its blocks speak of each other. */
function finish(into: Settled): void {
  const { text, length } = into
  if (length === 0 || length === text.length || !DEFINITION.test(text)) return
  const tokens = marked.lexer(text)
  const tail = tokens.pop()
  Object.assign(into, { length: 0, chunks: [] })
  for (const token of tokens) push(into, token)
  if (tail) push(into, tail)
  into.hidden = [0, 0]
}

/**
 * Takes in the next slice of a text that grows or is whole by now, and returns what is not settled of it. `into.text` says
 * how far it came.
 */
export function take(into: Settled, text: string, grows: boolean): string {
  if (!text.startsWith(into.text)) settleWhole(into, text)
  if (into.text !== text) settle(into, text.slice(0, into.text.length + SLICE))
  if (!grows && into.text === text) finish(into)
  return into.text.slice(into.length)
}

/** Puts the next slice of what is hidden into the page, from the end upwards. */
export function reveal(into: Settled): void {
  const [from, to] = into.hidden
  const next = reach(into.chunks, { from: to - 1, by: -1, size: SLICE }) + 1
  into.hidden = next > from ? [from, next] : [0, 0]
}

/** The first index after chunks of at least `size` characters. */
function reach(chunks: readonly Chunk[], { from, by, size }: { from: number; by: number; size: number }): number {
  let index = from
  for (let left = size; left > 0 && chunks[index]; index += by) left -= sizeOf(chunks[index] ?? [])
  return index
}

const HELD = 12
const held = new Map<string, Settled>()

/**
 * What a row begins with. A long text that was in the page before is neither lexed nor guessed again when its row comes back
 * into view.
 */
export function begin(key: string | undefined, text: string): Settled {
  const found = key === undefined ? undefined : held.get(key)
  const settled = found && text.startsWith(found.text) ? { ...found, chunks: [...found.chunks] } : unsettled()
  if (settled.text === '') settleWhole(settled, text)
  else hideMiddle(settled)
  return settled
}

export function remember(key: string, settled: Settled): void {
  held.delete(key)
  held.set(key, settled)
  const oldest = held.keys().next().value
  if (held.size > HELD && oldest !== undefined) held.delete(oldest)
}

/** Pixels that a chunk will take, as far as its text tells: a line of the column holds about 105 characters. */
export const guessHeight = (chunk: Chunk): number =>
  chunk.reduce((sum, token) => sum + (token.type === 'space' ? 0 : heightOf(token)), 0)

function heightOf({ type, raw }: Token): number {
  const lines = type === 'paragraph' ? Math.ceil(raw.length / 105) : raw.trimEnd().split('\n').length
  return lines * 20 + 8
}
