import type { LogEvent } from '../wire/events.ts'
import type { Selection, Usage } from '../wire/messages.ts'
import type { GenerationRef } from '../wire/presets.ts'
import type { Item, Money } from './transcript-items.ts'

export interface TurnCursor {
  turn: number
  startedAt?: number
  usage?: Usage
  money?: Money
  selection?: Selection
  step?: number
}

export interface Transcript {
  items: readonly Item[]
  /** Where the fold stands; only `extend` reads it. */
  cursor: {
    calls: ReadonlyMap<string, number>
    turn?: TurnCursor
    preset?: string
    /** Picked or used, whichever came last. */
    selection?: Selection
    /** Of the latest request. */
    used?: Selection
    composition?: GenerationRef
    /** False until a turn is seen: what was picked on a blank session leaves no mark. */
    begun: boolean
  }
}

export type Draft = { items: Item[]; calls: Map<string, number> } & Omit<Transcript['cursor'], 'calls'>
export type Of<T extends LogEvent['type']> = Extract<LogEvent, { type: T }>

export const at = (event: LogEvent, key = `e${event.seq}`) => ({ key, seq: event.seq, time: event.time })
