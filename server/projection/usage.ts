import type { Usage } from '../wire/messages.ts'
import type { Projection } from './projection.ts'

/** Sums; a count that no call reported is absent, never 0. */
export type UsageSum = Omit<Usage, 'raw'> & { calls: number; failed: number }

export interface UsageState {
  /** Whole log, an inherited prefix included. */
  total: UsageSum
  /** Since this session began: the sum that may be added up over sessions. */
  own: UsageSum
  /** Of the latest answered call: what the context holds now. */
  last: Omit<Usage, 'raw'> | null
}

const COUNTS = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const
const ZERO: UsageSum = { calls: 0, failed: 0 }

export const usage: Projection<UsageState> = {
  key: 'usage',
  stateVersion: 1,
  init: () => ({ total: ZERO, own: ZERO, last: null }),
  apply(state, event) {
    switch (event.type) {
      case 'assistant/message':
        return {
          total: sum(state.total, event.data.usage, false),
          own: sum(state.own, event.data.usage, false),
          last: event.data.usage ? counts(event.data.usage) : state.last,
        }
      case 'assistant/attempt':
        return {
          total: sum(state.total, event.data.usage, true),
          own: sum(state.own, event.data.usage, true),
          last: state.last,
        }
      case 'session/end-seed':
        return event.data.inherited ? { ...state, own: ZERO } : state
      default:
        return state
    }
  },
}

function sum(into: UsageSum, call: Usage | undefined, failed: boolean): UsageSum {
  const result: UsageSum = { ...into, calls: into.calls + 1, failed: into.failed + (failed ? 1 : 0) }
  for (const name of COUNTS) {
    const count = call?.[name]
    if (count !== undefined) result[name] = (into[name] ?? 0) + count
  }
  return result
}

function counts(call: Usage): Omit<Usage, 'raw'> {
  const result: Omit<Usage, 'raw'> = {}
  for (const name of COUNTS) if (call[name] !== undefined) result[name] = call[name]
  return result
}

/** Everything the model read for one call: uncached, cached and newly cached input. */
export const inputOf = (call: Omit<Usage, 'raw'>): number =>
  (call.inputTokens ?? 0) + (call.cacheReadTokens ?? 0) + (call.cacheWriteTokens ?? 0)
