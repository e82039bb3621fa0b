import type { LogEvent } from '../wire/events.ts'
import type { Page, PageQuery } from './jsonl/page.ts'
import type { SessionLog } from './session-log.ts'

/** The same page from a log that is open here and may be ahead of its file. */
export function pageFromMemory(log: Pick<SessionLog, 'header' | 'events'>, query: PageQuery): Page {
  const { events } = log
  if (query.after !== undefined) {
    const from = Math.max(0, query.after + 1)
    const taken = take(query, (index) => events[from + index])
    return { header: log.header, events: taken, older: from > 0, newer: from + taken.length < events.length }
  }
  const end = Math.max(0, Math.min(query.before ?? events.length, events.length))
  const taken = take(query, (index) => events[end - 1 - index]).toReversed()
  return { header: log.header, events: taken, older: taken.length < end, newer: end < events.length }
}

function take(query: PageQuery, at: (index: number) => LogEvent | undefined): LogEvent[] {
  const taken: LogEvent[] = []
  let bytes = 0
  for (let event = at(0); event && taken.length < query.maxEvents; event = at(taken.length)) {
    bytes += Buffer.byteLength(JSON.stringify(event))
    if (taken.length > 0 && bytes > query.maxBytes) break
    taken.push(event)
  }
  return taken
}
