import type { LogEvent } from '../../../server/wire/events.ts'
import { olderEvents } from '../api.ts'
import { addProblem, clearProblems, get } from './store.ts'

const PAGE = 300

/** Hands out the log of an open session as a file: its header, then one event per line. Works when nothing can be sent. */
export async function exportSession(id: string): Promise<void> {
  const view = get().sessions[id]
  if (view?.kind !== 'open') return
  const place = `session:${id}`
  let events: readonly LogEvent[] = view.events
  while ((events[0]?.seq ?? 0) > 0) {
    const page = await olderEvents(id, events[0]?.seq ?? 0, PAGE)
    if (!page.ok) {
      addProblem({ place, command: 'load', error: page.error, retry: () => void exportSession(id) })
      return
    }
    if (page.value.events.length === 0) break
    events = [...page.value.events, ...events]
  }
  clearProblems(place, 'load')
  const lines = [view.header, ...events].map((record) => `${JSON.stringify(record)}\n`)
  const url = URL.createObjectURL(new Blob(lines, { type: 'application/jsonl' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${id}.jsonl`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
