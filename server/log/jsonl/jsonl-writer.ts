import { join } from 'node:path'
import { CoreError } from '../../wire/errors.ts'
import { PINNED_TYPES, type Header, type LogEvent } from '../../wire/events.ts'
import type { LogWriter } from '../writer.ts'
import type { Disk, DiskFile } from './disk.ts'
import { isErrno, writeFully } from './disk.ts'
import { needsSync, type Durability } from './durability.ts'
import { Journal } from './journal.ts'
import { encodeLine } from './line.ts'
import { JOURNAL, publishNew, quietly, replaceLog } from './publish.ts'

export interface Stored {
  file: DiskFile
  /** Bytes of the file, all good. */
  length: number
  /** `seq` of its last event. */
  seq: number
}

export interface JsonlWriterOptions {
  disk: Disk
  directory: string
  durability: Durability
  /** The log as it stands on disk; null for a session that was never published. */
  stored: Stored | null
  /** Takes ownership of the directory, which may not exist yet; called once, right before the first publish. */
  claim: () => Promise<void>
  onClose: () => Promise<void>
  /** Called after each write that reached the file. */
  onWritten?: (length: number) => void
}

/** Events that no barrier covers reach the file within this time. */
const LAZY_MS = 200
/** Bound on the text of one write, in events. */
const BATCH = 5000
const PINNED = new Set<string>(PINNED_TYPES)

/** One session's file behind one queue: one write per batch, barriers with fdatasync, and a memory of what is durable. */
export class JsonlWriter implements LogWriter {
  readonly #options: JsonlWriterOptions
  readonly #journal: Journal
  readonly #listeners = new Set<(refusal: CoreError | null) => void>()
  #header: Header | null = null
  #events: readonly LogEvent[] = []
  #file: DiskFile | null
  /** Bytes and number of events in the file. */
  #length: number
  #written: number
  /** The same at the last successful sync: what a failed sync falls back to. */
  #durableLength: number
  #durable: number
  /** A session whose only events are values pinned at creation has nothing to say yet (SL-08). */
  #worthAFile: boolean
  #queue: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | null = null
  #refusal: CoreError | null = null

  constructor(options: JsonlWriterOptions) {
    this.#options = options
    this.#file = options.stored?.file ?? null
    this.#length = this.#durableLength = options.stored?.length ?? 0
    this.#written = this.#durable = (options.stored?.seq ?? -1) + 1
    this.#worthAFile = options.stored !== null
    this.#journal = new Journal(options.disk, join(options.directory, JOURNAL))
  }

  get refusal(): CoreError | null {
    return this.#refusal
  }

  get journal(): LogWriter['journal'] {
    return this.#journal.port
  }

  get published(): boolean {
    return this.#file !== null
  }

