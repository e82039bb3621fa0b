import type { LogEvent } from '../wire/events.ts'
import type { Message, Usage } from '../wire/messages.ts'
import { blocksTokens, jsonTokens } from '../wire/tokens.ts'
import type { Projection } from './projection.ts'
import type { SessionState } from './session-state.ts'
import { inputOf } from './usage.ts'
import type { RouteRef } from './usage-call.ts'

/** Estimated tokens of what a request is made of. */
export interface ContextParts {
  system: number
  tools: number
  messages: number
}

/** What a provider counted, and what the estimate was of the same content. */
interface Anchor extends RouteRef {
  tokens: number
  estimate: number
}

export interface ContextState extends ContextParts {
  /** `seq` of the system message in force. */
  systemSeq: number | null
  /** Which tools `tools` stands for. */
  toolsDigest: string | null
  /** False after a range of messages was replaced: only the next reported count tells again what is held. */
  known: boolean
  anchor: Anchor | null
}

/**
 * How much of the model's window the history takes. What the provider counted in the latest answered call is the anchor;
 * estimates say by how much it has changed since. Every event costs the same, however long the log.
 */
export const context: Projection<ContextState> = {
  key: 'context',
  stateVersion: 1,
  init: () => ({ system: 0, tools: 0, messages: 0, systemSeq: null, toolsDigest: null, known: true, anchor: null }),
  apply(state, event) {
    switch (event.type) {
      case 'system/message':
        return withSystem(state, event)
      case 'user/message':
      case 'developer/message':
      case 'tool/result':
        return withMessage(state, event, event.data.message)
      case 'assistant/message':
        return withAnswer(state, event)
      case 'request/header': {
        const { header, compositionDigest } = event.data
        // The digest covers the tools: equal ones are not measured again.
        if (compositionDigest === state.toolsDigest) return state
        const tools = header.tools?.length ? jsonTokens(JSON.stringify(header.tools)) : 0
        return { ...state, tools, toolsDigest: compositionDigest }
      }
      default:
        return state
    }
  },
}

/** The request holds one system prompt: the latest. */
function withSystem(state: ContextState, event: LogEvent<'system/message'>): ContextState {
  const { surfaceOp: op = 'append', seq } = event
  const inPlace = op === 'append' || (op.startSeq === state.systemSeq && op.endSeq === state.systemSeq)
  const system = blocksTokens(event.data.message.content)
  return { ...(inPlace ? state : lost(state)), system, systemSeq: seq }
}

function withMessage(state: ContextState, event: LogEvent, message: Message): ContextState {
  const next = event.surfaceOp === 'append' || event.surfaceOp === undefined ? { ...state } : lost(state)
  next.messages += blocksTokens(message.content)
  return next
}

function withAnswer(state: ContextState, event: LogEvent<'assistant/message'>): ContextState {
  const { message, usage, interrupted } = event.data
  const { source, content } = message
  const next = withMessage(state, event, message)
  if (source.kind !== 'model' || usage === undefined) return next
  if ((usage.inputTokens ?? usage.cacheReadTokens ?? usage.cacheWriteTokens) === undefined) return next
  const answer = (!interrupted && answered(usage)) || blocksTokens(content)
  const { provider, model } = source
  next.known = true
  next.anchor = { provider, model, tokens: inputOf(usage) + answer, estimate: sumOf(next) }
  return next
}

/** What of the answer goes back with the next request; a count that came early is of the beginning only. */
const answered = ({ outputTokens, reasoningTokens = 0 }: Usage): number | undefined =>
  outputTokens === undefined ? undefined : Math.max(0, outputTokens - reasoningTokens)

/** How long the replaced messages were is not kept: it would have to be for each of them. */
const lost = (state: ContextState): ContextState => ({ ...state, messages: 0, known: false, anchor: null })

const sumOf = ({ system, tools, messages }: ContextParts): number => system + tools + messages

export interface ContextReading {
  /** Whole tokens. */
  tokens: number
  /** Counted by the provider; the same with what came since; or estimated as a whole. */
  basis: 'reported' | 'adjusted' | 'estimate'
  /** Of the model that `tokens` is for; absent when it is not known. */
  window?: number
  /** Whole tokens that add up to `tokens`; absent when a reported count cannot be told apart. */
  parts?: ContextParts
}

/** What the next request will hold of the model's window; undefined where nothing was sent yet or nothing is known. */
export function contextReading(state: SessionState): ContextReading | undefined {
  const { context: held, lastHeader, model } = state
  if (held.messages === 0 && !held.anchor) return undefined
  const route: RouteRef | null = model.next ?? lastHeader
  const same = (other: RouteRef | null): boolean => other?.provider === route?.provider && other?.model === route?.model
  const anchor = held.anchor && same(held.anchor) ? held.anchor : null
  if (!anchor && !held.known) return undefined
  const window = lastHeader && same(lastHeader) ? lastHeader.contextWindow : null
  const change = anchor ? sumOf(held) - anchor.estimate : 0
  const tokens = Math.max(0, Math.round(anchor ? anchor.tokens + change : sumOf(held)))
  const basis = !anchor ? 'estimate' : Math.round(change) === 0 ? 'reported' : 'adjusted'
  return { tokens, basis, ...(window !== null && { window }), parts: partsOf(held, tokens) }
}

/** Prompt and tools as estimated, the messages as what is left: the sum is the one that is shown. */
function partsOf(held: ContextState, tokens: number): ContextParts {
  const fixed = held.system + held.tools
  const scale = fixed > tokens ? tokens / fixed : 1
  const system = Math.floor(held.system * scale)
  const tools = Math.floor(held.tools * scale)
  return { system, tools, messages: tokens - system - tools }
}
