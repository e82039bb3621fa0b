import type { LogEvent, SurfaceOp } from '../wire/events.ts'
import type { Block, Message, ToolResultBlock } from '../wire/messages.ts'
import { each, emptyList, listOf, push, toArray, type AppendList } from './append-list.ts'
import type { Projection } from './projection.ts'

export interface SurfaceNode {
  /** `seq` of the message event; replacements name nodes by it. */
  seq: number
  type: 'user/message' | 'system/message' | 'developer/message' | 'assistant/message' | 'tool/result'
  message: Message
}

export type SurfaceState = AppendList<SurfaceNode>

/** The model's history as a list of message events: appended at the end, or put in the place of a range of earlier nodes. */
export const surface: Projection<SurfaceState> = {
  key: 'surface',
  stateVersion: 1,
  init: () => emptyList(),
  apply(state, event) {
    switch (event.type) {
      case 'user/message':
      case 'system/message':
      case 'developer/message':
      case 'assistant/message':
      case 'tool/result':
        return place(state, { seq: event.seq, type: event.type, message: event.data.message }, surfaceOpOf(event))
      default:
        return state
    }
  },
}

const surfaceOpOf = (event: LogEvent): SurfaceOp => event.surfaceOp ?? 'append'

function place(state: SurfaceState, node: SurfaceNode, op: SurfaceOp): SurfaceState {
  if (op === 'append') return push(state, node)
  const nodes = toArray(state)
  const first = nodes.findIndex((each) => each.seq === op.startSeq)
  const last = nodes.findLastIndex((each) => each.seq === op.endSeq)
  // A range that the surface no longer holds replaces nothing; the message itself is kept all the same.
  if (first < 0 || last < first) return push(state, node)
  return listOf(nodes.toSpliced(first, last - first + 1, node))
}

/** The messages as logged, replacements applied. */
export const surfaceMessages = (state: SurfaceState): Message[] => Array.from(each(state), (node) => node.message)

/** A message of the repaired history, and the `seq` of the event it comes from; for an answer that of its call's message. */
export interface Placed {
  seq: number
  message: Message
}

/**
 * The messages a provider accepts: every tool call is answered right after its message, in the order of the calls, and no
 * result stands without its call. A missing answer becomes an error result; an orphan is left out. Messages that need no
 * repair keep their identity.
 */
export const modelHistory = (state: SurfaceState): Message[] => placedHistory(state).map(({ message }) => message)

/** The same with the place in the log of each. */
export function placedHistory(state: SurfaceState): Placed[] {
  const nodes = toArray(state)
  const claims = claimResults(nodes.map(({ message }) => message))
  const history: Placed[] = []
  nodes.forEach(({ seq, message }, index) => {
    const rest = withoutResults(message)
    if (rest) history.push({ seq, message: rest })
    for (const answer of claims.get(index) ?? []) history.push({ seq, message: answer })
  })
  return history
}

interface OpenCall {
  owner: number
  slot: number
}

/** Per message with tool calls (by index): one answer per call. */
function claimResults(messages: readonly Message[]): Map<number, Message[]> {
  const answers = new Map<number, (Message | undefined)[]>()
  const open = new Map<string, OpenCall[]>()
  messages.forEach((message, index) => {
    callsOf(message).forEach((call, slot) => {
      answers.set(index, answers.get(index) ?? [])
      answers.get(index)![slot] = undefined
      open.set(call, [...(open.get(call) ?? []), { owner: index, slot }])
    })
    for (const block of message.content) {
      if (block.type !== 'tool-result') continue
      const call = open.get(block.toolCallId)?.shift()
      if (call) answers.get(call.owner)![call.slot] = onlyResult(message, block)
    }
  })
  return new Map(
    [...answers].map(([owner, list]) => {
      const calls = callsOf(messages[owner]!)
      return [owner, calls.map((callId, slot) => list[slot] ?? missingAnswer(callId))]
    }),
  )
}

const callsOf = (message: Message): string[] =>
  message.role === 'assistant' ? message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : [])) : []

const onlyResult = (message: Message, block: ToolResultBlock): Message =>
  message.content.length === 1 ? message : { ...message, content: [block] }

function withoutResults(message: Message): Message | undefined {
  if (!message.content.some((block) => block.type === 'tool-result')) return message
  const content = message.content.filter((block: Block) => block.type !== 'tool-result')
  return content.length === 0 ? undefined : { ...message, content }
}

const missingAnswer = (callId: string): Message => ({
  // Derived from the call, so that two requests over the same history are equal byte for byte.
  id: `unanswered:${callId}`,
  role: 'user',
  content: [
    {
      type: 'tool-result',
      toolCallId: callId,
      content: [{ type: 'text', text: 'The result of this call was not recorded. Whether it ran is unknown.' }],
      isError: true,
    },
  ],
  source: { kind: 'tool', callId },
})
