import type {
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { Json, JsonObject } from '../../wire/json.ts'
import type { RequestHeader, WireFamily } from '../../wire/messages.ts'
import { never } from '../../wire/never.ts'
import type { BuiltRequest, EffortCard, ModelFacts, StreamEvent } from '../port.ts'
import { classify } from '../taxonomy.ts'
import { wireFetch, type Fetch, type WireFacts } from '../transport.ts'
import type { BoundModel } from './aisdk.ts'
import type { ProviderConfig, ProviderDeps } from './config.ts'
import { toPrompt } from './history/prompt.ts'
import { callHeaders } from './headers.ts'
import type { PartsOptions } from './parts.ts'
import { routeDefaults } from './route-options.ts'

/** Everything one call is bound to: one generation of the configuration (LP-01). */
export interface BoundCall {
  config: ProviderConfig
  deps: ProviderDeps
  header: RequestHeader
  facts: ModelFacts
  effort: EffortCard | undefined
  apiKey: string | undefined
  refused: Set<string>
}

export interface ModelSetup {
  call: BoundCall
  request: BuiltRequest
  modelId: string
  baseURL: string
  /** The key, or a stand-in whose header is removed again: three libraries throw without one (1.12). */
  apiKey: string
  headers: { [name: string]: string }
  fetch: Fetch
}

/** What is particular to one wire. */
export interface WireSpec {
  /** Headers to take out of a keyless request. */
  keyHeaders: readonly string[]
  model(setup: ModelSetup): Promise<{
    model: LanguageModelV4
    response?(): Json | undefined
    takeTokens?(): { ids: number[]; logprobs?: number[] }[]
  }>
  providerOptions(call: BoundCall, request: BuiltRequest): SharedV4ProviderOptions
  /** Last changes to prompt and tools, for example cache marks. */
  mark?(prompt: LanguageModelV4Prompt, tools: LanguageModelV4FunctionTool[]): void
  /** Undefined where the body needs no change; `extraBody` and effort patches are merged by the caller. */
  rewriteBody?(call: BoundCall, request: BuiltRequest): ((body: JsonObject) => JsonObject) | undefined
  mapEvent?(data: unknown, text: string): string | null
  /** Output limit to hand to a library that adds to it by itself. */
  outputLimit?(call: BoundCall, maxTokens: number): number
}

export const wireSpec = async (wire: WireFamily): Promise<WireSpec> => {
  switch (wire) {
    case 'chat':
      return (await import('./chat.ts')).chatWire
    case 'responses':
      return (await import('./responses.ts')).responsesWire
    case 'messages':
      return (await import('./messages.ts')).messagesWire
    case 'gemini':
      return (await import('./gemini.ts')).geminiWire
    default:
      return never(wire)
  }
}

/** What the event table needs, before anything of the call exists. */
export function partsOf(call: BoundCall, request: BuiltRequest, facts: () => WireFacts): PartsOptions {
  const secrets = () => [...(call.deps.credentials.secrets?.() ?? []), ...(call.apiKey ? [call.apiKey] : [])]
  return {
    wire: call.config.wire,
    ...(call.facts.inlineThink && { inlineThink: true }),
    classify: (error) => {
      const { watchdog, status, headers, requestId, host, proxy } = facts()
      return classify(error, {
        signal: request.signal,
        secrets: secrets(),
        ...(watchdog && { watchdog }),
        ...(status !== undefined && { httpStatus: status }),
        ...(headers && { headers }),
        ...(requestId !== undefined && { requestId }),
        ...(host !== undefined && { host }),
        ...(proxy !== undefined && { proxy }),
        ...(call.deps.now && { now: call.deps.now }),
      })
    },
    requestId: () => facts().requestId,
  }
}

export async function bindModel(
  call: BoundCall,
  request: BuiltRequest,
  onFacts: (facts: WireFacts) => void,
): Promise<BoundModel> {
  const spec = await wireSpec(call.config.wire)
  const warnings: StreamEvent[] = []
  const rewriteBody = bodyPatch(call, spec.rewriteBody?.(call, request))
  const { firstByteMs, idleMs } = routeDefaults(call.config)
  const { headers, ...keyedHeaders } = callHeaders(call, request, spec.keyHeaders)
  const { fetch, facts } = wireFetch({
    ...(call.deps.fetch && { fetch: call.deps.fetch }),
    ...(call.config.proxy !== undefined && { proxy: call.config.proxy }),
    firstByteMs,
    idleMs,
    ...keyedHeaders,
    ...(rewriteBody && { rewriteBody }),
    ...(call.config.dropForeignChunks && spec.mapEvent && { mapEvent: spec.mapEvent }),
    onSent: ({ path, bytes, sha256 }) => request.onSent?.({ path, bytes, sha256 }),
  })
  onFacts(facts)
  const prompt = await toPrompt(request.system, request.messages, {
    wire: call.config.wire,
    facts: call.facts,
    loadBlob: call.deps.loadBlob,
    ...(call.config.imageBudget && { budget: call.config.imageBudget }),
    refused: call.refused,
    warn: (feature, detail) => warnings.push({ t: 'warn', feature, detail }),
  })
  const tools = request.tools.map(({ name, description, parameters }): LanguageModelV4FunctionTool => ({
    type: 'function',
    name,
    description,
    inputSchema: parameters,
  }))
  spec.mark?.(prompt, tools)
  const { model, response, takeTokens } = await spec.model({
    call,
    request,
    modelId: call.header.config.model,
    baseURL: call.config.baseURL.replace(/\/+$/, ''),
    apiKey: call.apiKey ?? 'keyless',
    headers,
    fetch,
  })
  return {
    model,
    options: {
      prompt,
      ...callOptions(call, spec, tools),
      providerOptions: spec.providerOptions(call, request),
      abortSignal: request.signal,
    },
    parts: { ...partsOf(call, request, () => facts), ...(response && { response }) },
    ...(takeTokens && { takeTokens }),
    warnings,
  }
}

function callOptions(call: BoundCall, spec: WireSpec, tools: LanguageModelV4FunctionTool[]) {
  const { config } = call.header
  const limit = config.maxTokens
  return {
    ...(limit !== undefined && { maxOutputTokens: spec.outputLimit?.(call, limit) ?? limit }),
    ...(config.temperature !== undefined && { temperature: config.temperature }),
    ...(config.topP !== undefined && { topP: config.topP }),
    ...(config.stop && { stopSequences: [...config.stop] }),
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && config.toolChoice && { toolChoice: { type: config.toolChoice } }),
  }
}

/** The route's own fields, then the call's, then those of the effort; undefined when there is nothing to do. */
function bodyPatch(
  call: BoundCall,
  rewrite: ((body: JsonObject) => JsonObject) | undefined,
): ((body: { [key: string]: unknown }) => { [key: string]: unknown }) | undefined {
  const extra = { ...call.config.extraBody, ...asObject(call.header.config.extraBody), ...asObject(call.effort?.body) }
  if (!rewrite && Object.keys(extra).length === 0) return undefined
  return (body) => ({ ...(rewrite ? rewrite(body as JsonObject) : body), ...extra })
}

export const asObject = (value: Json | undefined | null): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
