import type { BuiltRequest, ModelCard, Route, StreamEvent } from '../server/model/port.ts'

/** One request of a session, answered by the test step by step. */
export class PuppetCall {
  readonly request: BuiltRequest
  readonly #events: StreamEvent[] = []
  #more = Promise.withResolvers<void>()
  #block = -1
  #kind: 'text' | 'reasoning' | undefined

  constructor(request: BuiltRequest) {
    this.request = request
    request.signal.addEventListener('abort', () => this.#more.resolve(), { once: true })
  }

  say(text: string): this {
    return this.#write('text', text)
  }

  think(text: string): this {
    return this.#write('reasoning', text)
  }

  call(callId: string, name: string, args: object): this {
    this.#close()
    const i = ++this.#block
    this.#push({ t: 'open', i, kind: 'tool', callId, name })
    this.#push({ t: 'delta', i, s: JSON.stringify(args) })
    return this.#push({ t: 'close', i })
  }

  finish(kind: 'stop' | 'tool-calls' = 'stop'): this {
    this.#close()
    return this.#push({ t: 'end', finish: { kind } })
  }

  async *stream(): AsyncGenerator<StreamEvent> {
    for (;;) {
      for (const event of this.#events.splice(0)) {
        yield event
        if (event.t === 'end') return
      }
      if (this.request.signal.aborted) {
        yield { t: 'end', finish: { kind: 'aborted', failure: { code: 'ABORTED', message: 'Stopped.' } } }
        return
      }
      await this.#more.promise
      this.#more = Promise.withResolvers()
      this.request.signal.addEventListener('abort', () => this.#more.resolve(), { once: true })
    }
  }

  #write(kind: 'text' | 'reasoning', s: string): this {
    if (this.#kind !== kind) {
      this.#close()
      this.#kind = kind
      this.#push({ t: 'open', i: ++this.#block, kind })
    }
    return this.#push({ t: 'delta', i: this.#block, s })
  }

  #close(): void {
    if (this.#kind) this.#push({ t: 'close', i: this.#block })
    this.#kind = undefined
  }

  #push(event: StreamEvent): this {
    this.#events.push(event)
    this.#more.resolve()
    return this
  }
}

const CARD: ModelCard = { id: 'string', name: 'Puppet', inputs: ['text'], reasoning: false, efforts: [] }

/** A model that says what the test lets it say, when the test says so. */
export class Puppet {
  static readonly selection = { provider: 'puppet', model: 'string' }
  readonly calls: PuppetCall[] = []
  #taken = 0
  #arrived = Promise.withResolvers<void>()

  /** The next request in order of arrival, waiting for it when it has not come yet. */
  async next(): Promise<PuppetCall> {
    while (this.calls.length <= this.#taken) await this.#arrived.promise
    return this.calls[this.#taken++]!
  }

  readonly route: Route = {
    id: 'puppet',
    label: 'Puppet',
    wire: 'replay',
    retry: { mode: 'normal', retries: 0, baseMs: 0, capMs: 0, jitter: 0 },
    models: async () => [CARD],
    describe: async (model) => ({ ...CARD, id: model, listed: true }),
    prepare: async (config) => ({
      header: { config },
      facts: { ...CARD, listed: true },
      retry: this.route.retry,
      stream: (request) => {
        const call = new PuppetCall(request)
        this.calls.push(call)
        this.#arrived.resolve()
        this.#arrived = Promise.withResolvers()
        return call.stream()
      },
    }),
  }
}
