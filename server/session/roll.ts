import type { LogEvent } from '../wire/events.ts'
import { PINNED_TYPES } from '../wire/events.ts'
import type { SessionPage } from '../wire/protocol.ts'
import type { SessionRow } from '../wire/views.ts'
import type { Feed } from './feed.ts'
import type { LiveSession } from './live.ts'
import type { Index } from './ports.ts'
import { rowOf } from './rows.ts'
import type { SessionView } from './view.ts'

/** A list line is told of at most this often (ms) per session; the last state always gets out. */
const ROW_EVERY_MS = 250

export interface RollOptions {
  index: Index
  feed: Feed
  live: (id: string) => LiveSession | undefined
}

/** The session list: rows of the index, overlaid with what live sessions know now, and told of as they change. */
export class Roll {
  readonly #options: RollOptions
  readonly #marks = new Map<string, { pinned: boolean; archived: boolean }>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #pending = new Map<string, LogEvent[]>()
  #closed = false

  constructor(options: RollOptions) {
    this.#options = options
  }

  async list(query: Parameters<Index['list']>[0]): Promise<SessionPage> {
    const page = await this.#options.index.list(query)
    for (const row of page.rows) this.#remember(row)
    return { ...page, rows: page.rows.map((row) => this.#now(row.id) ?? row) }
  }

  committed(id: string, events: readonly LogEvent[]): void {
    const pending = this.#pending.get(id)
    if (pending) pending.push(...events)
    else this.#pending.set(id, [...events])
    this.#schedule(id)
  }

  changed(id: string): void {
    this.#marks.delete(id)
    this.#schedule(id)
  }

  /** Back from the trash: indexed anew from its log. */
  restored(view: SessionView): SessionRow {
    const row = rowOf(view.header, view.state(), { pinned: false, archived: false })
    this.#options.index.note(view.header, view.state(), view.events)
    this.#options.feed.rows([row], [])
    return row
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
    for (const id of this.#pending.keys()) this.#note(id)
  }

  #schedule(id: string): void {
    if (this.#closed || this.#timers.has(id)) return
    const timer = setTimeout(() => {
      this.#timers.delete(id)
      this.#tell(id).catch((error: unknown) => {
        // The index may close first when the host goes down; while it lives, the next change tells the row again.
        if (!this.#closed) console.error(`the list line of session ${id} could not be told:`, error)
      })
    }, ROW_EVERY_MS)
    timer.unref()
    this.#timers.set(id, timer)
  }

  async #tell(id: string): Promise<void> {
    if (!this.#marks.has(id)) {
      const known = await this.#options.index.get(id)
      if (this.#closed) return
      if (known) this.#remember(known)
    }
    const noted = this.#note(id)
    const row = noted ?? (await this.#options.index.get(id))
    if (row) this.#options.feed.rows([row], [])
  }

  #note(id: string): SessionRow | undefined {
    const events = this.#pending.get(id) ?? []
    this.#pending.delete(id)
    const row = this.#now(id)
    const session = this.#options.live(id)
    if (row && session) this.#options.index.note(session.header, session.state(), events)
    return row
  }

  /** Undefined for a session that is not live, or that has nothing yet but values pinned at its creation. */
  #now(id: string): SessionRow | undefined {
    const session = this.#options.live(id)
    if (!session || session.events.every(({ type }) => (PINNED_TYPES as readonly string[]).includes(type)))
      return undefined
    return rowOf(session.header, session.state(), this.#marks.get(id) ?? { pinned: false, archived: false })
  }

  #remember({ id, pinned, archived }: SessionRow): void {
    this.#marks.set(id, { pinned, archived })
  }
}
