import type { SessionState } from '../../projection/session-state.ts'
import type { ListQuery } from './index-db.ts'
import type { Reconciled } from './reconcile.ts'
import type { Hit } from './search.ts'
import type { RequestNote } from './requests.ts'
import type { Doc, SessionRow } from './rows.ts'
import type { IndexedUsage, SpentRow, UsageLine, UsageQuery } from './usage.ts'

/** Calls of the host to the index worker, by name: argument and answer. */
export interface IndexCalls {
  /** The ids of sessions that this process tells of itself: their files are not looked at. */
  reconcile: [argument: string[], answer: Reconciled]
  refresh: [argument: string, answer: null]
  note: [
    argument: { states: SessionState[]; docs: Doc[]; requests: RequestNote[]; since: [id: string, seq: number][] },
    answer: null,
  ]
  list: [argument: ListQuery, answer: { rows: SessionRow[]; next?: string }]
  get: [argument: string, answer: SessionRow | null]
  search: [argument: { text: string; limit: number }, answer: Hit[]]
  usage: [argument: UsageQuery, answer: IndexedUsage]
  usageTable: [argument: UsageQuery, answer: UsageLine[]]
  /** `since` in ms since the epoch. */
  spent: [argument: number, answer: SpentRow[]]
  patch: [argument: { id: string; change: { pinned?: boolean; archived?: boolean } }, answer: SessionRow | null]
  remove: [argument: string, answer: null]
  close: [argument: null, answer: null]
}
export type IndexCall = keyof IndexCalls

export type IndexRequest = { [K in IndexCall]: { n: number; call: K; argument: IndexCalls[K][0] } }[IndexCall]
export type IndexReply = { n: number; answer: unknown } | { n: number; error: string }
