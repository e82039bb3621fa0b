import type { EventLog } from '../port.ts'
import { isErrno, readFully, writeFully, type Disk, type DiskFile } from './disk.ts'
import { decodeLine, encodeLine, NEWLINE } from './line.ts'

export interface JournalHead {
  turn: number
  step: number
  attempt: number
  requestHeaderSeq: number
}

export interface JournalRow {
  i: number
  k: 'text' | 'reasoning' | 'tool'
  id?: string
  n?: string
  s: string
}

export interface Journalled {
  head: JournalHead
  rows: JournalRow[]
}

const WINDOW_MS = 200

/**
 * The running answer, written without sync once per 200 ms (SL-03), so that a killed process loses at most one window of
 * it. It is a convenience on top of the log: a disk that refuses it never disturbs the answer.
 */
export class Journal {
  readonly #disk: Disk
  readonly #path: string
  #file: DiskFile | null = null
  #length = 0
  #lines: string[] = []
  #run: JournalRow | null = null
  #timer: NodeJS.Timeout | null = null
  #queue: Promise<void> = Promise.resolve()
  #ended = false

  constructor(disk: Disk, path: string) {
    this.#disk = disk
    this.#path = path
  }

  readonly port: EventLog['journal'] = {
    begin: (at) => {
      this.#ended = false
      this.#run = null
      this.#lines = [encodeLine(at)]
      void this.#enqueue(() => this.#truncate())
      this.#schedule()
    },
    note: (row) => {
      if (this.#run && continues(this.#run, row)) this.#run.s += row.s
      else this.#closeRun({ ...row })
      this.#schedule()
    },
    end: () => {
      this.#ended = true
      this.#lines = []
      this.#run = null
    },
  }

  /** Empties the file once the message it covered is on disk. */
  async flushed(): Promise<void> {
    if (!this.#ended) return
    this.#ended = false
    await this.#enqueue(() => this.#truncate())
  }

  async close(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    await this.#queue
    await this.#file?.close()
    this.#file = null
  }

  #closeRun(next: JournalRow | null): void {
    if (this.#run) this.#lines.push(encodeLine(this.#run))
    this.#run = next
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#closeRun(null)
      const text = this.#lines.join('')
      this.#lines = []
      if (text) void this.#enqueue(() => this.#write(text))
    }, WINDOW_MS)
  }

  #enqueue(job: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(job).catch(() => {
      // The journal is only insurance for this answer; the log itself reports a full or broken disk.
    })
    return this.#queue
  }

  async #write(text: string): Promise<void> {
    this.#file ??= await this.#disk.open(this.#path, 'w')
    const bytes = Buffer.from(text)
    await writeFully(this.#file, bytes, this.#length)
    this.#length += bytes.length
  }

  async #truncate(): Promise<void> {
    if (this.#length > 0) await this.#file?.truncate(0)
    this.#length = 0
  }
}

const continues = (run: JournalRow, row: JournalRow): boolean =>
  run.i === row.i && run.k === row.k && (row.id ?? run.id) === run.id && (row.n ?? run.n) === run.n

/** The good lines of a journal that was left behind; null when there is none. */
export async function readJournal(disk: Disk, path: string): Promise<Journalled | null> {
  const bytes = await contents(disk, path)
  const lines: Record<string, unknown>[] = []
  let start = 0
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    const record = decodeLine(bytes.subarray(start, end))
    if (!record) break
    lines.push(record)
    start = end + 1
  }
  const [head, ...rows] = lines
  return head ? { head: head as unknown as JournalHead, rows: rows as unknown as JournalRow[] } : null
}

async function contents(disk: Disk, path: string): Promise<Buffer> {
  let file: DiskFile
  try {
    file = await disk.open(path, 'r')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return Buffer.alloc(0)
    throw error
  }
  try {
    return await readFully(file, 0, (await file.stat()).size)
  } finally {
    await file.close()
  }
}
