import { setTimeout as pause } from 'node:timers/promises'
import type { Header, LogEvent } from '../wire/events.ts'
import type { SearchHit, SessionPage } from '../wire/protocol.ts'
import type { SessionRow } from '../wire/views.ts'
import type { SessionRow as IndexedRow } from '../log/index/rows.ts'
import type { SessionIndex } from '../log/index/session-index.ts'
import type { IndexedUsage, SpentRow, UsageLine, UsageQuery } from '../log/index/usage.ts'
import type { SessionState } from '../projection/session-state.ts'
import type { Index } from './ports.ts'

/** How long, in ms, the first list waits for the index to catch up with the files. */
const CATCH_UP_MS = 1_500
/** What another host wrote on the same folder is looked for at most this often, in ms, when sums are asked for. */
const LOOK_EVERY_MS = 20_000

/** The stored index in the words of the wire. */
export class IndexView implements Index {
  readonly #index: SessionIndex
  readonly #onError: (error: unknown) => void
  #caughtUp: Promise<unknown> | undefined
  #lookedAt = 0

  constructor(index: SessionIndex, onError: (error: unknown) => void) {
    this.#index = index
    this.#onError = onError
  }

  /**
   * Reads what changed on disk since the index last ran, on first use: a host that nobody looks at starts no worker for it.
   * A large folder holds a list up for a moment only; the rest of it appears in the next one.
   */
  #catchUp(): Promise<unknown> {
    this.#caughtUp ??= this.#look()
    return this.#caughtUp
  }

  /** Sums over all sessions see what other hosts wrote; lists are told of their own sessions as they change. */
  async #lookAgain(): Promise<void> {
    if (this.#caughtUp && performance.now() - this.#lookedAt > LOOK_EVERY_MS) this.#caughtUp = this.#look()
    await this.#catchUp()
  }

  #look(): Promise<unknown> {
    this.#lookedAt = performance.now()
    return Promise.race([this.#index.start().catch(this.#onError), pause(CATCH_UP_MS, undefined, { ref: false })])
  }

  note(header: Header, state: SessionState, events: readonly LogEvent[]): void {
    this.#index.note(header, state, events)
  }

  async list({
    cursor,
    query,
    limit,
    archived,
  }: {
    cursor?: string | undefined
    query?: string | undefined
    limit: number
    archived?: boolean | undefined
  }): Promise<SessionPage> {
    await this.#catchUp()
    const { rows, next } = await this.#index.list({
      limit,
      ...(cursor !== undefined && { cursor }),
      ...(query !== undefined && { query }),
      ...(archived !== undefined && { archived }),
    })
    return { rows: rows.map(wireRow), ...(next !== undefined && { next }) }
  }

  async get(id: string): Promise<SessionRow | undefined> {
    const row = await this.#index.get(id)
    return row ? wireRow(row) : undefined
  }

  async search(text: string): Promise<SearchHit[]> {
    await this.#catchUp()
    const hits = await this.#index.search(text)
    return hits.map(({ session, seq, title, snippet }) => ({ session, seq, title: title ?? '', snippet }))
  }

  async usage(query: UsageQuery): Promise<IndexedUsage> {
    await this.#lookAgain()
    return this.#index.usage(query)
  }

  async usageTable(query: UsageQuery): Promise<UsageLine[]> {
    await this.#lookAgain()
    return this.#index.usageTable(query)
  }

  async spent(since: number): Promise<SpentRow[]> {
    await this.#lookAgain()
    return this.#index.spent(since)
  }

  async patch(id: string, marks: { pinned?: boolean; archived?: boolean }): Promise<void> {
    await this.#index.patch(id, marks)
  }

  async remove(id: string): Promise<void> {
    await this.#index.remove(id)
  }
}

function wireRow(row: IndexedRow): SessionRow {
  const { cwd, preset, provider, model, parent } = row
  return {
    id: row.id,
    title: row.title ?? '',
    ...(cwd !== null && { cwd }),
    ...(preset !== null && { preset }),
    ...(provider !== null && { provider }),
    ...(model !== null && { model }),
    created: row.created,
    updated: row.updated,
    turns: row.turns,
    // A session that nobody drives is not running, whatever its unfinished log says.
    status: row.status === 'failed' || row.status === 'damaged' ? 'failed' : 'idle',
    pinned: row.pinned,
    archived: row.archived,
    ...(parent !== null && { parent }),
    ...(row.status === 'damaged' && {
      damaged: { seq: row.lastSeq, message: `The log is damaged after event ${row.lastSeq}.` },
    }),
  }
}
