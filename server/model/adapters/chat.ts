import type { Json, JsonObject } from '../../wire/json.ts'
import type { Message } from '../../wire/messages.ts'
import { asObject, type BoundCall, type WireSpec } from './bind.ts'
import { wireCallId, wireText } from './history/arguments.ts'

/** Chat completions: DeepSeek, OpenRouter, vLLM, Ollama, llama.cpp and gateways. */
export const chatWire: WireSpec = {
  keyHeaders: ['authorization'],
  async model({ call, modelId, baseURL, apiKey, headers, fetch }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const raw = new RawChunks()
    const provider = createOpenAICompatible({
      name: 'openaiCompatible',
      baseURL,
      headers,
      fetch,
      includeUsage: call.config.includeUsage ?? true,
      ...(call.apiKey !== undefined && { apiKey }),
      metadataExtractor: {
        extractMetadata: async () => undefined,
        createStreamExtractor: () => ({
          processChunk: (chunk) => raw.see(chunk as Json),
          buildMetadata: () => undefined,
        }),
      },
    })
    return { model: provider.chatModel(modelId), response: () => raw.response(), takeTokens: () => raw.takeTokens() }
  },
  providerOptions: (call) => ({ openaiCompatible: asObject(call.effort?.options) }),
  rewriteBody: (call, request) => {
    const raw = rawArguments(request.messages)
    return (body) => ({
      ...body,
      messages: asArray(body.messages).map((message) => repair(asObject(message), call, raw)),
    })
  },
  mapEvent: (data, text) => {
    const chunk = asObject(data as Json)
    if (data === undefined || Array.isArray(chunk.choices) || chunk.error !== undefined) return text
    return chunk.usage ? JSON.stringify({ ...chunk, choices: [] }) : null
  },
}

/** Raw argument texts of all calls in a history, by the call id of the wire. */
export function rawArguments(messages: readonly Message[]): Map<string, string> {
  const calls = messages.flatMap((message) => message.content.filter((block) => block.type === 'tool-call'))
  return new Map(calls.map((call) => [wireCallId(call.id, 'chat'), call.arguments]))
}

function repair(message: JsonObject, call: BoundCall, raw: ReadonlyMap<string, string>): JsonObject {
  if (message.role !== 'assistant') return message
  const { reasoning_content, ...rest } = message
  const calls = asArray(message.tool_calls).map((entry) => restoreCall(asObject(entry), call, raw))
  return {
    ...rest,
    // Some gateways refuse null (LT-01).
    content: message.content ?? '',
    ...reasoningField(call, reasoning_content, calls.length > 0),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** The name the server reads; one that insists on the field gets it empty on turns of another model (B19). */
function reasoningField(call: BoundCall, text: Json | undefined, hasCalls: boolean): JsonObject {
  if (call.facts.sendBack === 'reasoning') return text === undefined ? {} : { reasoning: text }
  if (call.facts.sendBack !== 'reasoning_content') return {}
  if (text !== undefined) return { reasoning_content: text }
  return hasCalls ? { reasoning_content: '' } : {}
}

/** The library rewrites arguments that are no clean JSON; the model must see its own text again (LT-03). */
function restoreCall(entry: JsonObject, call: BoundCall, raw: ReadonlyMap<string, string>): JsonObject {
  const text = raw.get(String(entry.id))
  if (text === undefined) return entry
  const arguments_ = wireText(text, call.config.malformedArguments ?? 'raw')
  return { ...entry, function: { ...asObject(entry.function), arguments: arguments_ } }
}

const asArray = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

/** Fields of raw chunks that the library strips (LT-18): token ids, logprobs and OpenRouter's reasoning details. */
class RawChunks {
  #tokens: { ids: number[]; logprobs?: number[] }[] = []
  readonly #details: JsonObject[] = []

  see(chunk: Json): void {
    const choice = asObject(asArray(asObject(chunk).choices)[0])
    const ids = asArray(choice.token_ids).filter((id) => typeof id === 'number')
    if (ids.length > 0) this.#tokens.push({ ids, ...logprobs(choice) })
    for (const detail of asArray(asObject(choice.delta).reasoning_details)) this.#detail(asObject(detail))
  }

  takeTokens(): { ids: number[]; logprobs?: number[] }[] {
    const tokens = this.#tokens
    if (tokens.length > 0) this.#tokens = []
    return tokens
  }

  response(): Json | undefined {
    return this.#details.length > 0 ? { reasoning_details: this.#details } : undefined
  }

  /** Details stream as fragments of one entry per index; their texts are joined. */
  #detail(part: JsonObject): void {
    const known = this.#details.findIndex((entry) => entry.index === part.index && entry.type === part.type)
    if (known < 0 || part.index === undefined) {
      this.#details.push(part)
      return
    }
    const entry = this.#details[known]!
    for (const [key, value] of Object.entries(part)) {
      if (value === null) continue
      const joined = key === 'text' || key === 'summary' || key === 'data'
      entry[key] = joined && typeof value === 'string' ? `${String(entry[key] ?? '')}${value}` : value
    }
  }
}

function logprobs(choice: JsonObject): { logprobs?: number[] } {
  const values = asArray(asObject(choice.logprobs).content).map((entry) => asObject(entry).logprob)
  const numbers = values.filter((value) => typeof value === 'number')
  return numbers.length > 0 ? { logprobs: numbers } : {}
}
