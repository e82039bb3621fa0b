import type { Json } from '../../wire/json.ts'
import type { BuiltRequest, PreparedCall, Route, StreamEvent } from '../port.ts'
import { Placeholders } from './canonical.ts'
import { fingerprint } from './chain.ts'
import type { Cassette, CassetteHead, EventLine, RecordedCall } from './cassette.ts'

export interface RecorderOptions {
  head: CassetteHead
  tokens: (sessionId: string) => { [name: string]: string }
  now?: () => number
}

/** Wraps live routes and writes down every call that reaches its end: one cassette per scenario. */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #calls: RecordedCall[] = []
  readonly #lanes = new Map<string, number>()

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  cassette(): Cassette {
    return { head: this.#options.head, calls: this.#calls }
  }

  wrap(route: Route): Route {
    return {
      ...route,
      prepare: async (config, signal) => {
        const prepared = await route.prepare(config, signal)
        return { ...prepared, stream: (request) => this.record(prepared, request) }
      },
    }
  }

  /** Streams a call and writes it down as it goes. */
  async *record(prepared: PreparedCall, request: BuiltRequest): AsyncGenerator<StreamEvent> {
    const { now = Date.now } = this.#options
    const placeholders = new Placeholders(this.#options.tokens(request.sessionId))
    const live = fingerprint(prepared.header, request, placeholders)
    const known = this.#lanes.get(request.lane) ?? 0
    const call: RecordedCall = {
      head: {
        k: 'call',
        lane: request.lane,
        n: this.#calls.filter(({ head }) => head.lane === request.lane).length,
        attempt: request.attempt,
        purpose: 'turn',
        hash: live.links.at(-1)!,
        links: live.links,
        tail: live.messages.slice(Math.min(known, live.messages.length)),
        config: live.config as unknown as Json,
        ...(live.adapterDefaults && { adapterDefaults: live.adapterDefaults }),
        system: live.system,
        tools: live.tools,
      },
      messages: live.messages,
      events: [],
      end: undefined,
      faults: [],
    }
    this.#lanes.set(request.lane, live.messages.length)
    this.#calls.push(call)
    const started = now()
    let last = started
    let usage: Json | undefined
    let raw: Json | undefined
    try {
      for await (const event of prepared.stream(request)) {
        const time = now()
        if (event.t === 'usage') ({ usage, raw } = { usage: event.usage as unknown as Json, raw: event.raw })
        if (event.t === 'end') note(call, event, { ms: time - started, usage, raw })
        const line = eventLine(event, time - last)
        if (line) call.events.push(line)
        last = time
        yield event
      }
    } finally {
      // Stopped, or left by its reader: a replay waits at this place until it is stopped too.
      if (!call.end && call.faults.length === 0)
        call.faults.push({ k: 'fault', at: call.events.length, kind: 'hang', code: 'ABORTED' })
      placeholdersInto(call, placeholders)
    }
  }
}

function note(
  call: RecordedCall,
  { finish }: Extract<StreamEvent, { t: 'end' }>,
  { ms, usage, raw }: { ms: number; usage: Json | undefined; raw: Json | undefined },
): void {
  if (finish.kind === 'aborted') return
  if (finish.kind === 'error') {
    const { code, status, providerRetryAfterMs } = finish.failure
    call.faults.push({
      k: 'fault',
      at: call.events.length,
      kind: 'throw',
      code,
      ...(status !== undefined && { status }),
      ...(providerRetryAfterMs !== undefined && { retryAfterMs: providerRetryAfterMs }),
    })
    return
  }
  call.end = {
    k: 'end',
    finish: finish.kind,
    ...(usage !== undefined && { usage: usage as { [key: string]: Json } }),
    ...(raw !== undefined && { raw }),
    ms,
  }
}

function eventLine(event: StreamEvent, d: number): EventLine | undefined {
  switch (event.t) {
    case 'open':
      return event.kind === 'tool'
        ? { k: 'ev', d, e: ['open', event.i, 'tool', event.callId ?? '', event.name ?? ''] }
        : { k: 'ev', d, e: ['open', event.i, event.kind] }
    case 'delta':
      return { k: 'ev', d, e: ['delta', event.i, event.s] }
    case 'close':
      return { k: 'ev', d, e: event.meta === undefined ? ['close', event.i] : ['close', event.i, event.meta] }
    case 'warn':
      return { k: 'ev', d, e: ['warn', event.feature, event.detail ?? ''] }
    case 'usage':
    case 'tokens':
    case 'end':
      return undefined
  }
}

/** Replaces live values by their names once a call is whole, block by block, so that no name is cut by a chunk. */
function placeholdersInto(call: RecordedCall, placeholders: Placeholders): void {
  const blocks = new Map<number, EventLine[]>()
  for (const line of call.events)
    if (line.e[0] === 'delta') blocks.set(line.e[1], [...(blocks.get(line.e[1]) ?? []), line])
  for (const lines of blocks.values()) {
    const encoded = placeholders.encodeChunks(lines.map(({ e }) => (e[0] === 'delta' ? e[2] : '')))
    lines.forEach((line, index) => {
      if (line.e[0] === 'delta') line.e = ['delta', line.e[1], encoded[index]!]
    })
  }
}
