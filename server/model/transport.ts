import { createHash } from 'node:crypto'
import { directFetch, proxyOf } from './dispatch.ts'
import { gate, malformed, mapEvents } from './sse-gate.ts'

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>

/** What the wire told about one HTTP attempt, for the error taxonomy. */
export interface WireFacts {
  watchdog?: 'first-byte' | 'idle'
  status?: number
  headers?: Headers
  requestId?: string
  /** `host:port` as dialled, and that of the proxy that may stand in between. */
  host?: string
  proxy?: string
}

export interface TransportOptions {
  fetch?: Fetch
  /** Address of a proxy, or `none`; absent: the environment decides. */
  proxy?: string
  /** Milliseconds from dispatch to the first byte of the body; 0 = no deadline. Default 600 s: slow prefill is normal. */
  firstByteMs?: number
  /** Milliseconds of silence per outstanding read; any byte re-arms it, comments and pings too. Default 300 s; 0 = none. */
  idleMs?: number
  /** Called once per HTTP attempt, over the exact body that goes out (LP-07). */
  onSent?(sent: { path: string; bytes: number; sha256: string; body: string }): void
  /** Headers set by a library although the route is keyless, or names its key elsewhere. */
  dropHeaders?: readonly string[]
  /** Last word on headers, whatever a library made of their names. */
  setHeaders?: { [name: string]: string }
  /** Last word on the JSON body. */
  rewriteBody?(body: { [key: string]: unknown }): { [key: string]: unknown }
  /** Sees each event of the answer before the library; null drops it. */
  mapEvent?(data: unknown, text: string): string | null
}

export const FIRST_BYTE_MS = 600_000
export const IDLE_MS = 300_000

/** Headers that never enter a capture or a tape. */
export const SECRET_HEADERS = [
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'cookie',
  'set-cookie',
  'proxy-authorization',
] as const

export function stripSecrets(headers: Headers): { [name: string]: string } {
  const safe = new Headers(headers)
  for (const name of SECRET_HEADERS) safe.delete(name)
  return Object.fromEntries(safe)
}

/** A fetch for one provider call: deadlines at byte level, the event-stream gate, body rewriting and its digest. */
export function wireFetch(options: TransportOptions = {}): { fetch: Fetch; facts: WireFacts } {
  const facts: WireFacts = {}
  const send = options.fetch ?? directFetch(options.proxy)
  const fetch: Fetch = async (url, init = {}) => {
    const body = rewrite(init.body, options)
    const headers = new Headers(init.headers)
    for (const name of options.dropHeaders ?? []) headers.delete(name)
    for (const [name, value] of Object.entries(options.setHeaders ?? {})) headers.set(name, value)
    Object.assign(facts, targetOf(url, options.proxy))
    if (typeof body === 'string') options.onSent?.(digest(url, body))
    const deadline = new Deadline(facts, options)
    const signal = init.signal ? AbortSignal.any([init.signal, deadline.signal]) : deadline.signal
    try {
      const response = await send(url, { ...init, headers, signal, ...(body !== undefined && { body }) })
      record(facts, response)
      const watched = watch(response, deadline, init.signal ?? undefined)
      if (!response.ok) return watched
      const gated = await gate(watched)
      if (!options.mapEvent || !gated.body) return gated
      return new Response(mapEvents(gated.body, options.mapEvent), { status: gated.status, headers: gated.headers })
    } catch (error) {
      deadline.clear()
      throw error
    }
  }
  return { fetch, facts }
}

const addressOf = (url: string | URL | Request): string => (url instanceof Request ? url.url : String(url))

/** For the words of a failure; an address that cannot be read fails by itself later on. */
export function targetOf(url: string | URL | Request, setting?: string): Pick<WireFacts, 'host' | 'proxy'> {
  const address = addressOf(url)
  if (!URL.canParse(address)) return {}
  const proxy = proxyOf(address, setting)
  return { host: new URL(address).host, ...(proxy !== undefined && { proxy }) }
}

function rewrite(body: RequestInit['body'], options: TransportOptions): RequestInit['body'] | undefined {
  if (typeof body !== 'string' || !options.rewriteBody) return body ?? undefined
  return JSON.stringify(options.rewriteBody(JSON.parse(body) as { [key: string]: unknown }))
}

function digest(
  url: string | URL | Request,
  body: string,
): { path: string; bytes: number; sha256: string; body: string } {
  return {
    path: new URL(addressOf(url)).pathname,
    bytes: Buffer.byteLength(body),
    sha256: createHash('sha256').update(body).digest('hex'),
    body,
  }
}

function record(facts: WireFacts, response: Response): void {
  facts.status = response.status
  facts.headers = response.headers
  const requestId = response.headers.get('x-request-id') ?? response.headers.get('request-id')
  if (requestId) facts.requestId = requestId
}

/** One timer per call: first the wait for the first byte, then the silence within each read. */
class Deadline {
  readonly #facts: WireFacts
  readonly #controller = new AbortController()
  readonly #idleMs: number
  #timer: NodeJS.Timeout | undefined
  #kind: 'first-byte' | 'idle' = 'first-byte'
  #waiting = true
  onFire: ((error: Error) => void) | undefined

  constructor(facts: WireFacts, options: TransportOptions) {
    this.#facts = facts
    this.#idleMs = options.idleMs ?? IDLE_MS
    this.#arm(options.firstByteMs ?? FIRST_BYTE_MS)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** A read begins: from now on silence counts. The consumer's own time does not. */
  reading(): void {
    this.#waiting = true
    if (this.#kind === 'idle') this.#timer?.refresh()
  }

  bytes(): void {
    this.#waiting = false
    if (this.#kind === 'idle') return
    this.#kind = 'idle'
    clearTimeout(this.#timer)
    this.#arm(this.#idleMs)
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #arm(ms: number): void {
    this.#timer = ms > 0 ? setTimeout(() => this.#fire(), ms) : undefined
  }

  #fire(): void {
    if (!this.#waiting) return
    this.#facts.watchdog = this.#kind
    const error = new DOMException(`no byte from the provider (${this.#kind})`, 'TimeoutError')
    this.#controller.abort(error)
    this.onFire?.(error)
  }
}

function watch(response: Response, deadline: Deadline, signal: AbortSignal | undefined): Response {
  if (!response.body) {
    deadline.clear()
    return response
  }
  const reader = response.body.getReader()
  let total = 0
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      deadline.onFire = (error) => controller.error(error)
    },
    async pull(controller) {
      deadline.reading()
      const { done, value } = await reader.read().catch((error: unknown) => {
        deadline.clear()
        throw signal?.aborted ? signal.reason : error
      })
      if (done) {
        deadline.clear()
        if (total === 0 && response.ok) throw malformed('The provider answered with an empty body.')
        return controller.close()
      }
      total += value.byteLength
      deadline.bytes()
      controller.enqueue(value)
    },
    cancel(reason) {
      deadline.clear()
      return reader.cancel(reason)
    },
  })
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers })
}
