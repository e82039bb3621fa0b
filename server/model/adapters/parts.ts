import type { LanguageModelV4StreamPart, SharedV4Warning } from '@ai-sdk/provider'
import type { Json, JsonObject } from '../../wire/json.ts'
import type { WireFamily } from '../../wire/messages.ts'
import { ThinkSplitter } from '../inline-think.ts'
import type { Failure, Finish, StreamEvent } from '../port.ts'
import { readUsage, usageEvent } from './usage.ts'

export const ADAPTER = 'aisdk'
export const REPLAY_VERSION = 4

export interface PartsOptions {
  wire: WireFamily
  inlineThink?: boolean
  /** A thrown value or error part as a Failure. */
  classify(error: unknown): Failure
  /** Response-level replay data, read when the call ends (1.9). */
  response?(): Json | undefined
  requestId?(): string | undefined
}

interface Live {
  i: number
  kind: 'text' | 'reasoning' | 'tool'
  meta: JsonObject | undefined
  /** Whether any delta came. */
  filled: boolean
}

/**
 * The table from library parts to our events (1.3). Blocks are keyed by open instance, since the library reopens ids
 * (LT-08); the first error ends the call whatever follows (LT-11).
 */
export class PartMapper {
  readonly #options: PartsOptions
  readonly #live = new Map<string, Live>()
  #next = 0
  #current = 0
  #ended = false
  #splitter: ThinkSplitter | undefined
  #thought: string | undefined

