import { draft, type Draft, type LogEvent } from '../../wire/events.ts'
import type { Block } from '../../wire/messages.ts'
import type { Journalled, JournalRow } from './journal.ts'

/** Rows of a cut-off answer to the blocks that are kept of it. */
export type Assemble = (rows: readonly JournalRow[], finish: 'aborted') => Block[]

/** Text and reasoning by block, blank ones left out; tool calls of a cut-off answer are never kept. */
export const joinRows: Assemble = (rows) => {
  const blocks = new Map<number, { type: 'text' | 'reasoning'; text: string }>()
  for (const row of rows) {
    if (row.k === 'tool') continue
    const block = blocks.get(row.i)
    if (block) block.text += row.s
    else blocks.set(row.i, { type: row.k, text: row.s })
  }
  return [...blocks.values()].filter((block) => block.text.trim() !== '')
}

/** The interrupted answer that a journal holds, if it belongs to the open step at the end of the log (SL-11). */
export function recoveredAnswer(
  events: readonly LogEvent[],
  journal: Journalled | null,
  options: { assemble: Assemble; newId: () => string },
): Draft<'assistant/message'> | null {
  if (!journal) return null
  const { turn, step, attempt, requestHeaderSeq } = journal.head
  const header = events[requestHeaderSeq]
  if (header?.type !== 'request/header' || !stepStillOpen(events, { turn, step, attempt })) return null
  const content = options.assemble(journal.rows, 'aborted')
  if (content.length === 0) return null
  const { provider, model } = header.data.header.config
  return draft('assistant/message', {
    turn,
    step,
    message: { id: options.newId(), role: 'assistant', content, source: { kind: 'model', provider, model } },
    stream: [],
    interrupted: true,
  })
}

function stepStillOpen(events: readonly LogEvent[], at: { turn: number; step: number; attempt: number }): boolean {
  const start = events.findLastIndex((event) => event.type === 'step/start' || event.type === 'turn/end')
  const opening = events[start]
  if (opening?.type !== 'step/start' || opening.data.turn !== at.turn || opening.data.step !== at.step) return false
  let failed = 0
  for (let index = start + 1; index < events.length; index++) {
    const event = events[index]!
    if (event.type === 'step/end' || event.type === 'assistant/message') return false
    if (event.type === 'assistant/attempt') failed = Math.max(failed + 1, event.data.attempt ?? 0)
  }
  // The attempt that the journal tells of is on record already: its truncation was what the crash prevented.
  return at.attempt > failed
}
