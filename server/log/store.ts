import { join } from 'node:path'
import { CoreError } from '../wire/errors.ts'
import type { Header, LogEvent } from '../wire/events.ts'
import { nodeDisk, type Disk } from './jsonl/disk.ts'
import { Follow } from './jsonl/follow.ts'
import { appendForkStart, forkHeader, forkPoint, type ForkOptions } from './jsonl/fork.ts'
import { JsonlWriter, type Stored } from './jsonl/jsonl-writer.ts'
import { Liveness } from './jsonl/liveness.ts'
import { refuseNetworkDisk } from './jsonl/network-disk.ts'
import { livingOwner, releaseOwnership, takeOwnership, type Owner } from './jsonl/owner.ts'
import { pageFromDisk, type Page, type PageQuery } from './jsonl/page.ts'
import { checkHeader, Places, type SessionFile } from './jsonl/places.ts'
import { closeTail, type Repaired } from './jsonl/repair.ts'
import type { Damage, ScanOptions } from './jsonl/scan.ts'
import { loadSession, MAX_DEPTH, notFound } from './jsonl/stitch.ts'
import { openStored } from './jsonl/stored.ts'
import { Trash } from './jsonl/trash.ts'
import { pageFromMemory } from './memory-page.ts'
import { SessionLog } from './session-log.ts'
import { withDefaults, type SettledOptions, type StoreOptions } from './store-options.ts'
import { firstUnknown } from './vocabulary.ts'

export interface OpenedForReading {
  log: SessionLog
  /** The log is shown up to here only. */
  damage: Damage | null
  /** An event type that this host may not pass over, and the plugin that knows it. */
  unknown: { type: string; needs: string | null } | null
}

interface Live {
  log: SessionLog
  writer: JsonlWriter
}

const VIEWING = new CoreError('session/read-only', 'This session is open for viewing only.')

/** Sessions as files: one append-only log each, one writer each. `root` is the data folder. */
export class SessionStore {
  readonly #places: Places
  readonly #disk: Disk
  readonly #options: SettledOptions
  readonly #live = new Map<string, Live>()
  readonly #opening = new Set<string>()
  readonly #trash: Trash
  #liveness: Liveness | null = null

