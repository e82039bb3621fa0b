import type { Kept } from './ring.ts'

// oxlint-disable no-control-regex -- terminal escapes are what this file is about
const OSC = /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g
const STRING = /\x1b[PX^_][^\x1b]*\x1b\\/g
const CSI = /\x1b\[[0-?]*[ -/]*[@-~]/g
const TWO_BYTE = /\x1b[ -/]*[0-~]/g
const CUT_ESCAPE = /\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*|[ -/]*)$/

/** Turns what the terminal said into plain text; `scrub` hides the wrapper, line by line (undefined drops the line). */
export type Scrub = (line: string) => string | undefined

/** Text without escapes, with LF line ends, each progress line in its last state. */
export function cleanText(raw: string, scrub?: Scrub): string {
  let text = raw.includes('\x1b')
    ? // What is left of an escape may make a new one with what stood before it; without its first byte it is text.
      raw.replace(OSC, '').replace(STRING, '').replace(CSI, '').replace(TWO_BYTE, '').replaceAll('\x1b', '')
    : raw
  text = text.replace(/\r+\n/g, '\n').replaceAll('\0', '\ufffd')
  if (text.includes('\b')) text = text.replace(/[^\n\b]\x08/g, '')
  if (!scrub && !text.includes('\r')) return text
  const lines = text.split('\n')
  const kept: string[] = []
  for (const [index, line] of lines.entries()) {
    const last = line.includes('\r') ? lastState(line) : line
    const shown = scrub ? scrub(last) : last
    if (shown !== undefined) kept.push(shown)
    else if (kept.length > 0 && index === lines.length - 1) kept.push('')
  }
  return kept.join('\n')
}

/** A progress line redraws itself after each CR; only what stood there at the end is worth reading. */
function lastState(line: string): string {
  const states = line.split('\r')
  return states.findLast((state) => state !== '') ?? ''
}

export interface CleanOutput {
  text: string
  /** Index in `text` where bytes were left out; undefined when it is whole. */
  seam?: number
  /** Bytes left out. */
  omitted: number
}

/** Decodes and cleans what a Ring kept. Both sides of a gap end at a line or at least at a character. */
export function cleanKept(kept: Kept, scrub?: Scrub): CleanOutput {
  if (kept.omitted === 0) {
    const bytes = kept.tail.length === 0 ? kept.head : Buffer.concat([kept.head, kept.tail])
    return { text: cleanText(decode(bytes), scrub), omitted: 0 }
  }
  const skipped = tailStart(kept.tail)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const head = cleanText(decoder.decode(kept.head, { stream: true }).replace(CUT_ESCAPE, ''), scrub)
  const tail = cleanText(decode(kept.tail.subarray(skipped)), scrub)
  return { text: head + tail, seam: head.length, omitted: kept.omitted + skipped }
}

export const decode = (bytes: Buffer) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

/** A cut inside an escape would leave its rest as text, so the tail starts after a line end when it has one. */
function tailStart(tail: Buffer): number {
  const newline = tail.indexOf(10)
  if (newline >= 0 && newline < tail.length - 1) return newline + 1
  let at = 0
  while (at < 4 && at < tail.length && ((tail[at] ?? 0) & 0xc0) === 0x80) at++
  return at
}

const SAMPLE = 8192

/** More than 30 % of the sample is neither text nor terminal control. */
export function looksBinary(sample: Buffer): boolean {
  const bytes = sample.subarray(0, SAMPLE)
  if (bytes.length === 0) return false
  let odd = 0
  for (const byte of bytes) if (byte < 32 && !(byte >= 7 && byte <= 13) && byte !== 27) odd++
  const text = decode(bytes)
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', at + 1)) odd++
  return odd > bytes.length * 0.3
}
