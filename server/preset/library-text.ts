import { isDeepStrictEqual } from 'node:util'
import { isMap, isScalar, isSeq, stringify } from 'yaml'
import { readYaml } from './check-yaml.ts'
import { PRESET_ROW } from './rows.ts'
import type { Document, Pair, YAMLMap } from 'yaml'

type Scalar = string | number
/** Keys to set; undefined takes a key out. */
export type Changes = Readonly<Record<string, Scalar | undefined>>

const DISPLAYED = { lineWidth: 0, flowCollectionPadding: false } as const

const isDeclaring = (item: unknown, preset: string | undefined): item is YAMLMap =>
  isMap(item) && item.get('name') === PRESET_ROW && (preset === undefined || item.getIn(['config', 'id']) === preset)

/** One preset as a document of its own: the whole text where it holds nothing else, else its row. Throws when it is not there. */
export function documentOf(text: string, preset: string): string {
  const document = readYaml(text)
  const list = document.contents as unknown
  const item = isSeq(list) ? list.items.find((candidate) => isDeclaring(candidate, preset)) : undefined
  if (!isSeq(list) || !item) throw new Error(`the document declares no preset ${preset}`)
  if (list.items.length === 1) return text
  list.items = [item]
  list.commentBefore = null
  document.commentBefore = null
  return document.toString(DISPLAYED)
}

/**
 * The text with some keys of the declaring row and of its config changed. Everything else stays as it was written, byte
 * by byte. Throws when the text declares no preset.
 */
export function withKeys(text: string, changes: { row?: Changes; config?: Changes }): string {
  let result = text
  for (const [at, keys] of [['row', changes.row ?? {}] as const, ['config', changes.config ?? {}] as const]) {
    for (const [key, value] of Object.entries(keys)) result = withKey(result, at, key, value)
  }
  return result
}

function mapOf(document: Document, at: 'row' | 'config'): YAMLMap {
  const list = document.contents as unknown
  const row = isSeq(list) ? list.items.find((item) => isDeclaring(item, undefined)) : undefined
  const map: unknown = at === 'row' || !isMap(row) ? row : row.get('config')
  if (!isMap(map)) throw new Error('the document declares no preset')
  return map
}

const pairOf = (map: YAMLMap, key: string): Pair | undefined =>
  map.items.find((pair) => isScalar(pair.key) && pair.key.value === key)

function withKey(text: string, at: 'row' | 'config', key: string, value: Scalar | undefined): string {
  const document = readYaml(text)
  const map = mapOf(document, at)
  const pair = pairOf(map, key)
  if (!pair && value === undefined) return text
  const line = value === undefined ? undefined : scalarText(value)
  const cut = pair ? spliced(text, map, pair, line) : inserted(text, map, `${key}: ${line}`)
  if (value === undefined) map.delete(key)
  else map.set(key, value)
  // The document as a whole is written anew only where the cut went wrong: that keeps comments and tags, not every blank.
  return cut !== undefined && means(cut, document) ? cut : document.toString(DISPLAYED)
}

function means(text: string, document: Document): boolean {
  try {
    const next = readYaml(text)
    return next.errors.length === 0 && isDeepStrictEqual(next.toJS(), document.toJS())
  } catch {
    // Not YAML any more.
    return false
  }
}

const scalarText = (value: Scalar): string =>
  typeof value === 'number'
    ? String(value)
    : stringify(value, { lineWidth: 0, blockQuote: false, version: '1.2', schema: 'core' }).trimEnd()

const rangeOf = (node: unknown): readonly [number, number] | undefined => {
  const range = (node as { range?: [number, number, number] | null } | null)?.range
  return range ? [range[0], range[1]] : undefined
}

/** Undefined where no cut can be made. */
function spliced(text: string, map: YAMLMap, pair: Pair, value: string | undefined): string | undefined {
  const from = rangeOf(pair.key)
  const to = rangeOf(pair.value)
  if (!from || !to) return undefined
  if (value === undefined) return map.flow ? undefined : removedLines(text, from[0], to[1])
  const old = text.slice(to[0], to[1])
  return `${text.slice(0, to[0])}${value}${old.endsWith('\n') ? '\n' : ''}${text.slice(to[1])}`
}

/** Behind the first key that is there: ids stand first, and texts belong next to them. */
function inserted(text: string, map: YAMLMap, line: string): string | undefined {
  const first = map.items[0]
  const from = rangeOf(first?.key)
  const to = rangeOf(first?.value)
  if (!from || !to) return undefined
  if (map.flow) return `${text.slice(0, to[1])}, ${line}${text.slice(to[1])}`
  const column = from[0] - (text.lastIndexOf('\n', from[0] - 1) + 1)
  const end = text.slice(to[0], to[1]).endsWith('\n') ? to[1] : text.indexOf('\n', to[1]) + 1
  const indented = `${' '.repeat(column)}${line}`
  return end === 0 ? `${text}\n${indented}\n` : `${text.slice(0, end)}${indented}\n${text.slice(end)}`
}

function removedLines(text: string, from: number, to: number): string | undefined {
  const start = text.lastIndexOf('\n', from - 1) + 1
  if (text.slice(start, from).trim() !== '') return undefined
  const end = text[to - 1] === '\n' ? to : text.indexOf('\n', to) + 1
  return text.slice(0, start) + (end === 0 ? '' : text.slice(end))
}
