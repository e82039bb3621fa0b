import { draft, type Draft, type InboxTarget, type LogEvent } from '../wire/events.ts'
import type { InboxState } from '../projection/inbox.ts'

interface OpenCall {
  callId: string
  turn: number
  step: number
  /** `seq` of the `tool/call`, when the call had begun. */
  startedSeq: number | null
}

interface OpenTail {
  turn: number | null
  step: number | null
  calls: OpenCall[]
  asks: { turn: number; step: number; id: string }[]
}

export interface CloserOptions {
  reason: 'interrupted' | 'forked'
  /** Ids of the result messages. */
  newId: () => string
  /** With its claimed rows still standing, a claim was torn: the missing removals are added. */
  inbox?: InboxState
}

/**
 * What ends an open tail: the cancelled questions to a person, an error result per unanswered tool call, `step/end`, `turn/end`, and the inbox removals that a
 * torn claim left out (SL-12, contracts 2.3 step 8). Empty when nothing is open, so doing it twice adds nothing.
 */
export function closers(events: readonly LogEvent[], options: CloserOptions): Draft[] {
  const drafts: Draft[] = options.inbox ? tornRemovals(options.inbox) : []
  const tail = openTail(events)
  if (tail.turn === null) return drafts
  for (const ask of tail.asks) drafts.push(draft('approval/decided', { ...ask, outcome: 'cancelled' }))
  for (const call of tail.calls) drafts.push(unanswered(call, options.newId()))
  if (tail.step !== null) drafts.push(draft('step/end', { turn: tail.turn, step: tail.step }))
  drafts.push(draft('turn/end', { turn: tail.turn, reason: { kind: options.reason } }))
  return drafts
}

function openTail(events: readonly LogEvent[]): OpenTail {
  const start = events.findLastIndex((event) => event.type === 'turn/start' || event.type === 'turn/end')
  const tail: OpenTail = { turn: null, step: null, calls: [], asks: [] }
  const first = events[start]
  if (first?.type !== 'turn/start') return tail
  tail.turn = first.data.turn
  for (let index = start + 1; index < events.length; index++) follow(tail, events[index]!)
  return tail
}

function follow(tail: OpenTail, event: LogEvent): void {
  switch (event.type) {
    case 'step/start':
      tail.step = event.data.step
      return
    case 'step/end':
      tail.step = null
      return
    case 'assistant/message': {
      const { turn, step } = event.data
      for (const block of event.data.message.content) {
        if (block.type === 'tool-call') tail.calls.push({ callId: block.id, turn, step, startedSeq: null })
      }
      return
    }
    case 'tool/call': {
      const { callId } = event.data
      tail.calls = tail.calls.map((call) => (call.callId === callId ? { ...call, startedSeq: event.seq } : call))
      return
    }
    case 'approval/asked': {
      const { turn, step, id } = event.data
      tail.asks.push({ turn, step, id })
      return
    }
    case 'approval/decided':
      tail.asks = tail.asks.filter(({ id }) => id !== event.data.id)
      return
    case 'tool/result':
      for (const block of event.data.message.content) {
        if (block.type === 'tool-result') tail.calls = tail.calls.filter((call) => call.callId !== block.toolCallId)
      }
      return
    default:
      return
  }
}

function unanswered(call: OpenCall, id: string): Draft<'tool/result'> {
  const started = call.startedSeq !== null
  const text = started
    ? 'The session ended while this call was running. Its outcome is unknown: check before repeating it.'
    : 'The session ended before this call was started. It did not run.'
  return draft(
    'tool/result',
    {
      turn: call.turn,
      step: call.step,
      message: {
        id,
        role: 'user',
        content: [{ type: 'tool-result', toolCallId: call.callId, content: [{ type: 'text', text }], isError: true }],
        source: { kind: 'tool', callId: call.callId },
      },
      error: { code: started ? 'TOOL_OUTCOME_UNKNOWN' : 'TOOL_NOT_STARTED' },
    },
    started ? { sourceEventSeqs: [call.startedSeq!] } : {},
  )
}

function tornRemovals(state: InboxState): Draft[] {
  return (['next-turn', 'next-step'] as const).flatMap((target) => removals(state, target))
}

function removals(state: InboxState, target: InboxTarget): Draft[] {
  const drafts: Draft[] = []
  state[target].forEach((row, index) => {
    // Earlier removals have moved this row towards the front.
    const start = index - drafts.length
    if (row.claimed) drafts.push(draft('agent/inbox/spliced', { target, start, removedCount: 1, inserted: [] }))
  })
  return drafts
}