  start(source: { header: Header; events: readonly LogEvent[] }): void {
    this.#header = source.header
    this.#events = source.events
    // A fork that is not published yet: its inherited prefix stays in the parent's file.
    if (!this.#options.stored) this.#written = this.#durable = (source.header.seedSeq ?? -1) + 1
  }

  appended(events: readonly LogEvent[]): void {
    this.#worthAFile ||= events.some((event) => !PINNED.has(event.type))
    if (!this.#worthAFile) return
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      // A refusal reaches its listeners by itself; nobody awaits this write.
      void quietly(this.#enqueue(() => this.#write()))
    }, LAZY_MS)
  }

  barrier(): Promise<void> {
    if (!this.#worthAFile) return Promise.resolve()
    const target = this.#events.length
    return this.#enqueue(() => this.#flush(target))
  }

  async retry(): Promise<void> {
    if (!this.#refusal) return this.barrier()
    await this.#enqueue(async () => {
      if (!this.#refusal) return
      if (this.#refusal.code === 'session/conflict') throw this.#refusal
      await this.#guarded(() => this.#rollBack())
      await this.#guarded(() => this.#writeRest())
      await this.#guarded(() => this.#sync())
      this.#tell(null)
    })
  }

  onRefusal(listener: (refusal: CoreError | null) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Writes the whole log anew under another header (detaching, SL-20) and goes on with the new file. */
  rewrite(header: Header): Promise<void> {
    return this.#enqueue(async () => {
      const count = this.#events.length
      const { disk, directory } = this.#options
      const { file, length } = await replaceLog(disk, directory, header, this.#events.slice(0, count))
      const old = this.#file
      this.#file = file
      this.#header = header
      this.#length = this.#durableLength = length
      this.#written = this.#durable = count
      await old?.close()
    })
  }

  async close(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    try {
      if (this.#worthAFile) await this.#enqueue(() => this.#flush(this.#events.length))
    } finally {
      await this.#journal.close()
      await this.#file?.close()
      this.#file = null
      await this.#options.onClose()
    }
  }

  #enqueue<T>(job: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(job)
    this.#queue = quietly(result)
    return result
  }

  async #flush(target: number): Promise<void> {
    if (this.#refusal) throw this.#refusal
    if (this.#durable >= target) return
    await this.#write()
    if (needsSync(this.#options.durability, this.#unsynced())) await this.#guarded(() => this.#sync())
    await this.#journal.flushed()
  }

  *#unsynced(): Generator<LogEvent> {
    for (let index = this.#durable; index < this.#written; index++) yield this.#events[index]!
  }

  async #write(): Promise<void> {
    if (this.#refusal) throw this.#refusal
    await this.#guarded(() => this.#writeRest())
  }

  async #writeRest(): Promise<void> {
    if (!this.#file) return this.#publish()
    while (this.#written < this.#events.length) {
      const to = Math.min(this.#events.length, this.#written + BATCH)
      let text = ''
      for (let index = this.#written; index < to; index++) text += encodeLine(this.#events[index]!)
      const bytes = Buffer.from(text)
      await this.#checkTail(this.#file)
      await writeFully(this.#file, bytes, this.#length)
      this.#length += bytes.length
      this.#written = to
      this.#options.onWritten?.(this.#length)
    }
  }

  /** Another writer's bytes at the end of the file mean that this log's `seq` numbers are taken: stop (B21). */
  async #checkTail(file: DiskFile): Promise<void> {
    const { size } = await file.stat()
    if (size === this.#length) return
    throw new CoreError(
      'session/conflict',
      `The log on disk is ${size} bytes long where ${this.#length} were expected: something else wrote to it. ` +
        'Reload the session.',
    )
  }

  async #publish(): Promise<void> {
    await this.#options.claim()
    const { disk, directory } = this.#options
    const count = this.#events.length
    const own = this.#events.slice(this.#written, count)
    const { file, length } = await publishNew(disk, directory, this.#header!, own)
    this.#file = file
    this.#length = this.#durableLength = length
    this.#written = this.#durable = count
    this.#options.onWritten?.(length)
  }

  async #sync(): Promise<void> {
    const { length, written } = { length: this.#length, written: this.#written }
    await this.#file!.datasync()
    this.#durableLength = length
    this.#durable = written
  }

  /** A disk that refuses makes the session read-only; its events stay in memory for `retry` (SL-07). */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const refusal = refusalOf(error)
      // After a conflict the end of the file is somebody else's: it must not be cut off.
      if (refusal.code !== 'session/conflict') await quietly(this.#rollBack())
      if (!this.#refusal) this.#tell(refusal)
      throw refusal
    }
  }

  /**
   * Back to the last synced length, not only to the last whole line: after a failed fdatasync the kernel may have dropped
   * pages that it reported as written, so everything since is written again.
   */
  async #rollBack(): Promise<void> {
    if (!this.#file) return
    this.#written = this.#durable
    this.#length = this.#durableLength
    await this.#file.truncate(this.#durableLength)
  }

  #tell(refusal: CoreError | null): void {
    this.#refusal = refusal
    for (const listener of Array.from(this.#listeners)) listener(refusal)
  }
}

function refusalOf(error: unknown): CoreError {
  if (error instanceof CoreError) return error
  const reason = error instanceof Error ? error.message : String(error)
  const what = isErrno(error, 'ENOSPC', 'EDQUOT') ? 'The disk is full' : 'The disk refused to write'
  return new CoreError(
    'session/read-only',
    `${what} (${reason}). What was not saved is kept in memory; free space or fix the disk, then retry.`,
    { reason },
    { cause: error },
  )
}
