import { lineEndings } from './eol.ts'
import { ArgumentError } from './outcome.ts'

export interface Inserted {
  text: string
  /** 1-based number of the first new line. */
  line: number
  count: number
}

/** Where line `index` (zero-based) of the LF split begins. */
function lineStart(text: string, index: number): number {
  let at = 0
  for (let line = 0; line < index; line++) at = text.indexOf('\n', at) + 1
  return at
}

/**
 * Puts the lines of `fresh` after line `after` of the LF split (0 = before the first, N = after the last), ended like
 * the other lines of the file. No newline is added beyond those that separate lines.
 */
export function insertLines(text: string, after: unknown, fresh: string): Inserted {
  const total = text.split('\n').length
  if (typeof after !== 'number' || !Number.isInteger(after) || after < 0 || after > total)
    throw new ArgumentError(
      `insert_line ${after === undefined ? 'is required' : `= ${JSON.stringify(after)} is not possible`}: ` +
        `give an integer in [0, ${total}]; 0 inserts before the first line, ${total} after the last.`,
    )
  const { eol } = lineEndings(text)
  const lines = fresh.split(eol === '\r\n' ? /\r?\n/ : '\n')
  const block = lines.join(eol)
  if (after === total) return { text: text + eol + block, line: total + 1, count: lines.length }
  const at = lineStart(text, after)
  return { text: text.slice(0, at) + block + eol + text.slice(at), line: after + 1, count: lines.length }
}
