import { usageCall } from '../projection/usage-call.ts'
import { localDays, type SpentRow } from '../log/index/usage.ts'
import type { LogEvent } from '../wire/events.ts'

/** How long, in ms, what the index said stands before it is asked again: only then another host's requests are seen. */
const READ_EVERY_MS = 30_000

/** US dollars, estimated from list prices. */
export interface Spent {
  cost: number
  /** Requests whose price or tokens are unknown: they are not in `cost`. */
  unpriced: number
}

export interface SpendOptions {
  /** Per session, of requests that ended at `since` (ms since the epoch) or later; asked for the first time when a limit needs it. */
  spent(since: number): Promise<readonly SpentRow[]>
  now?: () => number
  warn?: (message: string) => void
}

/** A request of this host that the index may not have seen yet. */
interface Fresh extends Spent {
  seq: number
  at: number
}

/**
 * What all sessions of the data folder spent on the present day of this machine's clock. The requests of this host count at
 * once; those of another host on the same folder as soon as its log is on disk and the index has read it, at least every half
 * minute. Two hosts can so overrun a limit by what they ask for in that time. Sessions in the trash are not counted.
 */
export class Spend {
  readonly #options: SpendOptions
  readonly #fresh = new Map<string, Fresh[]>()
  #day = 0
  #read = new Map<string, SpentRow>()
  #readAt = -Infinity
  #reading: Promise<void> | undefined

  constructor(options: SpendOptions) {
    this.#options = options
  }

  /** After each commit of a session that this host writes. */
  committed(session: string, events: readonly LogEvent[]): void {
    for (const event of events) {
      const call = usageCall(event, null)
      if (!call) continue
      // A host without a limit is never asked: what is kept is of one day at most.
      const [day] = localDays(event.time, 1)
      if (day!.from > this.#day) this.#begin(day!.from)
      const fresh = { seq: event.seq, at: event.time, cost: call.cost?.total ?? 0, unpriced: call.cost ? 0 : 1 }
      const list = this.#fresh.get(session)
      if (list) list.push(fresh)
      else this.#fresh.set(session, [fresh])
    }
  }

  /** An index that cannot be read is told of, and what this host knows itself counts: it is no reason to stop all work. */
  async today(): Promise<Spent> {
    const { now = Date.now } = this.#options
    const [day] = localDays(now(), 1)
    if (day!.from !== this.#day) this.#begin(day!.from)
    if (now() - this.#readAt >= READ_EVERY_MS) await (this.#reading ??= this.#ask(now))
    return this.#sum()
  }

  #begin(day: number): void {
    this.#day = day
    this.#read = new Map()
    this.#readAt = -Infinity
    for (const [session, list] of this.#fresh)
      this.#keep(
        session,
        list.filter(({ at }) => at >= day),
      )
  }

  async #ask(now: () => number): Promise<void> {
    const { spent, warn = console.warn } = this.#options
    const day = this.#day
    try {
      const rows = await spent(day)
      if (day !== this.#day) return
      this.#read = new Map(rows.map((row) => [row.session, row]))
      for (const [session, list] of this.#fresh) {
        const seen = this.#read.get(session)?.seq ?? -1
        this.#keep(
          session,
          list.filter(({ seq }) => seq > seen),
        )
      }
    } catch (error) {
      warn(`what was spent today could not be read: ${(error as Error).message}`)
    } finally {
      this.#readAt = now()
      this.#reading = undefined
    }
  }

  #keep(session: string, list: Fresh[]): void {
    if (list.length > 0) this.#fresh.set(session, list)
    else this.#fresh.delete(session)
  }

  #sum(): Spent {
    const sum = { cost: 0, unpriced: 0 }
    const add = ({ cost, unpriced }: Spent): void => {
      sum.cost += cost
      sum.unpriced += unpriced
    }
    for (const row of this.#read.values()) add(row)
    for (const list of this.#fresh.values()) for (const one of list) if (one.at >= this.#day) add(one)
    return sum
  }
}
