import type { JsonObject } from './json.ts'
import type { Selection, WireFamily } from './messages.ts'

/** US dollars per million tokens. An absent cache price: such tokens are counted at the price of uncached input. */
export interface Price {
  in: number
  cacheRead?: number
  cacheWrite?: number
  out: number
}

/** What a person may say of one model that its card does not say, or says otherwise; null takes a field back. */
export interface ModelFactsEdit {
  contextWindow?: number | null
  maxOutput?: number | null
  inputs?: ('text' | 'image')[] | null
  price?: Price | null
}

/** One effort of an id that no card lists: the patch of the request body that asks for it. */
export interface DeclaredEffort {
  id: string
  body: JsonObject
  default?: boolean
}

/** Times in ms. `off` never tries again; `always` tries every failure that may pass, up to `retries`. */
export interface RetryOptions {
  mode: 'normal' | 'always' | 'off'
  retries?: number
  baseMs?: number
  capMs?: number
}

/** What a route may be told beyond its address; whatever is absent has a working default. Whole value: nothing is merged. */
export interface RouteOptions {
  /** `{{key}}`, `{{session}}` and `{{lane}}` in a value stand for the stored key and the call's session and lane. */
  headers?: { [name: string]: string }
  retry?: RetryOptions
  /** Ms to the first byte of an answer; 0 waits for ever. */
  firstByteMs?: number
  /** Ms of silence inside an answer; 0 waits for ever. */
  idleMs?: number
  /** `none` connects directly; absent: HTTPS_PROXY, HTTP_PROXY and NO_PROXY decide. */
  proxy?: string
  /** Put into every request body. */
  extraBody?: JsonObject
  /** Replaces the list of models; ids without a card are text-only with unknown capacity. */
  models?: string[]
  /** Corrections of single models, by id; prices among them. */
  facts?: { [model: string]: ModelFactsEdit }
  /** Efforts of ids that no card lists. */
  efforts?: DeclaredEffort[]
  /** Asks the endpoint which models it has. Default: local and own routes do, shipped ones do not. */
  discover?: boolean
  /** Asks a chat endpoint for token counts. Default true; off for a server that refuses the field. */
  includeUsage?: boolean
  /** Passes over stream events of foreign shape instead of failing the answer. */
  dropForeignChunks?: boolean
  /** How broken tool arguments of the past go out. */
  malformedArguments?: 'raw' | 'wrap'
  /** Splits `<think>` in plain text off as reasoning, for ids that no card lists. */
  inlineThink?: boolean
  /** The name under which reasoning goes back to a chat endpoint, for ids that no card lists. */
  sendBack?: 'none' | 'reasoning_content' | 'reasoning' | 'reasoning_details'
}

/** Where a key comes from: stored write-only, `env:NAME`, or none is needed. */
export type KeySource = 'stored' | 'none' | `env:${string}`

/** What went wrong, told apart as far as the wire shows it. */
export type ProbeVerdict =
  | 'works'
  | 'no-key'
  | 'bad-key'
  | 'dns'
  | 'tls'
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'auth'
  | 'quota'
  | 'rate-limit'
  | 'model'
  | 'not-an-api'
  | 'request'
  | 'server'
  | 'unknown'

/** One request of a connection test as it went out and came back; keys are told by their length only. */
export interface ProbeExchange {
  method: string
  url: string
  /** Names in lower case; secret values replaced. */
  headers: { [name: string]: string }
  /** The body as sent, cut to 2,000 characters. */
  body?: string
  status?: number
  /** Ms to the end of the answer, or to the failure. */
  ms: number
  /** What came back in one line: the text of the answer, the number of models, or the failure. */
  got: string
}

export interface Probe {
  verdict: ProbeVerdict
  /** A sentence that names the provider and the next step. */
  message: string
  /** Code of the failure, for reports. */
  code?: string
  model?: string
  /** Ms since the epoch. */
  at: number
  exchanges: ProbeExchange[]
}

/** A model server that answers on this machine. */
export interface LocalServer {
  /** The usual name of what listens on such a port. */
  name: string
  port: number
  baseURL: string
  state: 'ready' | 'no-model' | 'nothing' | 'not-an-api'
  models: string[]
  /** The provider that stands for it already. */
  provider?: string
}

/** US dollars, estimated from list prices; absent: no limit. */
export interface Budget {
  /** For each session, unless it has its own limit. */
  session?: number
  /** For all sessions of one day of this machine's clock. */
  day?: number
}

/** Settings of sessions as a whole. */
export interface SessionSettingsView {
  budget: Budget
  /** Writes the titles of new sessions; absent: the first line of the first prompt. */
  titles?: Selection
}

/** Disjoint sums; an absent count was reported by nobody. Cost in US dollars, estimated. */
export interface UsageCounts {
  requests: number
  failed: number
  retried: number
  inputTokens?: number
  cacheReadTokens?: number
  cacheWriteTokens?: number
  outputTokens?: number
  reasoningTokens?: number
  /** Of the requests that have a price and reported their tokens. */
  cost: { input: number; cacheRead: number; cacheWrite: number; output: number; total: number }
  /** Requests whose price or token count is unknown: they are in no sum of money. */
  unpriced: number
  /** What the tokens read from the cache would have cost beyond what they did. */
  saved: number
  /** Median ms to the first token; absent when no answer was timed. */
  firstMs?: number
}

/** `day` is a date of this machine's clock, YYYY-MM-DD; days without requests are there, too. */
export interface UsageDay extends UsageCounts {
  day: string
}

export interface UsageRow extends UsageCounts {
  provider: string
  model: string
  preset: string | null
}

export interface UsageFolder extends UsageCounts {
  cwd: string | null
}

export interface UsageSession extends UsageCounts {
  session: string
  title: string
  cwd: string | null
  preset: string | null
  turns: number
}

/** GET /api/usage?days=&cwd=&preset= */
export interface UsageReport {
  /** First and last day, inclusive. */
  from: string
  to: string
  /** Minutes that this machine's clock is ahead of UTC. */
  offset: number
  total: UsageCounts
  /** The same number of days before `from`. */
  before: UsageCounts
  days: UsageDay[]
  /** By model and preset, the costliest first. */
  rows: UsageRow[]
  /** By working folder. */
  folders: UsageFolder[]
  /** The costliest sessions, ten at most. */
  sessions: UsageSession[]
  /** What may be filtered by: every folder and preset with a request in the period. */
  filters: { folders: string[]; presets: string[] }
  budget: Budget
  /** Of the present day, unfiltered. */
  today: { cost: number; unpriced: number }
}

export interface ProviderSettings {
  id: string
  label: string
  wire: WireFamily
  baseURL: string
  key: KeySource
  options: RouteOptions
}
