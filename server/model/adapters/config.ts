import type { Json } from '../../wire/json.ts'
import type { WireFamily } from '../../wire/messages.ts'
import type { EffortCard, ModelCard, RetryPolicy } from '../port.ts'
import type { Fetch } from '../transport.ts'
import type { MalformedArguments } from './history/arguments.ts'
import type { ImageBudget } from './history/images.ts'

/** What a person may know better than a card. */
export type EditableFact = 'contextWindow' | 'maxOutput' | 'inputs' | 'price'

/** One provider as the settings hold it. Everything but the first four fields has a working default. */
export interface ProviderConfig {
  id: string
  label: string
  wire: WireFamily
  /** Up to and including the version part, for example `https://api.example.com/v1`. */
  baseURL: string
  /** A secret's id, or `env:NAME`. Absent: the endpoint needs no key. */
  apiKeyRef?: string
  /**
   * `{{session}}` and `{{lane}}` in a value stand for the call's session and lane (prefix-cache routing), `{{key}}` for the
   * key: where a header names the key, the wire's own key header is left out.
   */
  headers?: { [name: string]: string }
  /** Milliseconds to the first byte; 0 = no deadline. Default 600 s. */
  firstByteMs?: number
  /** Milliseconds of silence in the middle. Default 300 s. */
  idleMs?: number
  retry?: RetryPolicy
  /** Address of a proxy, or `none` for none at all; absent: the environment decides. */
  proxy?: string
  /** Merged into every request body. */
  extraBody?: { [key: string]: Json }
  /** Replaces the shipped list of models. */
  models?: ModelCard[]
  /** Patches fields of single models, listed or not, by id. */
  modelOverrides?: { [model: string]: Partial<Pick<ModelCard, EditableFact>> }
  /** Efforts for ids that no card lists. */
  efforts?: EffortCard[]
  /** Of ids that no card lists. */
  inlineThink?: boolean
  sendBack?: NonNullable<ModelCard['sendBack']>
  /** Adds the ids that the endpoint lists, and its figures. */
  discover?: boolean
  malformedArguments?: MalformedArguments
  /** Drops stream events of foreign shape instead of failing the answer on them (LT-17). */
  dropForeignChunks?: boolean
  /** Ask for usage on chat wires. Default true; off for servers that refuse the option. */
  includeUsage?: boolean
  /** Anthropic's eager tool streaming adds a field to every tool (LT-05). Default false: the tools go out as they are. */
  toolStreaming?: boolean
  imageBudget?: ImageBudget
}

export interface ProviderDeps {
  /** The key behind a reference, read at call time. */
  credentials: { get(ref: string): Promise<string | undefined>; secrets?(): readonly string[] }
  loadBlob(sha256: string): Promise<Uint8Array | undefined>
  fetch?: Fetch
  /** Ids for calls that the server left without one (LT-21). */
  generateId?(): string
  now?(): number
}
