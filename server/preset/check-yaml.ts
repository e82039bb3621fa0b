import { LineCounter, isAlias, isMap, isPair, isScalar, isSeq, parseDocument } from 'yaml'
import { parseList } from './file.ts'
import { js } from './expression.ts'
import { MAX_BYTES, faultOf } from './fault.ts'
import type { Document, Node } from 'yaml'
import type { Diagnostic } from '../wire/presets.ts'

export type Path = readonly (string | number)[]

export const readYaml = (text: string, lineCounter?: LineCounter): Document =>
  parseDocument(text, {
    version: '1.2',
    schema: 'core',
    customTags: [js],
    logLevel: 'silent',
    prettyErrors: false,
    ...(lineCounter && { lineCounter }),
  })

/** A document whose values have places. */
export interface PlacedDocument {
  data: unknown[]
  /** The place of a value, or of the nearest thing around it that is there; `key` means the key itself. */
  place(path: Path, what?: 'value' | 'key'): Omit<Diagnostic, 'severity' | 'message'>
}

export type Parsed = { ok: true; document: PlacedDocument } | { ok: false; diagnostics: Diagnostic[] }

/** Characters of a broken text that the second parser is given: it takes seconds for some of the longer ones. */
const SECOND_LOOK = 32_000
/** One missing bracket may make hundreds. */
const MOST_FAULTS = 20
const START = { line: 1, column: 1 }

/** Reads a row list with places. The dialect is the loader's; a text that it refuses answers with every fault that can be placed. */
export function parsePlaced(text: string): Parsed {
  if (Buffer.byteLength(text) > MAX_BYTES)
    return refused({ message: `The document is larger than ${MAX_BYTES / 1024} KiB. Take rows out of it.`, ...START })
  const lines = new LineCounter()
  let data
  try {
    data = parseList(text, 'the document')
  } catch (error) {
    return { ok: false, diagnostics: faults(text, lines, error) }
  }
  try {
    const document = readYaml(text, lines)
    return { ok: true, document: { data, place: (path, what = 'value') => placeIn(document, lines, path, what) } }
  } catch (error) {
    return refused({ message: faultOf(error).message, ...START })
  }
}

/** The loader's parser ends at its first fault; the other one goes on and knows where each begins and ends. */
function faults(text: string, lines: LineCounter, error: unknown): Diagnostic[] {
  const { message, line = 1, column = 1 } = faultOf(error)
  const first: Diagnostic = { severity: 'error', message, line, column }
  if (text.length > SECOND_LOOK) return [first]
  try {
    const { errors } = readYaml(text, lines)
    if (errors.length === 0) return [first]
    return errors.slice(0, MOST_FAULTS).map(({ message: fault, pos: [from, to] }) => {
      const start = lines.linePos(from)
      const end = lines.linePos(Math.max(from + 1, to))
      const place = { line: start.line, column: start.col, endLine: end.line, endColumn: end.col }
      return { severity: 'error', message: fault, ...place }
    })
  } catch {
    // Nested too deeply for it; the first fault says so.
    return [first]
  }
}

const refused = (fault: Omit<Diagnostic, 'severity'>): Parsed => ({
  ok: false,
  diagnostics: [{ severity: 'error', ...fault }],
})

function placeIn(
  document: Document,
  lines: LineCounter,
  path: Path,
  what: 'value' | 'key',
): Omit<Diagnostic, 'severity' | 'message'> {
  let node: unknown = document.contents
  let range = rangeOf(node)
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document)
    const key = isMap(node) ? node.items.find((pair) => isPair(pair) && keyOf(pair.key) === String(step)) : undefined
    const next: unknown = key ? key.value : isSeq(node) ? node.items[Number(step)] : undefined
    if (!key && next === undefined) break
    const last = index === path.length - 1
    range = (last && what === 'key' && key ? rangeOf(key.key) : rangeOf(next)) ?? rangeOf(key?.key) ?? range
    node = next
  }
  if (!range) return START
  const start = lines.linePos(range[0])
  const end = lines.linePos(Math.max(range[0] + 1, range[1]))
  return { line: start.line, column: start.col, endLine: end.line, endColumn: end.col }
}

const keyOf = (key: unknown): string => String(isScalar(key) ? key.value : key)

const rangeOf = (node: unknown): [number, number] | undefined => {
  const range = (node as Partial<Node> | null | undefined)?.range
  return range ? [range[0], range[1]] : undefined
}
