import type { CallOptions, Fs, Target } from '../fs.ts'
import { LineCollector, type LineWindow } from '../lines.ts'
import { ArgumentError, count } from '../outcome.ts'

/** Characters kept free for header and notice, the path apart. */
const RESERVED = 320

interface Range {
  from: number
  to: number
}

/** What can be refused before the number of lines is known. */
function parseRange(range: unknown[]): Range {
  if (range.length !== 2)
    throw new ArgumentError(`view_range must have two elements, [first, last]; it has ${range.length}.`)
  const [from, to] = range
  const whole = (value: unknown, index: number): number => {
    if (typeof value === 'number' && Number.isInteger(value)) return value
    throw new ArgumentError(`view_range[${index}] = ${JSON.stringify(value)} is not an integer.`)
  }
  const first = whole(from, 0)
  const last = whole(to, 1)
  if (first < 1) throw new ArgumentError(`view_range[0] = ${first} is out of range: lines are counted from 1.`)
  if (last === -1) return { from: first, to: Infinity }
  if (last < first)
    throw new ArgumentError(
      `view_range[1] = ${last} is before view_range[0] = ${first}; use -1 for the end of the file.`,
    )
  return { from: first, to: last }
}

function checkRange({ from, to }: Range, total: number): void {
  const has = `the file has ${count(total, 'line')}`
  if (from > total) throw new ArgumentError(`view_range[0] = ${from} is out of range: ${has}.`)
  if (to !== Infinity && to > total)
    throw new ArgumentError(`view_range[1] = ${to} is out of range: ${has}; use -1 for the end of the file.`)
}

function traits(window: LineWindow, bom: boolean): string {
  const lines = window.crlf === 0 ? '' : window.lf === 0 ? ', CRLF line endings' : ', mixed CRLF and LF line endings'
  return (bom ? ', a UTF-8 byte-order mark (BOM) is present' : '') + lines
}

function notice(window: LineWindow, from: number, maxOutputChars: number): string {
  if (!window.cut) return ''
  const next = window.partial ? window.last : window.last + 1
  const rest = window.partial
    ? `line ${window.last} is too long and shown in part; use the shell for the rest of it`
    : `use view_range [${next}, ${Math.min(window.total, next + Math.max(1, window.last - from))}] to go on`
  return `\n[cut at ${maxOutputChars} characters: lines ${from}-${window.last} of ${window.total} shown; ${rest}]`
}

/** Numbered lines; the file is streamed once, so memory does not depend on its size. */
export async function viewFile(
  fs: Fs,
  target: Target,
  options: CallOptions & { range: unknown[] | undefined; maxOutputChars: number },
): Promise<{ text: string; from: number; last: number; total: number }> {
  const range = options.range && parseRange(options.range)
  const from = range?.from ?? 1
  const budget = Math.max(80, options.maxOutputChars - RESERVED - target.path.length)
  const collector = new LineCollector({ from, to: range?.to ?? Infinity, budget })
  const stream = fs.streamText(target, options)
  for await (const piece of stream) collector.push(piece)
  const window = collector.end()
  if (range) checkRange(range, window.total)
  const shown = range
    ? `lines ${from}-${Math.min(range.to, window.total)} of ${window.total}`
    : count(window.total, 'line')
  const text = `${target.path} (${shown}${traits(window, stream.bom)})\n${window.text}${notice(window, from, options.maxOutputChars)}`
  return { text, from, last: window.last, total: window.total }
}
