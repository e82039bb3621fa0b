import { CoreError } from '../wire/errors.ts'
import { draft, type Draft, type InboxTarget } from '../wire/events.ts'
import type { Block, Message } from '../wire/messages.ts'
import type { EventLog } from '../log/port.ts'
import { inbox as fold, type InboxRow } from '../projection/inbox.ts'
import type { TurnInbox } from '../turn/world.ts'

const TARGETS = ['next-turn', 'next-step'] as const satisfies readonly InboxTarget[]

interface Place {
  target: InboxTarget
  index: number
  row: InboxRow
}

/**
 * The durable queue of one agent. The log holds the rows; in memory stands only which of them a turn has claimed. A row that
 * is parked waits for a person (`sendNow`, `edit`, `remove`) and no turn takes it.
 */
export class Inbox implements TurnInbox {
  #log: EventLog
  #inFlight = new Set<string>()

  constructor(log: EventLog) {
    this.#log = log
    this.#dropDoubles()
  }

  insert(target: InboxTarget, message: Message): void {
    const start = this.#rows(target).length
    this.#log.append(draft('agent/inbox/spliced', { target, start, inserted: [message] }))
  }

  /** Waiting rows of a list, parked ones included, claimed ones not. */
  waiting(target: InboxTarget): InboxRow[] {
    return this.#rows(target).filter((row) => !row.claimed && !this.#inFlight.has(row.message.id))
  }

  hasNextStep(): boolean {
    return this.#ready('next-step').length > 0
  }

  hasNextTurn(): boolean {
    return this.#ready('next-turn').length > 0
  }

  claim(step: number): Message[] {
    const rows = this.#ready('next-step')
    if (step === 1) rows.push(...this.#ready('next-turn').slice(0, 1))
    for (const { message } of rows) this.#inFlight.add(message.id)
    return rows.map((row) => row.message)
  }

  removals(admitted: ReadonlySet<string>): Draft[] {
    return this.#splices((row) => this.#inFlight.has(row.message.id) && admitted.has(row.message.id), {})
  }

  settle(admitted: ReadonlySet<string>): void {
    for (const id of admitted) this.#inFlight.delete(id)
  }

  putBack(reason: string | undefined): void {
    const held = new Set(this.#inFlight)
    this.#inFlight.clear()
    if (reason === undefined || held.size === 0) return
    this.#log.append(...this.#parkings((row) => held.has(row.message.id), reason))
  }

  /**
   * Parks what a person stopped: prompts and steering. In-flight rows are left to their turn, and what a plugin injected stays
   * as it is: it starts no turn.
   */
  parkWaiting(reason: string): void {
    const waits = (row: InboxRow) => row.parked === undefined && !this.#inFlight.has(row.message.id)
    this.#log.append(
      ...this.#parkings(
        (row, target) => waits(row) && (target === 'next-turn' || row.message.source.kind === 'user'),
        reason,
      ),
    )
  }

  /** Drops every row, claimed or not; the log says that they were canceled. */
  clear(): void {
    this.#inFlight.clear()
    this.#log.append(...this.#splices((row) => !row.claimed, { outcome: 'canceled' }))
  }

  /** Replaces a waiting row's content and keeps its place. Throws `session/queue-item-not-found`. */
  edit(id: string, content: Block[]): Message {
    const { target, index, row } = this.#place(id)
    const message = { ...row.message, content }
    this.#log.append(
      draft('agent/inbox/spliced', {
        target,
        start: index,
        removedCount: 1,
        inserted: [message],
        ...(row.parked !== undefined && { parked: row.parked }),
      }),
    )
    return message
  }

  /** Takes a waiting row out and returns its message. Throws `session/queue-item-not-found`. */
  remove(id: string): Message {
    const { target, index, row } = this.#place(id)
    this.#log.append(
      draft('agent/inbox/spliced', { target, start: index, removedCount: 1, inserted: [], outcome: 'canceled' }),
    )
    return row.message
  }

  /** Brings a waiting row to the head of `to`, unparked. Throws `session/queue-item-not-found`. */
  promote(id: string, to: InboxTarget): Message {
    const { target, index, row } = this.#place(id)
    // Inserted before it is removed: a torn batch leaves the row twice (healed on the next start), never lost.
    const insertion = draft('agent/inbox/spliced', { target: to, start: 0, inserted: [row.message] })
    const start = target === to ? index + 1 : index
    const removal = draft('agent/inbox/spliced', { target, start, removedCount: 1, inserted: [] })
    this.#log.append(insertion, removal)
    return row.message
  }

  #rows(target: InboxTarget): readonly InboxRow[] {
    return this.#log.state(fold)[target]
  }

  #ready(target: InboxTarget): InboxRow[] {
    return this.waiting(target).filter((row) => row.parked === undefined)
  }

  #place(id: string): Place {
    for (const target of TARGETS) {
      const index = this.#rows(target).findIndex((row) => row.message.id === id && !row.claimed)
      const row = this.#rows(target)[index]
      if (row && !this.#inFlight.has(id)) return { target, index, row }
    }
    throw new CoreError(
      'session/queue-item-not-found',
      'This message is no longer in the queue: it was sent or removed.',
      {
        message: id,
      },
    )
  }

  /** One removal per chosen row, last first, so that earlier places stay right. */
  #splices(chosen: (row: InboxRow) => boolean, mark: { outcome?: 'canceled' }): Draft[] {
    return TARGETS.flatMap((target) =>
      this.#rows(target)
        .flatMap((row, start) =>
          chosen(row) ? [draft('agent/inbox/spliced', { target, start, removedCount: 1, inserted: [], ...mark })] : [],
        )
        .toReversed(),
    )
  }

  #parkings(chosen: (row: InboxRow, target: InboxTarget) => boolean, parked: string): Draft[] {
    return TARGETS.flatMap((target) =>
      this.#rows(target).flatMap((row, start) =>
        chosen(row, target) && !row.claimed
          ? [draft('agent/inbox/spliced', { target, start, removedCount: 1, inserted: [row.message], parked })]
          : [],
      ),
    )
  }

  /** A move that was torn in two left its row behind: the copy that stands first is the moved one. */
  #dropDoubles(): void {
    const seen = new Set<string>()
    const doubled: Draft[] = []
    for (const target of ['next-step', 'next-turn'] as const) {
      const removals = this.#rows(target).flatMap(({ message, claimed }, start) => {
        if (claimed) return []
        if (!seen.has(message.id)) {
          seen.add(message.id)
          return []
        }
        return [draft('agent/inbox/spliced', { target, start, removedCount: 1, inserted: [] })]
      })
      doubled.push(...removals.toReversed())
    }
    if (doubled.length) this.#log.append(...doubled)
  }
}
