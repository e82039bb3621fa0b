import { readFully, type DiskFile } from './disk.ts'
import { NEWLINE } from './line.ts'

export interface Span {
  file: DiskFile
  /** Byte where the events begin, and where the file ends. */
  start: number
  size: number
}

/** Below this many bytes reading on is cheaper than halving. */
const LINEAR = 64 * 1024
/** `type` and `seq` are the first two keys of every stored event. */
const SEQ = /^\{"type":"[^"]{1,200}","seq":(\d{1,16}),/

/** Byte offset of the first line whose `seq` is at least the given one; the end of the file when there is none. */
export async function offsetOf(span: Span, seq: number): Promise<number> {
  let low = span.start
  let high = span.size
  while (high - low > LINEAR) {
    const middle = low + Math.floor((high - low) / 2)
    const line = await lineAfter(span, middle, high)
    // `high` only steers: the walk below runs past it when the answer is the very line that was looked at.
    if (!line || line.seq >= seq) high = middle
    else low = line.start
  }
  return walk(span, low, seq)
}

async function lineAfter(span: Span, from: number, limit: number): Promise<{ start: number; seq: number } | null> {
  const newline = await findNewline(span, from, limit)
  if (newline === null || newline + 1 >= limit) return null
  const start = newline + 1
  const head = (await readFully(span.file, start, Math.min(512, span.size - start))).toString('latin1')
  const match = SEQ.exec(head)
  return match ? { start, seq: Number(match[1]) } : null
}

async function findNewline(span: Span, from: number, limit: number): Promise<number | null> {
  for (let position = from; position < limit; position += LINEAR) {
    const chunk = await readFully(span.file, position, Math.min(LINEAR, limit - position))
    const at = chunk.indexOf(NEWLINE)
    if (at >= 0) return position + at
  }
  return null
}

/** Line by line from the start of a line. */
async function walk(span: Span, from: number, seq: number): Promise<number> {
  let start = from
  while (start < span.size) {
    const bytes = await readFully(span.file, start, Math.min(2 * LINEAR, span.size - start))
    let line = 0
    for (;;) {
      const match = SEQ.exec(bytes.toString('latin1', line, line + 512))
      // A torn or damaged line: whoever reads on from here sees it and says so.
      if (!match || Number(match[1]) >= seq) return start + line
      const newline = bytes.indexOf(NEWLINE, line)
      // Lines whose first bytes are cut off by the end of this piece are looked at again in the next one.
      if (newline < 0 || newline + 513 > bytes.length) {
        line = newline < 0 ? line : newline + 1
        break
      }
      line = newline + 1
    }
    start = await nextPiece(span, start, line)
  }
  return span.size
}

async function nextPiece(span: Span, start: number, line: number): Promise<number> {
  if (line > 0) return start + line
  const newline = await findNewline(span, start, span.size)
  return newline === null ? span.size : newline + 1
}
