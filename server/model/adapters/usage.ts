import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Json, JsonObject } from '../../wire/json.ts'
import type { Usage, WireFamily } from '../../wire/messages.ts'
import { never } from '../../wire/never.ts'
import type { StreamEvent } from '../port.ts'

/** Our counts from the vendor's own object: the library writes 0 where the vendor said nothing. */
export function usageEvent(wire: WireFamily, usage: LanguageModelV4Usage): StreamEvent {
  const raw = usage.raw as JsonObject | undefined
  if (!raw) return { t: 'usage', usage: {} }
  return { t: 'usage', usage: readUsage(wire, raw), raw }
}

/** Disjoint counts of one vendor usage object; what it does not say stays absent. */
export function readUsage(wire: WireFamily, raw: JsonObject): Usage {
  switch (wire) {
    case 'chat': {
      const cached = number(raw.prompt_cache_hit_tokens) ?? number(inner(raw.prompt_tokens_details).cached_tokens)
      return counts({
        inputTokens: minus(number(raw.prompt_tokens), cached),
        cacheReadTokens: cached,
        outputTokens: number(raw.completion_tokens),
        reasoningTokens: number(inner(raw.completion_tokens_details).reasoning_tokens),
      })
    }
    case 'responses': {
      const cached = number(inner(raw.input_tokens_details).cached_tokens)
      return counts({
        inputTokens: minus(number(raw.input_tokens), cached),
        cacheReadTokens: cached,
        outputTokens: number(raw.output_tokens),
        reasoningTokens: number(inner(raw.output_tokens_details).reasoning_tokens),
      })
    }
    case 'messages':
      return counts({
        inputTokens: number(raw.input_tokens),
        cacheReadTokens: number(raw.cache_read_input_tokens),
        cacheWriteTokens: number(raw.cache_creation_input_tokens),
        outputTokens: number(raw.output_tokens),
        reasoningTokens: number(inner(raw.output_tokens_details).thinking_tokens),
      })
    case 'gemini': {
      const cached = number(raw.cachedContentTokenCount)
      const thoughts = number(raw.thoughtsTokenCount)
      const candidates = number(raw.candidatesTokenCount)
      return counts({
        inputTokens: minus(number(raw.promptTokenCount), cached),
        cacheReadTokens: cached,
        outputTokens:
          candidates === undefined && thoughts === undefined ? undefined : (candidates ?? 0) + (thoughts ?? 0),
        reasoningTokens: thoughts,
      })
    }
    default:
      return never(wire)
  }
}

const number = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined)

const inner = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}

const minus = (total: number | undefined, part: number | undefined): number | undefined =>
  total === undefined ? undefined : Math.max(0, total - (part ?? 0))

function counts(all: { [K in keyof Omit<Usage, 'raw'>]: Usage[K] | undefined }): Usage {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Usage
}
