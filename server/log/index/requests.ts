import type { Header, LogEvent } from '../../wire/events.ts'
import { whole } from './columns.ts'
import { usageCall, type RouteRef } from '../../projection/usage-call.ts'

/** One request to a model; or that the one before was tried again; or that all before are another session's. */
export type RequestNote =
  | RequestEntry
  | { session: string; seq: number; retriedBefore: true }
  | { session: string; seq: number; inheritedBefore: true }

export interface RequestEntry {
  session: string
  seq: number
  /** When it ended, in ms since the epoch. */
  at: number
  columns: (string | number | null)[]
}

/** In the order of `RequestEntry.columns`. */
export const REQUEST_COLUMNS = [
  'provider',
  'model',
  'kind',
  'input',
  'cache_read',
  'cache_write',
  'output',
  'reasoning',
  'cost_input',
  'cost_cache_read',
  'cost_cache_write',
  'cost_output',
  'saved',
  'priced',
  'failed',
  'first_ms',
  'ms',
] as const

/**
 * The requests among `events`. A fork's inherited ones belong to its parent and are counted there. `route` is that of the
 * header before the first event.
 */
export function requestsOf(header: Header, events: readonly LogEvent[], route: RouteRef | null): RequestNote[] {
  const first = (header.seedSeq ?? -1) + 1
  const notes: RequestNote[] = []
  let current = route
  for (const event of events) {
    if (event.type === 'request/header') current = event.data.header.config
    if (event.seq < first) continue
    // A fork that was cut loose from its parent has a copy of what it inherited, and its header does not say how much.
    if (event.type === 'session/end-seed' && event.data.inherited)
      notes.push({ session: header.id, seq: event.seq, inheritedBefore: true })
    if (event.type === 'llm/retry-started') notes.push({ session: header.id, seq: event.seq, retriedBefore: true })
    const call = usageCall(event, current)
    if (!call) continue
    const { usage = {}, cost } = call
    const columns = [
      call.provider.toWellFormed(),
      call.model.toWellFormed(),
      call.kind,
      whole(usage.inputTokens),
      whole(usage.cacheReadTokens),
      whole(usage.cacheWriteTokens),
      whole(usage.outputTokens),
      whole(usage.reasoningTokens),
      cost?.input ?? 0,
      cost?.cacheRead ?? 0,
      cost?.cacheWrite ?? 0,
      cost?.output ?? 0,
      call.saved,
      cost ? 1 : 0,
      call.failed ? 1 : 0,
      whole(call.firstMs),
      whole(call.ms),
    ]
    notes.push({ session: header.id, seq: event.seq, at: whole(event.time) ?? 0, columns })
  }
  return notes
}
