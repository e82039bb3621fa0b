import type { StreamRow } from '../wire/events.ts'
import type { Json, JsonObject } from '../wire/json.ts'
import type { Block, ReplayState, Usage, WireFamily } from '../wire/messages.ts'
import { never } from '../wire/never.ts'
import type { Finish, StreamEvent } from './port.ts'
import { packRows, type TimedDelta } from './stream-rows.ts'

export interface AssemblerOptions {
  /** Milliseconds; offsets in the stream rows count from construction. */
  now?: () => number
  /** Call ids already taken in this session (some servers restart at `call_0` with each response). */
  usedCallIds?: { has(id: string): boolean }
  /** `frames` joins deltas within 50 ms, `none` keeps no rows. */
  stream?: 'full' | 'frames' | 'none'
}

/** What one call came to. `attempt` never enters history; `message` does. */
export interface Assembled {
  kind: 'message' | 'attempt'
  blocks: Block[]
  stream: StreamRow[]
  usage?: Usage
  finish: Finish
  interrupted?: true
  replayState?: ReplayState
  warnings: Warning[]
  tokens: { i: number; ids: number[]; logprobs?: number[] }[]
  requestId?: string
  /** Milliseconds from construction to the first delta, and to the end. */
  firstDeltaMs?: number
  ms: number
}

export interface Warning {
  feature: string
  detail?: string
}

/** One delta as a screen needs it: `offset` counts UTF-16 units already shown of this block. */
export interface DeltaFrame {
  block: number
  kind: 'text' | 'reasoning' | 'tool'
  offset: number
  text: string
  callId?: string
  name?: string
}

interface OpenBlock {
  order: number
  kind: 'text' | 'reasoning' | 'tool'
  callId: string
  wireId: string
  name: string
  parts: string[]
  length: number
  final?: string
  meta?: Json
}

/** The one way from stream events to a message: live, on recovery and in replay. */
export class Assembler {
  readonly #now: () => number
  readonly #started: number
  readonly #used: { has(id: string): boolean }
  readonly #mode: 'full' | 'frames' | 'none'
  readonly #blocks: OpenBlock[] = []
  readonly #byIndex = new Map<number, OpenBlock>()
  readonly #ids = new Set<string>()
  readonly #deltas: { block: OpenBlock; at: number; s: string }[] = []
  readonly #warnings: Warning[] = []
  readonly #tokens: Assembled['tokens'] = []
  #usage: Usage | undefined
  #end: Extract<StreamEvent, { t: 'end' }> | undefined
  #endedAt = 0

  constructor(options: AssemblerOptions = {}) {
    this.#now = options.now ?? (() => performance.now())
    this.#started = this.#now()
    this.#used = options.usedCallIds ?? new Set()
    this.#mode = options.stream ?? 'full'
  }

  get ended(): boolean {
    return this.#end !== undefined
  }

