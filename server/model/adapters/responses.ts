import type { Json } from '../../wire/json.ts'
import { asObject, type WireSpec } from './bind.ts'
import { rawArguments } from './chat.ts'
import { objectArguments, wireText } from './history/arguments.ts'

/** OpenAI's Responses API, without state on their side (`store: false`, LT-22). */
export const responsesWire: WireSpec = {
  keyHeaders: ['authorization'],
  async model({ modelId, baseURL, apiKey, headers, fetch }) {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return { model: createOpenAI({ baseURL, apiKey, headers, fetch }).responses(modelId) }
  },
  providerOptions: (call, request) => {
    const reasons = call.facts.reasoning || call.effort !== undefined
    return {
      openai: {
        store: false,
        promptCacheKey: request.sessionId,
        // Unset, the library asks for `detailed`; and it drops the effort for ids that it does not know (LT-06).
        ...(reasons && { reasoningSummary: 'auto', forceReasoning: true }),
        ...asObject(call.effort?.options),
      },
    }
  },
  rewriteBody: (call, request) => {
    const raw = rawArguments(request.messages)
    // The library's own check also trips over names it takes for an attack, in plain and escaped spelling.
    const suspect = /__proto__|constructor|\\u00/i
    const broken = [...raw].filter(([, text]) => !objectArguments(text) || suspect.test(text))
    if (broken.length === 0) return undefined
    const mode = call.config.malformedArguments ?? 'raw'
    const texts = new Map(broken.map(([id, text]) => [id, wireText(text, mode)]))
    return (body) => ({ ...body, input: (body.input as Json[]).map((item) => restoreItem(item, texts)) })
  },
}

function restoreItem(item: Json, texts: ReadonlyMap<string, string>): Json {
  const entry = asObject(item)
  const text = entry.type === 'function_call' ? texts.get(String(entry.call_id)) : undefined
  return text === undefined ? item : { ...entry, arguments: text }
}
