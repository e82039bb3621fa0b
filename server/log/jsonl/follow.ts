import { join } from 'node:path'
import type { LogEvent } from '../../wire/events.ts'
import { readFully, type Disk, type DiskFile } from './disk.ts'
import { decodeLine, NEWLINE } from './line.ts'
import { offsetOf } from './offset.ts'
import { LOG, quietly } from './publish.ts'
import { readHeader } from './stitch.ts'

export interface FollowOptions {
  disk: Disk
  directory: string
  /** Only events with a higher `seq` are reported. */
  after: number
  onEvents: (events: LogEvent[]) => void
  /** The log cannot be followed any further: removed, replaced by another, or damaged. */
  onEnd: (reason: string) => void
}

const CHUNK = 1 << 20

/** Reports what another process appends to a log, batch by batch, as whole checked lines. */
export class Follow {
  readonly #options: FollowOptions
  readonly #unwatch: () => void
  #file: DiskFile | null = null
  #inode = 0
  #offset = 0
  #lastSeq: number
  #reading: Promise<void> | null = null
  #again = false
  #closed = false

  constructor(options: FollowOptions) {
    this.#options = options
    this.#lastSeq = options.after
    this.#unwatch = options.disk.watch(options.directory, () => void this.poll())
  }

  /** Reads what is new; also called by whoever suspects that a change notice was lost. */
  poll(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    if (this.#reading) {
      this.#again = true
      return this.#reading
    }
    this.#reading = this.#read().finally(() => {
      this.#reading = null
      if (!this.#again) return undefined
      this.#again = false
      return this.poll()
    })
    return this.#reading
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#unwatch()
    await this.#reading
    await this.#file?.close()
    this.#file = null
  }

  async #read(): Promise<void> {
    try {
      const path = join(this.#options.directory, LOG)
      const { ino, size } = await this.#options.disk.stat(path)
      // Rewritten (upgraded, detached) or cut back after a full disk: byte offsets of before mean nothing.
      if (!this.#file || ino !== this.#inode || size < this.#offset) await this.#locate(path)
      await this.#drain()
    } catch (error) {
      this.#end(error instanceof Error ? error.message : String(error))
    }
  }

  async #locate(path: string): Promise<void> {
    if (this.#file) await quietly(this.#file.close())
    this.#file = null
    const file = await this.#options.disk.open(path, 'r')
    this.#file = file
    const { ino, size } = await file.stat()
    const head = await readHeader(file)
    if (!head) throw new Error('the log has no readable header')
    this.#inode = ino
    this.#offset = await offsetOf({ file, start: head.length, size }, this.#lastSeq + 1)
  }

  async #drain(): Promise<void> {
    const file = this.#file!
    for (;;) {
      const { size } = await file.stat()
      let length = Math.min(size - this.#offset, CHUNK)
      let bytes = await readFully(file, this.#offset, Math.max(0, length))
      // A line longer than the piece is read whole.
      while (bytes.lastIndexOf(NEWLINE) < 0 && this.#offset + length < size) {
        length = Math.min(size - this.#offset, length * 4)
        bytes = await readFully(file, this.#offset, length)
      }
      const end = bytes.lastIndexOf(NEWLINE)
      // Nothing, or the first part of an append that is still being written.
      if (end < 0) return
      this.#take(bytes.subarray(0, end + 1))
      this.#offset += end + 1
    }
  }

  #take(bytes: Buffer): void {
    const events: LogEvent[] = []
    let from = 0
    for (let cut = bytes.indexOf(NEWLINE); cut >= 0; cut = bytes.indexOf(NEWLINE, from)) {
      const record = decodeLine(bytes.subarray(from, cut))
      from = cut + 1
      if (!record) throw new Error('the log is damaged')
      const event = record as unknown as LogEvent
      if (event.seq <= this.#lastSeq) continue
      if (event.seq !== this.#lastSeq + 1) throw new Error(`event ${this.#lastSeq + 1} is missing`)
      this.#lastSeq = event.seq
      events.push(event)
    }
    if (events.length > 0 && !this.#closed) this.#options.onEvents(events)
  }

  #end(reason: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#unwatch()
    this.#options.onEnd(reason)
  }
}
