import type { EventData, InboxTarget } from '../wire/events.ts'
import type { Message } from '../wire/messages.ts'
import type { Projection } from './projection.ts'

export interface InboxRow {
  message: Message
  /** Why the row waits for a person instead of starting a turn. */
  parked?: string
  /**
   * The message already stands in the history, but its removal was not logged: the batch of a claim was torn. The row
   * keeps its place, because later splices count it, and every view leaves it out.
   */
  claimed?: true
}

export type InboxState = { [K in InboxTarget]: readonly InboxRow[] }

const EMPTY: InboxState = { 'next-turn': [], 'next-step': [] }

/** The two durable queues, rebuilt from splices. A fork starts with an empty queue (SL-20). */
export const inbox: Projection<InboxState> = {
  key: 'inbox',
  stateVersion: 1,
  init: () => EMPTY,
  apply(state, event) {
    switch (event.type) {
      case 'agent/inbox/spliced':
        return { ...state, [event.data.target]: spliced(state[event.data.target], event.data) }
      case 'user/message':
        return claim(state, event.data.message.id)
      case 'session/end-seed':
        return event.data.inherited ? EMPTY : state
      default:
        return state
    }
  },
}

function spliced(rows: readonly InboxRow[], data: EventData['agent/inbox/spliced']): InboxRow[] {
  const inserted = data.inserted.map((message): InboxRow =>
    data.parked === undefined ? { message } : { message, parked: data.parked },
  )
  return rows.toSpliced(data.start, data.removedCount ?? 0, ...inserted)
}

function claim(state: InboxState, id: string): InboxState {
  for (const target of ['next-turn', 'next-step'] as const) {
    const index = state[target].findIndex((row) => row.message.id === id && !row.claimed)
    const row = state[target][index]
    if (row) return { ...state, [target]: state[target].with(index, { ...row, claimed: true }) }
  }
  return state
}

/** The rows that still wait, in order. */
export const waiting = (state: InboxState, target: InboxTarget): InboxRow[] =>
  state[target].filter((row) => !row.claimed)
