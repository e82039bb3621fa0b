import type { LanguageModelV4Message, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { Json, JsonObject } from '../../../wire/json.ts'
import type { Block, Message, ReplayState } from '../../../wire/messages.ts'
import { ADAPTER } from '../parts.ts'
import { wireCallId, wireObject } from './arguments.ts'
import type { HistoryTarget } from './prompt.ts'
import { replayKey } from './refused.ts'

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>
type AssistantPart = AssistantMessage['content'][number]

/**
 * One answer of the past. Replay metadata goes back only to the adapter and wire it came from (1.9); everywhere else the
 * message is neutral, its reasoning dropped or, on chat routes that ask for it, sent as text.
 */
export function assistantMessage(message: Message, target: HistoryTarget): AssistantMessage | undefined {
  const replay = usableReplay(message, target)
  const content = message.content.flatMap((block, index) => assistantPart(block, replay?.blocks[index] ?? null, target))
  if (content.length === 0) return undefined
  if (target.wire === 'gemini' && SIGNED_CALLS.test(target.facts.id ?? '')) vouch(content)
  const extra = target.wire === 'chat' ? responseOptions(replay, target) : undefined
  return { role: 'assistant', content, ...(extra && { providerOptions: extra }) }
}

/** From the third generation on, Gemini refuses a group of calls whose first one has no signature. */
const SIGNED_CALLS = /gemini-([3-9]|\d{2})/

/** The value that Google documents for calls of another model; on the first call of a group that has no signature. */
function vouch(content: AssistantPart[]): void {
  const calls = content.filter((part) => part.type === 'tool-call')
  const first = calls[0]
  if (!first || calls.some((call) => call.providerOptions?.google?.thoughtSignature)) return
  first.providerOptions = { google: { thoughtSignature: 'skip_thought_signature_validator' } }
}

function usableReplay(message: Message, target: HistoryTarget): ReplayState | undefined {
  const replay = message.source.kind === 'model' ? message.source.replayState : undefined
  if (!replay || replay.adapter !== ADAPTER || replay.wire !== target.wire) return undefined
  if (target.refused?.has(replayKey(message))) return undefined
  if (Array.isArray(replay.blocks) && replay.blocks.length === message.content.length) return replay
  target.warn('replay-state', `The replay data of message ${message.id} does not fit its blocks; it went out without.`)
  return undefined
}

function assistantPart(block: Block, meta: Json | null, target: HistoryTarget): AssistantPart[] {
  const options = providerOptions(meta)
  switch (block.type) {
    case 'text':
      if (block.text.trim() === '' && !options) return []
      return [{ type: 'text', text: block.text, ...(options && { providerOptions: options }) }]
    case 'reasoning':
      return reasoningPart(block.text, options, target)
    case 'tool-call':
      return [
        {
          type: 'tool-call',
          toolCallId: wireCallId(block.id, target.wire),
          toolName: block.name,
          // Text wires get the raw text, restored in the body afterwards (LT-03); object wires an object.
          input: target.wire === 'chat' || target.wire === 'responses' ? block.arguments : wireObject(block.arguments),
          ...(options && { providerOptions: options }),
        },
      ]
    case 'image':
    case 'tool-result':
      return []
  }
}

function reasoningPart(
  text: string,
  options: SharedV4ProviderOptions | undefined,
  target: HistoryTarget,
): AssistantPart[] {
  const part = (): AssistantPart[] => [{ type: 'reasoning', text, ...(options && { providerOptions: options }) }]
  switch (target.wire) {
    case 'chat':
      return sendsText(target) && text !== '' ? [{ type: 'reasoning', text }] : []
    case 'responses':
      return options?.openai?.reasoningEncryptedContent ? part() : []
    case 'messages':
      return options?.anthropic?.signature || options?.anthropic?.redactedData ? part() : []
    case 'gemini':
      return options?.google?.thoughtSignature ? part() : []
  }
}

const sendsText = (target: HistoryTarget): boolean =>
  target.facts.sendBack === 'reasoning_content' || target.facts.sendBack === 'reasoning'

/** OpenRouter wants its `reasoning_details` back on the message; the library spreads these options into it. */
function responseOptions(replay: ReplayState | undefined, target: HistoryTarget): SharedV4ProviderOptions | undefined {
  if (target.facts.sendBack !== 'reasoning_details') return undefined
  const details = isObject(replay?.response) ? replay.response.reasoning_details : undefined
  return details ? { openaiCompatible: { reasoning_details: details } } : undefined
}

function providerOptions(meta: Json | null): SharedV4ProviderOptions | undefined {
  if (!isObject(meta)) return undefined
  const spaces = Object.entries(meta).filter(([, value]) => isObject(value))
  return spaces.length > 0 ? (Object.fromEntries(spaces) as SharedV4ProviderOptions) : undefined
}

const isObject = (value: Json | null | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
