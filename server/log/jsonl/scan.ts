import type { Header, LogEvent } from '../../wire/events.ts'
import { readFully, type DiskFile } from './disk.ts'
import { decodeLine, NEWLINE } from './line.ts'

export interface Damage {
  /** 1-based line of the file. */
  line: number
  /** `seq` of the last event before it; -1 when only the header is good, -2 when not even that. */
  lastGoodSeq: number
  what: string
}

export interface Scan {
  header: Header | null
  events: LogEvent[]
  /** Bytes up to the end of the last good line. */
  goodLength: number
  size: number
  /** What follows the last good line is the torn end of an append, not corruption. */
  torn: boolean
  damage: Damage | null
}

const CHUNK = 1 << 20

export interface ScanOptions {
  /** False leaves the events unfrozen, which halves the time: for readers that only show them. Default true. */
  freeze?: boolean
}

/** Reads a log from its header on and checks every line; the first bad one ends the scan (SL-10). */
export async function scanLog(file: DiskFile, { freeze = true }: ScanOptions = {}): Promise<Scan> {
  const { size } = await file.stat()
  const reader = new LineReader(freeze)
  let position = 0
  while (position < size && !reader.ended) {
    const chunk = await readFully(file, position, Math.min(CHUNK, size - position))
    if (chunk.length === 0) break
    position += chunk.length
    reader.push(chunk)
  }
  return reader.finish(size)
}

class LineReader {
  header: Header | null = null
  readonly events: LogEvent[] = []
  #rest: Buffer = Buffer.alloc(0)
  #goodLength = 0
  #lines = 0
  #bad: { line: number; what: string; length: number } | null = null
  /** Something other than the torn line follows it. */
  #afterBad = false
  readonly #freeze: boolean

  constructor(freeze: boolean) {
    this.#freeze = freeze
  }

  get ended(): boolean {
    return this.#afterBad
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let start = 0
    while (!this.#afterBad) {
      const end = bytes.indexOf(NEWLINE, start)
      if (end < 0) break
      this.#line(bytes.subarray(start, end))
      start = end + 1
    }
    this.#rest = bytes.subarray(start)
    if (this.#bad && this.#rest.length > 0) this.#afterBad = true
  }

  finish(size: number): Scan {
    const torn = this.#goodLength < size && !this.#afterBad && this.header !== null
    const damaged = (this.#afterBad || this.header === null) && (this.#goodLength < size || this.header === null)
    return {
      header: this.header,
      events: this.events,
      goodLength: this.#goodLength,
      size,
      torn,
      damage: damaged ? this.#damage() : null,
    }
  }

  #damage(): Damage {
    const firstSeq = (this.header?.seedSeq ?? -1) + 1
    return {
      line: this.#bad?.line ?? this.#lines + 1,
      lastGoodSeq: this.header === null ? -2 : firstSeq + this.events.length - 1,
      what: this.#bad?.what ?? 'the header is missing',
    }
  }

  #line(bytes: Buffer): void {
    this.#lines++
    if (this.#bad) {
      this.#afterBad = true
      return
    }
    const what = this.#take(decodeLine(bytes))
    if (what) this.#bad = { line: this.#lines, what, length: bytes.length }
    if (!what) this.#goodLength += bytes.length + 1
  }

  /** Returns what is wrong with the record, or an empty string. */
  #take(record: Record<string, unknown> | undefined): string {
    if (!record) return 'the checksum does not fit'
    if (!this.header) {
      if (record['type'] !== 'session' || typeof record['id'] !== 'string') return 'the first line is not a header'
      this.header = Object.freeze(record) as unknown as Header
      return ''
    }
    const expected = (this.header.seedSeq ?? -1) + 1 + this.events.length
    if (record['seq'] !== expected) {
      // A whole line with a wrong number is never the end of a torn append: two writers, or a lost block.
      this.#afterBad = true
      return `seq ${String(record['seq'])} stands where ${expected} belongs`
    }
    this.events.push((this.#freeze ? deepFreeze(record) : record) as unknown as LogEvent)
    return ''
  }
}

function deepFreeze<T extends object>(value: T): T {
  // Straight from JSON.parse: own enumerable properties only.
  for (const key in value) {
    const item: unknown = value[key]
    if (typeof item === 'object' && item !== null) deepFreeze(item)
  }
  return Object.freeze(value)
}
