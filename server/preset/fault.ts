import { LineCounter, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import { parseDeclaration } from './declaration.ts'
import { PRESET_ROW, shapeProblem } from './rows.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'

/** What is wrong with a row file as a whole; line and column from 1. */
export interface Fault {
  message: string
  line?: number
  column?: number
}

/** More values than any real document has; a few aliases of aliases can stand for billions. */
export const MAX_NODES = 20_000
/** Bytes of a row file. */
export const MAX_BYTES = 256 * 1024

/** The text was read, and what it says cannot be used. */
export class DocumentError extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.message)
    this.name = 'DocumentError'
    this.fault = fault
  }
}

interface YamlFailure {
  message: string
  reason?: string
  mark?: { line: number; column: number }
}

/** Any error of reading, parsing or mounting a row file in one shape. */
export function faultOf(error: unknown): Fault {
  if (error instanceof DocumentError) return error.fault
  if (error instanceof RangeError) return { message: 'the document is nested too deeply' }
  const { message, reason, mark } = error as YamlFailure
  if (!mark) return { message }
  return { message: reason ?? message, line: mark.line + 1, column: mark.column + 1 }
}

/** Values in a parsed document with every alias written out. Throws on one that contains itself, and above `MAX_NODES`. */
export function refuseBombs(data: unknown): void {
  const known = new Map<object, number>()
  const open = new Set<object>()
  const weigh = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 1
    const before = known.get(value)
    if (before !== undefined) return before
    if (open.has(value)) throw new DocumentError({ message: 'the document contains itself through an alias' })
    open.add(value)
    let sum = 1
    for (const item of Object.values(value)) sum += weigh(item)
    if (sum > MAX_NODES) throw new DocumentError({ message: `the document has more than ${MAX_NODES} values` })
    open.delete(value)
    known.set(value, sum)
    return sum
  }
  weigh(data)
}

/** A document of presets only, as the files of `presets/` are. */
export const isPresetDocument = (rows: readonly EntryOptions[]): boolean =>
  rows.length > 0 && rows.every(({ name }) => name === PRESET_ROW)

/** Where the row number `index` of a document stands. */
function placeOfRow(text: string, index: number): { line: number; column: number } | undefined {
  const lines = new LineCounter()
  const { contents } = parseDocument(text, { lineCounter: lines, logLevel: 'silent' })
  const node = isSeq(contents) ? contents.items[index] : undefined
  const start = isMap(node) ? node.range?.[0] : isScalar(node) ? node.range?.[0] : undefined
  if (start === undefined) return undefined
  const { line, col } = lines.linePos(start)
  return { line, column: col }
}

/** Why the rows of a preset document declare nothing that can be mounted; undefined when they do. */
export function declarationFault(rows: readonly EntryOptions[], text: string): Fault | undefined {
  if (rows.length === 0) return { message: 'the document declares no preset' }
  for (const [index, row] of rows.entries()) {
    const message = rowFault(row)
    if (message !== undefined) return { message, ...placeOfRow(text, index) }
  }
  return undefined
}

function rowFault(row: EntryOptions): string | undefined {
  if (row.name !== PRESET_ROW) return `row ${row.id} (${row.name}) declares no preset`
  try {
    return shapeProblem(parseDeclaration(row.config).plugins)
  } catch (error) {
    return (error as Error).message
  }
}
