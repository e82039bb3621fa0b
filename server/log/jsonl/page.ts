import { join } from 'node:path'
import { CoreError } from '../../wire/errors.ts'
import type { Header, LogEvent } from '../../wire/events.ts'
import { readFully, type Disk, type DiskFile } from './disk.ts'
import { decodeLine, NEWLINE } from './line.ts'
import { offsetOf } from './offset.ts'
import type { Places } from './places.ts'
import { LOG } from './publish.ts'
import { notFound, readHeader } from './stitch.ts'

export interface PageQuery {
  /** Events with a lower `seq`, the latest of them; default: the end of the log. */
  before?: number
  /** Events with a higher `seq`, the earliest of them. */
  after?: number
  maxEvents: number
  /** Of stored text. One event is returned even when it alone is larger. */
  maxBytes: number
}

export interface Page {
  header: Header
  events: LogEvent[]
  /** Older events exist before the first of `events`. */
  older: boolean
  /** Newer ones may exist after the last. */
  newer: boolean
}

/** One file of a chain of forks, with the span of events it is asked for. */
interface Segment {
  file: DiskFile
  header: Header
  /** Byte where the events begin. */
  start: number
  size: number
  firstSeq: number
  /** Highest `seq` that belongs to the session that is read; Infinity for its own file. */
  lastSeq: number
}

const CHUNK = 256 * 1024

/** Reads a page out of the files without parsing more than its own lines and a few on the way (B25). */
export async function pageFromDisk(disk: Disk, places: Places, id: string, query: PageQuery): Promise<Page> {
  const segments: Segment[] = []
  try {
    await openChain(disk, places, id, segments)
    return query.after === undefined ? await backward(segments, query) : await forward(segments, query, query.after)
  } finally {
    for (const segment of segments) await segment.file.close()
  }
}

async function openChain(disk: Disk, places: Places, id: string, segments: Segment[]): Promise<void> {
  let next: string | undefined = id
  let lastSeq = Infinity
  while (next !== undefined) {
    const directory = await places.find(next)
    if (!directory) throw notFound(next)
    const file = await disk.open(join(directory, LOG), 'r')
    const read = await readHeader(file)
    const { size } = await file.stat()
    if (!read) {
      await file.close()
      throw new CoreError('session/corrupt', `The log of session ${next} has no readable header.`, { sessionId: next })
    }
    const { header, length } = read
    segments.push({ file, header, start: length, size, firstSeq: (header.seedSeq ?? -1) + 1, lastSeq })
    lastSeq = Math.min(lastSeq, header.seedSeq ?? Infinity)
    next = header.seedSeq === undefined || lastSeq < 0 ? undefined : header.parentSession
  }
}

class Budget {
  readonly events: LogEvent[] = []
  readonly #maxEvents: number
  readonly #maxBytes: number
  #bytes = 0

  constructor(query: PageQuery) {
    this.#maxEvents = query.maxEvents
    this.#maxBytes = query.maxBytes
  }

  /** False when the page is full without this line. */
  take(event: LogEvent, bytes: number): boolean {
    if (this.events.length >= this.#maxEvents) return false
    if (this.events.length > 0 && this.#bytes + bytes > this.#maxBytes) return false
    this.#bytes += bytes
    this.events.push(event)
    return true
  }
}

async function backward(segments: Segment[], query: PageQuery): Promise<Page> {
  const budget = new Budget(query)
  const before = query.before ?? Infinity
  let full = false
  for (const segment of segments) {
    const limit = Math.min(before, segment.lastSeq + 1)
    if (limit <= segment.firstSeq) continue
    const end = limit === Infinity ? segment.size : await offsetOf(segment, limit)
    full = !(await takeBackward(segment, end, budget))
    if (full) break
  }
  const events = budget.events.toReversed()
  return { header: segments[0]!.header, events, older: full, newer: query.before !== undefined }
}

/** False when the page became full. */
async function takeBackward(segment: Segment, end: number, budget: Budget): Promise<boolean> {
  let carry: Buffer = Buffer.alloc(0)
  let position = end
  let atTail = end === segment.size
  while (position > segment.start) {
    const from = Math.max(segment.start, position - CHUNK)
    let bytes: Buffer = Buffer.concat([await readFully(segment.file, from, position - from), carry])
    position = from
    for (;;) {
      const cut = bytes.lastIndexOf(NEWLINE, bytes.length - 2)
      if (cut < 0 && position > segment.start) break
      const line = bytes.subarray(cut + 1)
      const event = eventOf(line)
      // The very last line may be an append that is not finished, or was torn: not yet part of the log.
      if (!event && !atTail) throw damaged(segment.header.id)
      if (event && !budget.take(event, line.length)) return false
      atTail = false
      bytes = bytes.subarray(0, cut + 1)
      if (bytes.length === 0) break
    }
    carry = bytes
  }
  return true
}

async function forward(segments: Segment[], query: PageQuery, after: number): Promise<Page> {
  const budget = new Budget(query)
  let full = false
  for (const segment of segments.toReversed()) {
    if (full || segment.lastSeq <= after) continue
    const start = after < segment.firstSeq ? segment.start : await offsetOf(segment, after + 1)
    full = !(await takeForward(segment, start, budget))
  }
  return { header: segments[0]!.header, events: budget.events, older: after >= 0, newer: full }
}

async function takeForward(segment: Segment, start: number, budget: Budget): Promise<boolean> {
  let carry: Buffer = Buffer.alloc(0)
  let position = start
  while (position < segment.size) {
    const chunk = await readFully(segment.file, position, Math.min(CHUNK, segment.size - position))
    if (chunk.length === 0) return true
    position += chunk.length
    const bytes: Buffer = Buffer.concat([carry, chunk])
    let from = 0
    for (let cut = bytes.indexOf(NEWLINE); cut >= 0; cut = bytes.indexOf(NEWLINE, from)) {
      const line = bytes.subarray(from, cut + 1)
      from = cut + 1
      const event = eventOf(line)
      if (!event && position >= segment.size && from === bytes.length) return true
      if (!event) throw damaged(segment.header.id)
      if (event.seq > segment.lastSeq) return true
      if (!budget.take(event, line.length)) return false
    }
    carry = bytes.subarray(from)
  }
  return true
}

function eventOf(line: Buffer): LogEvent | undefined {
  if (line.at(-1) !== NEWLINE) return undefined
  return decodeLine(line.subarray(0, -1)) as unknown as LogEvent | undefined
}

const damaged = (id: string): CoreError =>
  new CoreError('session/corrupt', `The log of session ${id} is damaged. Open it read-only up to the damage.`, {
    sessionId: id,
  })