  constructor(options: PartsOptions) {
    this.#options = options
    if (options.inlineThink) this.#splitter = new ThinkSplitter()
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Index of the block opened last, for token data that names none. */
  get current(): number {
    return this.#current
  }

  /** Appends the events of one part to `out`. */
  map(part: LanguageModelV4StreamPart, out: StreamEvent[]): void {
    switch (part.type) {
      case 'text-start':
        return this.#splitter ? undefined : this.#open(out, `text ${part.id}`, 'text', part.providerMetadata)
      case 'text-delta':
        return this.#text(out, part)
      case 'text-end':
        return this.#splitter ? this.#flushThink(out) : this.#shut(out, `text ${part.id}`, part.providerMetadata)
      case 'reasoning-start':
        return this.#open(out, `reasoning ${part.id}`, 'reasoning', part.providerMetadata)
      case 'reasoning-delta':
        return this.#delta(out, `reasoning ${part.id}`, part.delta, part.providerMetadata)
      case 'reasoning-end':
        return this.#shut(out, `reasoning ${part.id}`, part.providerMetadata)
      case 'tool-input-start':
        if (part.providerExecuted) return this.#refuse(out, `tool ${part.toolName} run by the provider`)
        return this.#openTool(out, part.id, part.toolName, part.providerMetadata)
      case 'tool-input-delta':
        return this.#delta(out, `tool ${part.id}`, part.delta, part.providerMetadata)
      case 'tool-input-end':
        return this.#merge(`tool ${part.id}`, part.providerMetadata)
      case 'tool-call':
        return this.#call(out, part)
      case 'stream-start':
        for (const warning of part.warnings) out.push(warnEvent(warning))
        return undefined
      case 'custom':
        return this.#custom(out, part.kind, part.providerMetadata)
      case 'finish':
        out.push(usageEvent(this.#options.wire, part.usage))
        return this.#finish(out, part.finishReason.unified)
      case 'error':
        return this.fail(out, part.error)
      case 'response-metadata':
      case 'ping':
      case 'raw':
        return undefined
      default:
        return this.#refuse(out, part.type)
    }
  }

  /** Ends the call with the failure of a thrown value; does nothing after the end. */
  fail(out: StreamEvent[], error: unknown): void {
    if (this.#ended) return
    const failure = this.#options.classify(error)
    this.#end(out, failure.code === 'ABORTED' ? { kind: 'aborted', failure } : { kind: 'error', failure })
  }

  /** The stream is over: without a finish part that is an early end (LT-12, LT-14). */
  close(out: StreamEvent[]): void {
    if (!this.#ended) this.#closedEarly(out)
  }

  #text(out: StreamEvent[], part: Extract<LanguageModelV4StreamPart, { type: 'text-delta' }>): void {
    if (!this.#splitter) return this.#delta(out, `text ${part.id}`, part.delta, part.providerMetadata)
    for (const piece of this.#splitter.push(part.delta)) this.#piece(out, piece.kind, piece.s)
  }

  /** A block of the splitter: pieces of one kind share it until the kind changes. */
  #piece(out: StreamEvent[], kind: 'text' | 'reasoning', s: string): void {
    const key = `think ${kind}`
    if (this.#thought !== key) {
      if (this.#thought) this.#shut(out, this.#thought, undefined)
      this.#open(out, key, kind, undefined)
      this.#thought = key
    }
    this.#delta(out, key, s, undefined)
  }

  #flushThink(out: StreamEvent[]): void {
    for (const piece of this.#splitter?.flush() ?? []) this.#piece(out, piece.kind, piece.s)
    if (this.#thought) this.#shut(out, this.#thought, undefined)
    this.#thought = undefined
  }

  #open(out: StreamEvent[], key: string, kind: 'text' | 'reasoning', meta: JsonLike | undefined): void {
    if (this.#live.has(key)) this.#shut(out, key, undefined)
    this.#current = this.#next++
    this.#live.set(key, { i: this.#current, kind, meta: asObject(meta), filled: false })
    out.push({ t: 'open', i: this.#current, kind })
  }

  #openTool(out: StreamEvent[], callId: string, name: string, meta: JsonLike | undefined): void {
    this.#current = this.#next++
    this.#live.set(`tool ${callId}`, { i: this.#current, kind: 'tool', meta: asObject(meta), filled: false })
    out.push({ t: 'open', i: this.#current, kind: 'tool', callId, name })
  }

  #delta(out: StreamEvent[], key: string, s: string, meta: JsonLike | undefined): void {
    const block = this.#live.get(key)
    if (!block) return
    if (meta) block.meta = merge(block.meta, meta)
    if (s === '') return
    block.filled = true
    out.push({ t: 'delta', i: block.i, s })
  }

  #merge(key: string, meta: JsonLike | undefined): void {
    const block = this.#live.get(key)
    if (block && meta) block.meta = merge(block.meta, meta)
  }

  #shut(out: StreamEvent[], key: string, meta: JsonLike | undefined): void {
    const block = this.#live.get(key)
    if (!block) return
    this.#live.delete(key)
    const merged = meta ? merge(block.meta, meta) : block.meta
    out.push({ t: 'close', i: block.i, ...(merged && { meta: merged }) })
  }

  #call(out: StreamEvent[], part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): void {
    if (part.providerExecuted) return this.#refuse(out, `tool ${part.toolName} run by the provider`)
    const key = `tool ${part.toolCallId}`
    if (!this.#live.has(key)) this.#openTool(out, part.toolCallId, part.toolName, undefined)
    const block = this.#live.get(key)!
    if (!block.filled) this.#delta(out, key, part.input, undefined)
    const meta = part.providerMetadata ? merge(block.meta, part.providerMetadata) : block.meta
    this.#live.delete(key)
    out.push({ t: 'close', i: block.i, ...(meta && { meta }), arguments: part.input })
  }

  #custom(out: StreamEvent[], kind: string, meta: JsonLike | undefined): void {
    if (kind !== 'anthropic.message_start') return this.#refuse(out, kind)
    const usage = asObject(asObject(asObject(meta)?.anthropic)?.usage)
    if (!usage) return
    const { outputTokens: _partial, ...known } = readUsage('messages', usage)
    out.push({ t: 'usage', usage: known, raw: usage, early: true })
  }

  #finish(out: StreamEvent[], reason: string): void {
    switch (reason) {
      case 'length':
        return this.#end(out, { kind: 'max-tokens' })
      case 'content-filter':
        return this.#end(out, { kind: 'content-filter' })
      case 'tool-calls':
        return this.#end(out, { kind: 'tool-calls' })
      case 'interrupted':
        return this.#closedEarly(out)
      case 'error':
        return this.#end(out, {
          kind: 'error',
          failure: { code: 'MALFORMED_RESPONSE', message: 'The provider ended the answer with an unnamed error.' },
        })
      default:
        return this.#end(out, { kind: 'stop' })
    }
  }

  #closedEarly(out: StreamEvent[]): void {
    const failure = this.#options.classify(undefined)
    if (failure.code === 'ABORTED') return this.#end(out, { kind: 'aborted', failure })
    if (failure.code === 'TIMEOUT') return this.#end(out, { kind: 'error', failure })
    const message = 'The connection closed before the answer was complete.'
    this.#end(out, { kind: 'error', failure: { code: 'STREAM_CLOSED', message } })
  }

  /** Content that our log has no block for must not vanish quietly (LP-05). */
  #refuse(out: StreamEvent[], what: string): void {
    const message = `The model sent content this server cannot keep: ${what}.`
    this.#end(out, { kind: 'error', failure: { code: 'UNSUPPORTED_CONTENT', message } })
  }

  #end(out: StreamEvent[], finish: Finish): void {
    if (this.#splitter && finish.kind !== 'error') this.#flushThink(out)
    const complete = finish.kind !== 'aborted' && finish.kind !== 'error'
    for (const block of this.#live.values())
      out.push({ t: 'close', i: block.i, ...(complete && block.meta && { meta: block.meta }) })
    this.#live.clear()
    this.#ended = true
    const response = this.#options.response?.()
    const requestId = this.#options.requestId?.()
    out.push({
      t: 'end',
      finish,
      meta: {
        adapter: ADAPTER,
        v: REPLAY_VERSION,
        wire: this.#options.wire,
        ...(response !== undefined && { response }),
      },
      ...(requestId !== undefined && { requestId }),
    })
  }
}

/** The library's metadata type: JSON whose members may be undefined. */
type JsonLike = { readonly [key: string]: unknown }

const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined

/** Later parts refine earlier ones per namespace: Anthropic's signature comes on an empty delta (LT-09). */
function merge(into: JsonObject | undefined, from: JsonLike): JsonObject {
  const merged: JsonObject = { ...into }
  for (const [space, value] of Object.entries(from)) {
    const added = asObject(value)
    merged[space] = added ? { ...asObject(merged[space]), ...defined(added) } : (value as Json)
  }
  return merged
}

const defined = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== null))

function warnEvent(warning: SharedV4Warning): StreamEvent {
  switch (warning.type) {
    case 'unsupported':
    case 'compatibility':
      return { t: 'warn', feature: warning.feature, ...(warning.details !== undefined && { detail: warning.details }) }
    case 'deprecated':
      return { t: 'warn', feature: warning.setting, detail: warning.message }
    case 'other':
      return { t: 'warn', feature: 'other', detail: warning.message }
  }
}
