import type { Usage } from '../wire/messages.ts'
import type { Projection } from './projection.ts'
import { usageCall, type RouteRef, type UsageCall } from './usage-call.ts'

/** Sums; a count that no call reported is absent, never 0. */
export type UsageSum = Omit<Usage, 'raw'> & {
  /** Requests to a model, those that failed and those for titles among them. */
  calls: number
  failed: number
  /** US dollars, estimated from list prices, of the calls whose price and counts are known. */
  cost: number
  /** Calls whose price or counts are unknown. */
  unpriced: number
}

export interface UsageState {
  /** Whole log, an inherited prefix included. */
  total: UsageSum
  /** Since this session began: the sum that may be added up over sessions. */
  own: UsageSum
  /** Of the whole log, in order of first use. */
  byModel: readonly (RouteRef & UsageSum)[]
  /** Of the latest answered call: what the context holds now. */
  last: Omit<Usage, 'raw'> | null
  /** Of the latest header. */
  route: RouteRef | null
}

const COUNTS = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const
const ZERO: UsageSum = { calls: 0, failed: 0, cost: 0, unpriced: 0 }

export const usage: Projection<UsageState> = {
  key: 'usage',
  stateVersion: 2,
  init: () => ({ total: ZERO, own: ZERO, byModel: [], last: null, route: null }),
  apply(state, event) {
    switch (event.type) {
      case 'assistant/message':
      case 'assistant/attempt':
      case 'session/title-llm-request': {
        const call = usageCall(event, state.route)!
        return {
          total: add({ ...state.total }, call),
          own: add({ ...state.own }, call),
          byModel: byModel(state.byModel, call),
          last: event.type === 'assistant/message' && call.usage ? counts(call.usage) : state.last,
          route: state.route,
        }
      }
      case 'request/header': {
        const { provider, model } = event.data.header.config
        if (state.route?.provider === provider && state.route.model === model) return state
        return { ...state, route: { provider, model } }
      }
      case 'session/end-seed':
        return event.data.inherited ? { ...state, own: ZERO } : state
      default:
        return state
    }
  },
}

/** Adds a call to a fresh copy of a sum. */
function add<S extends UsageSum>(into: S, { usage: call, cost, failed }: UsageCall): S {
  into.calls++
  if (failed) into.failed++
  if (cost) into.cost += cost.total
  else into.unpriced++
  if (!call) return into
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens } = call
  if (inputTokens !== undefined) into.inputTokens = (into.inputTokens ?? 0) + inputTokens
  if (cacheReadTokens !== undefined) into.cacheReadTokens = (into.cacheReadTokens ?? 0) + cacheReadTokens
  if (cacheWriteTokens !== undefined) into.cacheWriteTokens = (into.cacheWriteTokens ?? 0) + cacheWriteTokens
  if (outputTokens !== undefined) into.outputTokens = (into.outputTokens ?? 0) + outputTokens
  if (reasoningTokens !== undefined) into.reasoningTokens = (into.reasoningTokens ?? 0) + reasoningTokens
  return into
}

function byModel(rows: UsageState['byModel'], call: UsageCall): UsageState['byModel'] {
  const { provider, model } = call
  const at = rows.findIndex((row) => row.provider === provider && row.model === model)
  if (at < 0) return [...rows, add({ provider, model, ...ZERO }, call)]
  const next = rows.slice()
  next[at] = add({ ...rows[at]! }, call)
  return next
}

function counts(call: Usage): Omit<Usage, 'raw'> {
  const result: Omit<Usage, 'raw'> = {}
  for (const name of COUNTS) if (call[name] !== undefined) result[name] = call[name]
  return result
}

/** Everything the model read for one call: uncached, cached and newly cached input. */
export const inputOf = (call: Omit<Usage, 'raw'>): number =>
  (call.inputTokens ?? 0) + (call.cacheReadTokens ?? 0) + (call.cacheWriteTokens ?? 0)