  constructor(root: string, options: StoreOptions = {}) {
    this.#disk = options.disk ?? nodeDisk
    this.#places = new Places(this.#disk, root)
    this.#options = withDefaults(options)
    this.#trash = new Trash({
      disk: this.#disk,
      places: this.#places,
      own: (directory) => this.#own(directory),
      disown: (directory) => releaseOwnership(this.#disk, directory, this.#alive()),
      rewriteLive: async (id, header) => {
        await this.#live.get(id)?.writer.rewrite(header)
        return this.#live.has(id)
      },
    })
  }

  /** Makes the data folder and refuses one whose locks cannot be trusted (SL-16). */
  async prepare(): Promise<void> {
    await this.#disk.mkdir(this.#places.sessions)
    if (!this.#options.allowNetworkDisk) await refuseNetworkDisk(this.#places.root)
  }

  /** A blank session in memory; its file comes with the first event that is more than a pinned value (SL-08). */
  create(header: Header): SessionLog {
    checkHeader(header)
    if (this.#live.has(header.id)) throw conflict(header.id)
    return this.#attach(header, this.#places.directoryFor(header), { events: [], stored: null })
  }

  /** Read-only, on any host, however damaged the tail is; the log ends before the damage. */
  async openRead(id: string, options: ScanOptions = {}): Promise<OpenedForReading> {
    const live = this.#live.get(id)
    if (live) return { log: this.#viewer(live.log.header, live.log.events.slice()), damage: null, unknown: null }
    const { header, events, damage } = await loadSession(this.#disk, this.#places, id, options)
    return { log: this.#viewer(header, events), damage, unknown: firstUnknown(events, this.#options.vocabulary) }
  }

  /**
   * Takes ownership, repairs the tail and continues the log. Throws `session/not-found`, `session/writer-held`,
   * `session/corrupt` (damage before the tail), `session/read-only` (newer format, unknown event type) and
   * `session/conflict` (open in this process already).
   */
  async openWrite(id: string): Promise<{ log: SessionLog; repaired: Repaired }> {
    if (this.#live.has(id) || this.#opening.has(id)) throw conflict(id)
    this.#opening.add(id)
    try {
      const directory = await this.#places.find(id)
      if (!directory) throw notFound(id)
      await this.#own(directory)
      try {
        return await this.#continue(id, directory)
      } catch (error) {
        if (!this.#live.has(id)) await releaseOwnership(this.#disk, directory, this.#alive())
        throw error
      }
    } finally {
      this.#opening.delete(id)
    }
  }

  async readPage(id: string, query: PageQuery): Promise<Page> {
    const live = this.#live.get(id)
    return live ? pageFromMemory(live.log, query) : pageFromDisk(this.#disk, this.#places, id, query)
  }

  async exists(id: string): Promise<boolean> {
    return (await this.#places.find(id)) !== null
  }

  /** Every session with a file, damaged ones too: nothing is parsed (B27). */
  list(): Promise<SessionFile[]> {
    return this.#places.list()
  }

  listTrash(): Promise<SessionFile[]> {
    return this.#places.listTrash()
  }

  /** Soft delete; children that refer to this session get their own copy first. Refused while it is open here. */
  async remove(id: string): Promise<void> {
    if (this.#live.has(id) || this.#opening.has(id)) throw conflict(id)
    await this.#trash.remove(id, this.#options.now())
  }

  restore(id: string): Promise<void> {
    return this.#trash.restore(id)
  }

  /** Ends what was removed before the given time (ms since the epoch); returns the ids. */
  purge(before: number): Promise<string[]> {
    return this.#trash.purge(before)
  }

  /** A new session that continues another's history; on disk when it resolves (SL-20). */
  async fork(id: string, options: ForkOptions): Promise<SessionLog> {
    if (this.#live.has(options.id) || (await this.exists(options.id))) throw conflict(options.id)
    const live = this.#live.get(id)
    if (live) await live.log.barrier()
    const source = live ? { header: live.log.header, events: live.log.events } : await this.#cold(id)
    const seq = forkPoint(source, options.at)
    const detach = options.detach || (await this.#depth(id)) >= MAX_DEPTH
    const header = forkHeader(source, seq, {
      ...options,
      detach,
      now: this.#options.now(),
      writer: this.#options.writer,
    })
    const events = source.events.slice(0, seq + 1)
    const log = this.#attach(header, this.#places.directoryFor(header), { events, stored: null })
    appendForkStart(log, this.#options.newId)
    try {
      await log.barrier()
    } catch (error) {
      await log.close().catch(() => {
        // The barrier's error is the one to report; closing tried the same disk again.
      })
      throw error
    }
    return log
  }

  /** Reports events that another process appends to a session which is only read here. */
  async watch(
    id: string,
    options: { after: number; onEvents: (events: LogEvent[]) => void; onEnd?: (reason: string) => void },
  ): Promise<Follow> {
    const directory = await this.#places.find(id)
    if (!directory) throw notFound(id)
    const { after, onEvents, onEnd = () => {} } = options
    const follow = new Follow({ disk: this.#disk, directory, after, onEvents, onEnd })
    await follow.poll()
    return follow
  }

  /** The living process that owns a session for writing; null when none does, or when it is this one. */
  async holder(id: string): Promise<Owner | null> {
    if (this.#live.has(id)) return null
    const directory = await this.#places.find(id)
    return directory ? livingOwner(this.#disk, directory, this.#alive()) : null
  }

  /** Closes every open log, then ends this process's claim to any. Rejects with the first log that could not be saved. */
  async close(): Promise<void> {
    const results = await Promise.allSettled([...this.#live.values()].map((live) => live.log.close()))
    this.#liveness?.close()
    this.#liveness = null
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }

  async #continue(id: string, directory: string): Promise<{ log: SessionLog; repaired: Repaired }> {
    const { stored, loaded, torn, upgradedFrom } = await openStored({
      disk: this.#disk,
      places: this.#places,
      id,
      directory,
      vocabulary: this.#options.vocabulary,
      detachChildren: () => this.#trash.detachChildren(id),
    })
    const log = this.#attach(loaded.header, directory, { events: loaded.events, stored })
    try {
      const closed = await closeTail(this.#disk, directory, log, this.#options)
      return { log, repaired: { torn, upgradedFrom, ...closed } }
    } catch (error) {
      await log.close().catch(() => {
        // The repair's error is the one to report; closing tried the same disk again.
      })
      throw error
    }
  }

  #attach(header: Header, directory: string, from: { events: LogEvent[]; stored: Stored | null }): SessionLog {
    const writer = new JsonlWriter({
      disk: this.#disk,
      directory,
      durability: this.#options.durability,
      stored: from.stored,
      claim: () => this.#claimNew(header.id, directory),
      onClose: async () => {
        try {
          if (this.#liveness) await releaseOwnership(this.#disk, directory, this.#liveness)
        } finally {
          // Last, so that nobody here opens the session while its owner file is still being taken away.
          this.#live.delete(header.id)
        }
      },
    })
    const { vocabulary, now, onObserverError } = this.#options
    const log = new SessionLog(header, {
      events: from.events,
      writer,
      vocabulary,
      now,
      ...(onObserverError && { onObserverError }),
    })
    this.#live.set(header.id, { log, writer })
    return log
  }

  #viewer(header: Header, events: LogEvent[]): SessionLog {
    return new SessionLog(header, { events, refusal: VIEWING, vocabulary: this.#options.vocabulary })
  }

  async #claimNew(id: string, directory: string): Promise<void> {
    // The id may have been given by the caller and lie under another month already.
    if (await this.exists(id)) throw conflict(id)
    await this.#own(directory)
  }

  #own(directory: string): Promise<void> {
    return takeOwnership(this.#disk, directory, this.#alive(), this.#options.now())
  }

  /** Held from the first write on: a process that only reads needs no lock. */
  #alive(): Liveness {
    this.#liveness ??= new Liveness(join(this.#places.root, 'liveness'))
    return this.#liveness
  }

  async #cold(id: string): Promise<{ header: Header; events: LogEvent[] }> {
    const { header, events } = await loadSession(this.#disk, this.#places, id)
    return { header, events }
  }

  async #depth(id: string): Promise<number> {
    return (await this.exists(id)) ? this.#trash.depthOf(id) : 0
  }
}

const conflict = (id: string): CoreError =>
  new CoreError('session/conflict', `Session ${id} is already there, open in this server.`, { sessionId: id })

/** A header for `create`; what is left out is absent in the file as well. */
export function newHeader(fields: Partial<Header> & { id: string; createdAt: number; writer: string }): Header {
  return { type: 'session', version: 1, isSeeded: false, ...fields }
}