  /** Takes one event; a delta comes back as the frame to show. Throws on an event after `end` or of an unknown block. */
  push(event: StreamEvent): DeltaFrame | undefined {
    if (this.#end) throw new Error(`event "${event.t}" after the end of the stream`)
    switch (event.t) {
      case 'open':
        this.#open(event)
        return undefined
      case 'delta':
        return this.#delta(this.#block(event.i), event.s)
      case 'close':
        this.#close(this.#block(event.i), event)
        return undefined
      case 'usage':
        this.#usage = { ...this.#usage, ...event.usage, ...(event.raw !== undefined && { raw: event.raw }) }
        return undefined
      case 'tokens': {
        const { t: _t, i, ...tokens } = event
        this.#tokens.push({ i: this.#block(i).order, ...tokens })
        return undefined
      }
      case 'warn':
        this.#warn(event.feature, event.detail)
        return undefined
      case 'end':
        this.#end = event
        this.#endedAt = this.#now()
        return undefined
      default:
        return never(event)
    }
  }

  /** May be called once the stream ended; without an `end` event the call counts as closed too early. */
  result(): Assembled {
    const finish = this.#finish()
    const ending = ENDINGS[finish.kind]
    const kept = ending.attempt ? [] : this.#blocks.filter((block) => keeps(finish, block))
    const kind = kept.length > 0 ? 'message' : 'attempt'
    const shown = kind === 'attempt' ? this.#blocks.filter((block) => block.length > 0 || block.kind === 'tool') : kept
    const blocks = shown.map(toBlock)
    const replayState = kind === 'message' ? this.#replayState(kept) : undefined
    const first = this.#deltas[0]
    return {
      kind,
      blocks,
      stream: this.#rows(kind === 'message' ? kept : []),
      ...(this.#usage && { usage: this.#usage }),
      finish,
      ...(kind === 'message' && finish.kind === 'aborted' && { interrupted: true as const }),
      ...(replayState && { replayState }),
      warnings: this.#warnings,
      tokens: this.#tokens,
      ...(this.#end?.requestId !== undefined && { requestId: this.#end.requestId }),
      ...(first && { firstDeltaMs: first.at }),
      ms: Math.round((this.#end ? this.#endedAt : this.#now()) - this.#started),
    }
  }

  #open(event: Extract<StreamEvent, { t: 'open' }>): void {
    const wireId = event.callId ?? ''
    const block: OpenBlock = {
      order: this.#blocks.length,
      kind: event.kind,
      callId: event.kind === 'tool' ? this.#uniqueId(wireId) : '',
      wireId,
      name: event.name ?? '',
      parts: [],
      length: 0,
    }
    this.#blocks.push(block)
    this.#byIndex.set(event.i, block)
  }

  #uniqueId(wanted: string): string {
    const base = wanted || 'call'
    let id = base
    for (let n = 2; this.#ids.has(id) || this.#used.has(id); n++) id = `${base}~${n}`
    this.#ids.add(id)
    return id
  }

  #delta(block: OpenBlock, s: string): DeltaFrame | undefined {
    if (s === '') return undefined
    const offset = block.length
    block.parts.push(s)
    block.length += s.length
    if (this.#mode === 'none' && this.#deltas.length > 0) return frame(block, offset, s)
    this.#deltas.push({ block, at: Math.round(this.#now() - this.#started), s })
    return frame(block, offset, s)
  }

  #close(block: OpenBlock, event: Extract<StreamEvent, { t: 'close' }>): void {
    if (event.meta !== undefined) block.meta = event.meta
    if (event.arguments === undefined) return
    const streamed = block.parts.join('')
    if (streamed !== '' && streamed !== event.arguments)
      this.#warn(
        'tool-arguments',
        `The final arguments of ${block.name} differ from the streamed ones; the final ones count.`,
      )
    block.final = event.arguments
  }

  #warn(feature: string, detail: string | undefined): void {
    if (this.#warnings.some((known) => known.feature === feature && known.detail === detail)) return
    this.#warnings.push({ feature, ...(detail !== undefined && { detail }) })
  }

  #block(index: number): OpenBlock {
    const block = this.#byIndex.get(index)
    if (!block) throw new Error(`stream event for block ${index}, which was never opened`)
    return block
  }

  #finish(): Finish {
    const finish = this.#end?.finish ?? {
      kind: 'error',
      failure: { code: 'STREAM_CLOSED', message: 'The answer stopped before its end.' },
    }
    if (finish.kind !== 'stop' && finish.kind !== 'tool-calls') return finish
    if (this.#blocks.some((block) => block.kind === 'tool')) return { kind: 'tool-calls' }
    if (this.#blocks.some((block) => keeps(finish, block))) return { kind: 'stop' }
    return { kind: 'error', failure: { code: 'EMPTY_RESPONSE', message: 'The model ended without any content.' } }
  }

  #replayState(kept: readonly OpenBlock[]): ReplayState | undefined {
    const envelope = replayEnvelope(this.#end?.meta)
    if (!envelope) return undefined
    const blocks = kept.map((block) => {
      const renamed = block.kind === 'tool' && block.wireId !== block.callId
      if (!renamed) return block.meta ?? null
      return { ...(isObject(block.meta) && block.meta), wireId: block.wireId }
    })
    return { ...envelope, blocks }
  }

  #rows(kept: readonly OpenBlock[]): StreamRow[] {
    if (this.#mode === 'none') return []
    const place = new Map(kept.map((block, index) => [block, index]))
    // Rows of dropped blocks carry their own text, under numbers that no message block has.
    let next = kept.length
    const deltas = this.#deltas.map(({ block, at, s }): TimedDelta => {
      let i = place.get(block)
      if (i === undefined) place.set(block, (i = next++))
      return { i, k: block.kind, at, s, ...(block.kind === 'tool' && { id: block.callId, n: block.name }) }
    })
    return packRows(deltas, { blocks: kept.map(toBlock), frameMs: this.#mode === 'frames' ? 50 : 0 })
  }
}

const ENDINGS: { [K in Finish['kind']]: { attempt: boolean } } = {
  stop: { attempt: false },
  'tool-calls': { attempt: false },
  'max-tokens': { attempt: false },
  aborted: { attempt: false },
  'content-filter': { attempt: true },
  error: { attempt: true },
}

function keeps(finish: Finish, block: OpenBlock): boolean {
  if (block.kind === 'tool') return finish.kind === 'stop' || finish.kind === 'tool-calls'
  if (finish.kind === 'aborted') return block.parts.join('').trim() !== ''
  return block.length > 0 || carriesReplay(block)
}

const carriesReplay = (block: OpenBlock): boolean => isObject(block.meta) && Object.keys(block.meta).length > 0

function toBlock(block: OpenBlock): Block {
  const text = block.parts.join('')
  if (block.kind === 'tool')
    return { type: 'tool-call', id: block.callId, name: block.name, arguments: block.final ?? text }
  return { type: block.kind, text }
}

function frame(block: OpenBlock, offset: number, text: string): DeltaFrame {
  if (block.kind !== 'tool') return { block: block.order, kind: block.kind, offset, text }
  return { block: block.order, kind: 'tool', offset, text, callId: block.callId, name: block.name }
}

function replayEnvelope(meta: Json | undefined): Omit<ReplayState, 'blocks'> | undefined {
  if (!isObject(meta)) return undefined
  const { adapter, v, wire, response } = meta
  if (typeof adapter !== 'string' || typeof v !== 'number' || typeof wire !== 'string') return undefined
  return { adapter, v, wire: wire as WireFamily, ...(response !== undefined && { response }) }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value of a call's raw arguments: `''` counts as `{}`; text that is no JSON gives undefined. */
export function parseArguments(raw: string): Json | undefined {
  if (raw.trim() === '') return {}
  try {
    return JSON.parse(raw) as Json
  } catch {
    return undefined // models do write broken JSON: the caller answers with an error result
  }
}
