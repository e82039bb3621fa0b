import { Worker } from 'node:worker_threads'
import type { Header, LogEvent } from '../../wire/events.ts'
import type { SessionState } from '../../projection/session-state.ts'
import type { ListQuery } from './index-db.ts'
import type { IndexCall, IndexCalls, IndexReply } from './protocol.ts'
import type { Reconciled } from './reconcile.ts'
import type { Hit } from './search.ts'
import { requestsOf, type RequestNote } from './requests.ts'
import { docsOf, type Doc, type SessionRow } from './rows.ts'
import type { IndexedUsage, SpentRow, UsageLine, UsageQuery } from './usage.ts'

export interface SessionIndexOptions {
  /** The data folder. */
  root: string
  /** A notice could not be stored; the next reconcile makes up for it. */
  onError?: (error: Error) => void
}

interface Waiting {
  resolve: (answer: unknown) => void
  reject: (error: Error) => void
}

/** Notices are gathered for this long: a running turn changes its row many times a second. */
const GATHER_MS = 100
/** Larger batches would hold up the host while they are copied to the worker. */
const BATCH = 100
const SEARCH_LIMIT = 50

/** The session list and search of a data folder, kept by a worker thread that starts with the first use (SL-21). */
export class SessionIndex {
  readonly #options: SessionIndexOptions
  readonly #waiting = new Map<number, Waiting>()
  readonly #states = new Map<string, SessionState>()
  /** Sessions of which this process tells. */
  readonly #told = new Set<string>()
  /** The first event that waits to be told of, by session. */
  readonly #since = new Map<string, number>()
  #docs: Doc[] = []
  #requests: RequestNote[] = []
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> | null = null
  #worker: Worker | null = null
  #count = 0
  #closed = false

  constructor(options: SessionIndexOptions) {
    this.#options = options
  }

  /** Starts the worker and reads what changed on disk since it last ran; lists work meanwhile. */
  start(): Promise<Reconciled> {
    return this.#ask('reconcile', [...this.#told])
  }

  /** After each commit of a session that has a file: its state now, and the events that led to it. */
  note(header: Header, state: SessionState, events: readonly LogEvent[]): void {
    this.#told.add(header.id)
    this.#states.set(header.id, state)
    if (!this.#since.has(header.id)) this.#since.set(header.id, events[0]?.seq ?? state.seq + 1)
    for (const doc of docsOf(header, events)) this.#docs.push(doc)
    for (const request of requestsOf(header, events, null)) this.#requests.push(request)
    if (this.#closed || this.#flushing) return
    this.#timer ??= setTimeout(() => void this.#flush(), GATHER_MS).unref()
  }

  /** Everything noted so far is in the index when it resolves. */
  async flush(): Promise<void> {
    while (this.#waits() || this.#flushing) await this.#flush()
  }

  async list(query: ListQuery): Promise<{ rows: SessionRow[]; next?: string }> {
    await this.flush()
    return this.#ask('list', query)
  }

  async get(id: string): Promise<SessionRow | null> {
    await this.flush()
    return this.#ask('get', id)
  }

  async search(text: string, limit: number = SEARCH_LIMIT): Promise<Hit[]> {
    await this.flush()
    return this.#ask('search', { text, limit })
  }

  async usage(query: UsageQuery): Promise<IndexedUsage> {
    await this.flush()
    return this.#ask('usage', query)
  }

  async usageTable(query: UsageQuery): Promise<UsageLine[]> {
    await this.flush()
    return this.#ask('usageTable', query)
  }

  /** Per session, of requests that ended at `since` (ms since the epoch) or later. */
  async spent(since: number): Promise<SpentRow[]> {
    await this.flush()
    return this.#ask('spent', since)
  }

  /** Pins and archive marks; they survive a deleted index. */
  async patch(id: string, change: { pinned?: boolean; archived?: boolean }): Promise<SessionRow | null> {
    await this.flush()
    return this.#ask('patch', { id, change })
  }

  async remove(id: string): Promise<void> {
    await this.flush()
    this.#told.delete(id)
    await this.#ask('remove', id)
  }

  /** Reads one log again: after a restore, or a change by another process. */
  async refresh(id: string): Promise<void> {
    await this.#ask('refresh', id)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    if (this.#worker) await this.flush()
    this.#closed = true
    if (this.#timer) clearTimeout(this.#timer)
    const worker = this.#worker
    if (!worker) return
    await this.#ask('close', null)
    await worker.terminate()
  }

  #waits(): boolean {
    return this.#states.size > 0 || this.#docs.length > 0 || this.#requests.length > 0
  }

  #flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#flushing ??= this.#post().finally(() => {
      this.#flushing = null
    })
    return this.#flushing
  }

  /** One batch after the other: what arrives meanwhile is gathered into the next. */
  async #post(): Promise<void> {
    while (this.#waits()) {
      const docs = this.#docs.splice(0, BATCH)
      const requests = this.#requests.splice(0, BATCH)
      // A row is sent only once all that led to it is: the index then never promises what it cannot find.
      const states = this.#docs.length > 0 || this.#requests.length > 0 ? [] : [...this.#states.values()]
      const since = states.length > 0 ? [...this.#since] : []
      if (states.length > 0) {
        this.#states.clear()
        this.#since.clear()
      }
      try {
        await this.#ask('note', { states, docs, requests, since })
      } catch (error) {
        this.#options.onError?.(error as Error)
      }
    }
  }

  #ask<K extends IndexCall>(call: K, argument: IndexCalls[K][0]): Promise<IndexCalls[K][1]> {
    if (this.#closed && call !== 'close') return Promise.reject(new Error('the session index is closed'))
    const worker = this.#start()
    const n = ++this.#count
    return new Promise((resolve, reject) => {
      this.#waiting.set(n, { resolve: resolve as (answer: unknown) => void, reject })
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
      worker.postMessage({ n, call, argument })
    })
  }

  #start(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { root: this.#options.root } })
    worker.on('message', (reply: IndexReply) => this.#settle(reply))
    worker.on('error', (error) => this.#lost(worker, error as Error))
    worker.on('exit', () => this.#lost(worker, new Error('the session index has ended')))
    // The index alone is no reason for the process to stay.
    worker.unref()
    this.#worker = worker
    return worker
  }

  #settle(reply: IndexReply): void {
    const waiting = this.#waiting.get(reply.n)
    this.#waiting.delete(reply.n)
    if ('error' in reply) waiting?.reject(new Error(reply.error))
    else waiting?.resolve(reply.answer)
  }

  /** The next call starts a new worker. */
  #lost(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = null
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
  }
}
