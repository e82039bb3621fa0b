import type { LogEvent, TurnError } from '../wire/events.ts'
import type { Usage } from '../wire/messages.ts'
import { costOf, savedBy, type Cost } from './cost.ts'

/** The way a request went. */
export interface RouteRef {
  provider: string
  model: string
}

/** One request to a model as its event tells it: an answer, a failed attempt, or the writing of a title. */
export interface UsageCall extends RouteRef {
  kind: 'turn' | 'title'
  usage: Usage | undefined
  failed: boolean
  /** Null: unknown, so it is in no sum of money. A request that was refused before anything was made of it cost nothing. */
  cost: Cost | null
  saved: number
  /** Milliseconds to the first delta, and to the end. */
  firstMs: number | undefined
  ms: number | undefined
}

const NOWHERE: RouteRef = { provider: '', model: '' }
const FREE: Cost = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, total: 0 }

/** Null for an event that is no request. `route` is that of the latest header, for attempts of older logs that do not say theirs. */
export function usageCall(event: LogEvent, route: RouteRef | null): UsageCall | null {
  switch (event.type) {
    case 'assistant/message': {
      const { message, usage, price, firstDeltaMs, ms } = event.data
      const { provider, model } = message.source.kind === 'model' ? message.source : (route ?? NOWHERE)
      const money = { cost: costOf(usage, price), saved: savedBy(usage, price) }
      return { provider, model, kind: 'turn', usage, failed: false, ...money, firstMs: firstDeltaMs, ms }
    }
    case 'assistant/attempt': {
      const { usage, price, error, stream, firstDeltaMs, ms } = event.data
      const { provider = route?.provider ?? '', model = route?.model ?? '' } = event.data
      const refused = !usage && stream.length === 0 && wasRefused(error)
      const money = { cost: refused ? FREE : costOf(usage, price), saved: savedBy(usage, price) }
      return { provider, model, kind: 'turn', usage, failed: true, ...money, firstMs: firstDeltaMs, ms }
    }
    case 'session/title-llm-request': {
      const { provider, model, usage, price, error, ms } = event.data
      const money = { cost: !usage && wasRefused(error) ? FREE : costOf(usage, price), saved: savedBy(usage, price) }
      return { provider, model, kind: 'title', usage, failed: error !== undefined, ...money, firstMs: undefined, ms }
    }
    default:
      return null
  }
}

/** The endpoint answered with an error status, or was never reached: nobody bills that. A cut or silent answer may be billed. */
function wasRefused(error: TurnError | undefined): boolean {
  if (!error) return false
  if (error.status !== undefined && error.status >= 400) return true
  return error.transport !== undefined && error.transport !== 'reset'
}
