import { setTimeout as wait } from 'node:timers/promises'
import type { JsonObject } from '../../wire/json.ts'
import type { CallConfig, RequestHeader, Usage } from '../../wire/messages.ts'
import type {
  BuiltRequest,
  Failure,
  ModelCard,
  ModelFacts,
  PreparedCall,
  RetryPolicy,
  Route,
  StreamEvent,
} from '../port.ts'
import { Placeholders } from './canonical.ts'
import { fingerprint, firstDifference, type Fingerprint } from './chain.ts'
import type { Cassette, EventLine, FaultLine, RecordedCall } from './cassette.ts'

export interface PlayerOptions {
  /** Live values of the cassette's tokens for one session. */
  tokens: (sessionId: string) => { [name: string]: string }
  /** 0 = as fast as possible (default), 1 = as recorded. */
  speed?: number
  /** Longest single wait in ms. */
  cap?: number
  /** `refresh` matches by lane and ordinal, whatever the hashes say. */
  mode?: 'replay' | 'refresh'
  /** Model facts of the recorded ids, so that pickers and effort rules work. */
  cards?: ModelCard[]
  /** Waits `ms`, or rejects when the signal aborts. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

const NO_RETRY: RetryPolicy = { mode: 'normal', retries: 5, baseMs: 0, capMs: 10_000, jitter: 0 }

// One timer each, taken back with its listener: a long answer waits thousands of times on one signal.
const sleepFor = (ms: number, signal: AbortSignal): Promise<void> => wait(ms, undefined, { signal })

/** Plays one cassette: finds each live request by its hash in its lane, and says where a request first differs. */
export class Player {
  readonly cassette: Cassette
  /** Requests that no recorded call answered, with the readable difference. */
  readonly misses: string[] = []
  /** Live fingerprints in the order of `cassette.calls`, for `refresh`. */
  readonly seen = new Map<RecordedCall, Fingerprint>()
  readonly #options: PlayerOptions
  readonly #consumed = new Set<RecordedCall>()

  constructor(cassette: Cassette, options: PlayerOptions) {
    this.cassette = cassette
    this.#options = options
  }

