import type { Json } from '../wire/json.ts'
import type { CallConfig, Message, RequestHeader, ToolSpec, Usage, WireFamily } from '../wire/messages.ts'
import type { Price } from '../wire/models.ts'

export type StreamEvent =
  | { t: 'open'; i: number; kind: 'text' | 'reasoning' | 'tool'; callId?: string; name?: string }
  | { t: 'delta'; i: number; s: string }
  | { t: 'close'; i: number; meta?: Json; arguments?: string }
  | { t: 'usage'; usage: Usage; raw?: Json; early?: true }
  | { t: 'tokens'; i: number; ids: number[]; logprobs?: number[] }
  | { t: 'warn'; feature: string; detail?: string }
  | { t: 'end'; finish: Finish; meta?: Json; requestId?: string }

export type Finish =
  { kind: 'stop' | 'tool-calls' | 'max-tokens' | 'content-filter' } | { kind: 'aborted' | 'error'; failure: Failure }

/** `message` is at most 300 characters and scrubbed of known secrets; no library error object goes further (LP-06). */
export interface Failure {
  code: FailureCode
  message: string
  status?: number
  providerRetryAfterMs?: number
  requestId?: string
  /** What kind of TRANSPORT or TIMEOUT it was, where the socket tells. */
  transport?: 'dns' | 'tls' | 'refused' | 'reset' | 'unreachable' | 'connect-timeout'
}

export type FailureCode =
  | 'ABORTED'
  | 'TIMEOUT'
  | 'AUTH'
  | 'RATE_LIMIT'
  | 'UNKNOWN_MODEL'
  | 'SERVER'
  | `HTTP_${number}`
  | 'QUOTA'
  | 'CONTEXT_WINDOW_EXCEEDED'
  | 'INVALID_REQUEST'
  | 'STREAM_CLOSED'
  | 'MALFORMED_RESPONSE'
  | 'EMPTY_RESPONSE'
  | 'TRANSPORT'
  | 'MISSING_CREDENTIAL'
  | 'INVALID_CREDENTIAL'
  | 'UNSUPPORTED_CONTENT'
  | 'UNSUPPORTED_REASONING_EFFORT'
  | 'NO_ADAPTER'
  | 'CONTENT_FILTER'
  | 'BUDGET_EXCEEDED'
  | 'UNKNOWN'

export interface RetryPolicy {
  /** `off` never tries again. */
  mode: 'normal' | 'always' | 'off'
  /** Retries after the first attempt. Defaults: 5, 500 ms doubling to 10 s, 10 % jitter. */
  retries: number
  baseMs: number
  capMs: number
  jitter: number
}

export interface EffortCard {
  id: string
  default?: boolean
  /** Exact provider options or body patch to send for this effort. */
  options?: Json
  body?: Json
}

/** Advice, never a gate: an unlisted id passes as text-only with unknown capacity. Prices in US dollars per million tokens. */
export interface ModelCard {
  id: string
  name: string
  contextWindow?: number
  maxOutput?: number
  inputs: ('text' | 'image')[]
  reasoning: boolean
  efforts: EffortCard[]
  sendBack?: 'none' | 'reasoning_content' | 'reasoning' | 'reasoning_details'
  inlineThink?: boolean
  midSystem?: boolean
  price?: Price
  /** Who named it; absent: the shipped catalog. */
  from?: 'catalog' | 'endpoint' | 'settings'
  figures?: { source: string; date: string }
  edited?: ('contextWindow' | 'maxOutput' | 'inputs' | 'price')[]
}

/** What is known of one model on one route; `listed` tells a card from a guess. */
export interface ModelFacts extends ModelCard {
  listed: boolean
}

/** One request in our vocabulary: the whole surface, already repaired (every call answered, every result called for). */
export interface BuiltRequest {
  system: string
  messages: readonly Message[]
  tools: readonly ToolSpec[]
  signal: AbortSignal
  /** Session id, for provider-side prompt caches and lane headers of the mock. */
  sessionId: string
  lane: string
  turn: number
  step: number
  attempt: number
  /** Called once per HTTP attempt with the digest of the exact body (LP-07). */
  onSent?(sent: { path: string; bytes: number; sha256: string }): void
}

export interface PreparedCall {
  /** Effective config with adapter-filled values and their marks; `tools` are set by the caller. */
  header: RequestHeader
  facts: ModelFacts
  retry: RetryPolicy
  /** One-shot: a second call throws (LP-01). Ends with exactly one `end` event; failures are data (LP-02). */
  stream(request: BuiltRequest): AsyncIterable<StreamEvent>
}

export interface Route {
  id: string
  label: string
  wire: WireFamily | 'demo' | 'replay'
  retry: RetryPolicy
  /** Never saved as the deployment default (the demo route). */
  neverDefault?: boolean
  /** Every model that may be chosen here; an endpoint that does not answer takes no card away. */
  models(): Promise<ModelCard[]>
  /** Why the endpoint's own list is missing from the last `models()`; undefined when it was not asked or answered. */
  problem?(): Failure | undefined
  describe(model: string, signal?: AbortSignal): Promise<ModelFacts>
  prepare(config: CallConfig, signal?: AbortSignal): Promise<PreparedCall>
}

/** A refusal before the network: no adapter, no credential, an effort that the model does not offer. */
export class ModelError extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.message)
    this.name = 'ModelError'
    this.failure = failure
  }
}
