import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Json } from '../../wire/json.ts'
import { asObject, type WireSpec } from './bind.ts'

const KNOWN_EVENTS = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
])
const CACHE = { anthropic: { cacheControl: { type: 'ephemeral' } } }

/** Anthropic's Messages API. */
export const messagesWire: WireSpec = {
  keyHeaders: ['x-api-key'],
  async model({ call, modelId, baseURL, apiKey, headers, fetch }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    const { generateId } = call.deps
    const provider = createAnthropic({ baseURL, apiKey, headers, fetch, ...(generateId && { generateId }) })
    return { model: provider.languageModel(modelId) }
  },
  providerOptions: (call) => ({
    anthropic: { toolStreaming: call.config.toolStreaming ?? false, ...asObject(call.effort?.options) },
  }),
  /** The library adds the thinking budget to the limit (LT-05): take it off first, so that the limit stays what was asked. */
  outputLimit(call, maxTokens) {
    const budget = asObject(asObject(call.effort?.options).thinking).budgetTokens
    return typeof budget === 'number' && budget < maxTokens ? maxTokens - budget : maxTokens
  },
  /** Cache marks on the system text, the last tool and the last two user turns: four is the provider's limit. */
  mark(prompt, tools) {
    const tool = tools.at(-1)
    if (tool) tool.providerOptions = CACHE
    const first = prompt[0]
    if (first?.role === 'system') first.providerOptions = CACHE
    for (const message of lastUserTurns(prompt, 2)) message.providerOptions = { ...message.providerOptions, ...CACHE }
  },
  mapEvent: (data, text) => {
    if (data === undefined) return text
    return KNOWN_EVENTS.has(String(asObject(data as Json).type)) ? text : null
  },
}

function lastUserTurns(prompt: LanguageModelV4Prompt, count: number): LanguageModelV4Prompt {
  const turns = prompt.filter(
    (message, index) =>
      (message.role === 'user' || message.role === 'tool') &&
      // Neighbours are merged on the wire, so only the last of a group begins a new cache entry.
      prompt[index + 1]?.role !== 'user' &&
      prompt[index + 1]?.role !== 'tool',
  )
  return turns.slice(-count)
}