  /** Calls that no request has asked for yet (RE-09). */
  unused(): string[] {
    return this.cassette.calls
      .filter((call) => !this.#consumed.has(call))
      .map(({ head }) => `${head.lane} #${head.n} (attempt ${head.attempt})`)
  }

  /** One route per recorded provider id (RE-10). */
  routes(): Route[] {
    const providers = new Set(this.cassette.calls.map(({ head }) => (head.config as unknown as CallConfig).provider))
    return [...providers].map((id) => this.#route(id))
  }

  /** A live route that asks its provider only for calls that the cassette lacks (mode `missing`); `live` streams those. */
  over(route: Route, live: (prepared: PreparedCall, request: BuiltRequest) => AsyncIterable<StreamEvent>): Route {
    return {
      ...route,
      prepare: async (config, signal) => {
        const prepared = await route.prepare(config, signal)
        const stream = (request: BuiltRequest) => {
          const placeholders = new Placeholders(this.#options.tokens(request.sessionId))
          const known = this.#find(fingerprint(prepared.header, request, placeholders), request)
          return known ? this.#play(prepared.header, request) : live(prepared, request)
        }
        return { ...prepared, stream }
      },
    }
  }

  #route(id: string): Route {
    const describe = async (model: string): Promise<ModelFacts> => {
      const card = this.#options.cards?.find((candidate) => candidate.id === model)
      return card
        ? { ...card, listed: true }
        : { id: model, name: model, inputs: ['text'], reasoning: false, efforts: [], listed: false }
    }
    const models = new Set(
      this.cassette.calls
        .map(({ head }) => head.config as unknown as CallConfig)
        .filter(({ provider }) => provider === id)
        .map(({ model }) => model),
    )
    return {
      id,
      label: `${id} (replay)`,
      wire: 'replay',
      neverDefault: true,
      retry: NO_RETRY,
      models: () => Promise.all([...models].map(describe)),
      describe,
      prepare: async (config) => {
        const header: RequestHeader = { config }
        let used = false
        return {
          header,
          facts: await describe(config.model),
          retry: NO_RETRY,
          stream: (request) => {
            if (used) throw new Error('a prepared call streams once')
            used = true
            return this.#play(header, request)
          },
        }
      },
    }
  }

  async *#play(header: RequestHeader, request: BuiltRequest): AsyncGenerator<StreamEvent> {
    const placeholders = new Placeholders(this.#options.tokens(request.sessionId))
    const live = fingerprint(header, request, placeholders)
    const call = this.#find(live, request)
    if (!call) return yield* this.#miss(live, request)
    this.#consumed.add(call)
    this.seen.set(call, live)
    try {
      yield* this.#events(call, request, placeholders)
    } catch (error) {
      if (!request.signal.aborted) throw error
      yield { t: 'end', finish: { kind: 'aborted', failure: { code: 'ABORTED', message: 'The call was stopped.' } } }
    }
  }

  #find(live: Fingerprint, request: BuiltRequest): RecordedCall | undefined {
    const open = this.cassette.calls.filter((call) => !this.#consumed.has(call) && call.head.lane === request.lane)
    if (this.#options.mode === 'refresh') return open[0]
    const hash = live.links.at(-1)
    return open.find(({ head }) => head.hash === hash && head.attempt === request.attempt)
  }

  *#miss(live: Fingerprint, request: BuiltRequest): Generator<StreamEvent> {
    const next = this.cassette.calls.find((call) => !this.#consumed.has(call) && call.head.lane === request.lane)
    const scenario = this.cassette.head.scenario
    const difference = next
      ? firstDifference({ ...next.head, messages: next.messages }, live)
      : `lane ${request.lane} has no more recorded calls`
    const report =
      `replay of ${scenario}: call ${this.#consumed.size + 1} in lane ${request.lane} is not in the cassette; ${difference}\n` +
      `If the change is wanted: core-web replay --mode refresh <cassette of ${scenario}>`
    this.misses.push(report)
    yield { t: 'end', finish: { kind: 'error', failure: { code: 'UNKNOWN', message: report.slice(0, 300) } } }
  }

  async *#events(call: RecordedCall, request: BuiltRequest, placeholders: Placeholders): AsyncGenerator<StreamEvent> {
    const kinds = new Map<number, string>()
    for (const [index, line] of call.events.entries()) {
      const fault = call.faults.find(({ at }) => at === index)
      if (fault) {
        const ended = await this.#fault(fault, request.signal)
        if (ended) return yield ended
      }
      await this.#wait(line.d, request.signal)
      yield streamEvent(line, kinds, placeholders)
    }
    const late = call.faults.find(({ at, kind }) => at >= call.events.length && kind !== 'missing-usage')
    if (late) {
      const ended = await this.#fault(late, request.signal)
      if (ended) return yield ended
    }
    const { end } = call
    if (!end)
      return yield {
        t: 'end',
        finish: { kind: 'error', failure: { code: 'STREAM_CLOSED', message: 'The recording has no end.' } },
      }
    const silent = call.faults.some(({ kind }) => kind === 'missing-usage')
    if (end.usage && !silent)
      yield { t: 'usage', usage: end.usage as unknown as Usage, ...(end.raw !== undefined && { raw: end.raw }) }
    yield { t: 'end', finish: { kind: end.finish } }
  }

  async #fault(fault: FaultLine, signal: AbortSignal): Promise<StreamEvent | undefined> {
    switch (fault.kind) {
      case 'missing-usage':
        return undefined
      case 'hang':
        await new Promise<never>((_, reject) => {
          if (signal.aborted) reject(signal.reason)
          signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        })
        return undefined
      case 'malformed':
        return {
          t: 'end',
          finish: { kind: 'error', failure: { code: 'MALFORMED_RESPONSE', message: 'Recorded fault: a bad chunk.' } },
        }
      case 'throw': {
        const failure: Failure = {
          code: fault.code as Failure['code'],
          message: `Recorded fault: ${fault.code}.`,
          ...(fault.status !== undefined && { status: fault.status }),
          ...(fault.retryAfterMs !== undefined && { providerRetryAfterMs: fault.retryAfterMs }),
        }
        return { t: 'end', finish: { kind: 'error', failure } }
      }
    }
  }

  #wait(ms: number, signal: AbortSignal): Promise<void> {
    const { speed = 0, cap = Number.POSITIVE_INFINITY, sleep = sleepFor } = this.#options
    signal.throwIfAborted()
    const time = Math.min(ms * speed, cap)
    return time > 0 ? sleep(time, signal) : Promise.resolve()
  }
}

function streamEvent({ e }: EventLine, kinds: Map<number, string>, placeholders: Placeholders): StreamEvent {
  switch (e[0]) {
    case 'open':
      kinds.set(e[1], e[2])
      return e[2] === 'tool'
        ? { t: 'open', i: e[1], kind: 'tool', callId: e[3], name: e[4] }
        : { t: 'open', i: e[1], kind: e[2] }
    case 'delta':
      return {
        t: 'delta',
        i: e[1],
        s: kinds.get(e[1]) === 'tool' ? placeholders.decodeJson(e[2]) : placeholders.decode(e[2]),
      }
    case 'close':
      return { t: 'close', i: e[1], ...(e[2] !== undefined && { meta: e[2] }) }
    case 'warn':
      return { t: 'warn', feature: e[1], detail: e[2] }
  }
}

/** The cassette with the hashes of what was really asked (`refresh`); the answers stay. */
export function refreshed(player: Player): { cassette: Cassette; changed: string[] } {
  const changed: string[] = []
  const lanes = new Map<string, number>()
  const calls = player.cassette.calls.map((call) => {
    const live = player.seen.get(call)
    if (!live) return call
    const known = lanes.get(call.head.lane) ?? 0
    lanes.set(call.head.lane, live.messages.length)
    const head = {
      ...call.head,
      hash: live.links.at(-1)!,
      links: live.links,
      tail: live.messages.slice(known).map(({ role, content }) => ({ role, content })),
      system: live.system,
      tools: live.tools,
      config: live.config as unknown as JsonObject,
    }
    if (head.hash !== call.head.hash)
      changed.push(`${head.lane} #${head.n}: ${firstDifference({ ...call.head, messages: call.messages }, live)}`)
    return { ...call, head, messages: live.messages }
  })
  return { cassette: { head: player.cassette.head, calls }, changed }
}
