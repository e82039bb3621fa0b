import type { LogEvent } from '../wire/events.ts'

/** A page holds at most this many events and about this many characters, whichever comes first; one event always fits. */
export const PAGE_EVENTS = 400
export const PAGE_CHARS = 512 * 1024

const texts = new WeakMap<LogEvent, string>()

/** JSON of a committed (frozen) event, made once however many tabs read it. */
export function eventText(event: LogEvent): string {
  const known = texts.get(event)
  if (known !== undefined) return known
  const text = JSON.stringify(event)
  texts.set(event, text)
  return text
}

/** The newest events of `events` before index `end`, bounded by count and size. */
export function lastPage(events: readonly LogEvent[], end = events.length, limit = PAGE_EVENTS): readonly LogEvent[] {
  let start = end
  let chars = 0
  while (start > 0 && end - start < limit) {
    chars += eventText(events[start - 1]!).length
    if (chars > PAGE_CHARS && start < end) break
    start--
  }
  return events.slice(start, end)
}
