import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chat } from './chat.ts'
import { gemini } from './gemini.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'
import { ERRORS, type Behavior, type Dialect, type Reply } from './reply.ts'
import { Gates, pause, stream, type Answer } from './stream.ts'

export interface MockRequest {
  dialect: Dialect['name']
  path: string
  lane: string
  model: string
  headers: { [name: string]: string }
  body: { [key: string]: unknown }
  /** The exact bytes of the body. */
  raw: string
  /** When the answer's connection ended: `completed` tells a finished answer from a hang-up of the client. */
  closed: Promise<{ completed: boolean; at: number }>
}

export interface MockOptions {
  port?: number
  /** Starts without listening; `listen()` opens the port later (connection refused until then). */
  delayed?: boolean
  /** The last reply of a lane serves again and again. */
  repeatLast?: boolean
  /** Answers requests without script by a weighted draw of behaviours, repeatable by its seed. */
  random?: { seed: number; weights: Partial<Record<Behavior, number>> }
  models?: string[]
  onEvent?(event: { [key: string]: unknown }): void
}

export interface Mock {
  url: string
  script(lane: string, replies: readonly Reply[]): void
  /** Replies that no request took, over all lanes. */
  left(): number
  requests: MockRequest[]
  /** Opens a gate, for the answer that stands at it and for those that come later. */
  release(gate: string): void
  /** When an answer has come to a gate. */
  held(gate: string): Promise<void>
  listen(): Promise<void>
  /** Ends every connection, stalled ones too. */
  close(): Promise<void>
}

const HTML = '<!doctype html><html><body><h1>Sign in</h1></body></html>'
/** More than an HTTP client reads (16 KB each is a common limit). */
const HUGE_HEADERS = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`x-trace-${n}`, 'x'.repeat(4000)]))

/** A provider for tests: four dialects on one port, scripted per lane (header `x-lane`). */
export async function startMock(options: MockOptions = {}): Promise<Mock> {
  const lanes = new Map<string, Reply[]>()
  const requests: MockRequest[] = []
  const gates = new Gates()
  const draw = options.random ? weighted(options.random) : undefined
  let answered = 0
  const take = (lane: string): Reply | undefined => {
    const queue = [lane, '*'].map((key) => lanes.get(key)).find((replies) => replies && replies.length > 0)
    if (!queue) return draw?.()
    return options.repeatLast && queue.length === 1 ? queue[0] : queue.shift()
  }
  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined)
    })
  })
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? '/', 'http://mock').pathname
    if (request.method === 'GET' && path.endsWith('/models'))
      return listModels(response, options.models ?? ['mock-model'])
    const dialect = dialectOf(path)
    if (!dialect) return json(response, 404, { error: { message: `mock: no route ${path}` } })
    const captured = await capture(request, response, { dialect, path })
    requests.push(captured)
    const reply = take(captured.lane)
    options.onEvent?.({
      event: 'request',
      lane: captured.lane,
      dialect: dialect.name,
      path,
      behavior: reply?.behavior ?? 'success',
    })
    if (!reply) {
      const message = `mock: the script of lane "${captured.lane}" is used up`
      return json(response, 500, dialect.errorBody({ status: 500, type: 'mock_exhausted', message }))
    }
    await answer({ request, response, dialect, reply, model: captured.model, n: answered++, gates })
  }
  const port = await listenOn(server, options.port ?? 0)
  if (options.delayed) await closeServer(server)
  return {
    url: `http://127.0.0.1:${port}`,
    script: (lane, replies) => lanes.set(lane, [...(lanes.get(lane) ?? []), ...replies]),
    left: () => [...lanes.values()].reduce((sum, replies) => sum + replies.length, 0),
    requests,
    release: (gate) => gates.at(gate).open.resolve(),
    held: (gate) => gates.at(gate).reached.promise,
    listen: async () => void (await listenOn(server, port)),
    close: () => closeServer(server),
  }
}

function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/chat/completions')) return chat
  if (path.endsWith('/responses')) return responses
  if (path.endsWith('/messages')) return messages
  return path.endsWith(':streamGenerateContent') ? gemini : undefined
}

async function capture(
  request: IncomingMessage,
  response: ServerResponse,
  { dialect, path }: { dialect: Dialect; path: string },
): Promise<MockRequest> {
  const closed = new Promise<{ completed: boolean; at: number }>((resolve) => {
    response.on('close', () => resolve({ completed: response.writableFinished, at: performance.now() }))
  })
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString('utf8')
  const body = JSON.parse(text || '{}') as { [key: string]: unknown }
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const fromPath = /models\/([^/:]+):/.exec(path)?.[1]
  return {
    dialect: dialect.name,
    path,
    lane: headers['x-lane'] ?? laneOf(body, text),
    model: String(body.model ?? fromPath ?? 'mock-model'),
    headers,
    body,
    raw: text,
    closed,
  }
}

/** Without the header: a mark in the prompt, else the cache key that some dialects carry. */
function laneOf(body: { [key: string]: unknown }, text: string): string {
  const mark = /\[\[lane:([\w/:-]+)\]\]/.exec(text)?.[1]
  return mark ?? (typeof body.prompt_cache_key === 'string' ? body.prompt_cache_key : '*')
}

async function answer(call: Answer): Promise<void> {
  const { response, dialect, reply, n } = call
  const behavior = reply.behavior ?? 'success'
  const error = ERRORS[behavior]
  const headers = { 'x-request-id': `req_${n}`, ...reply.headers }
  if (reply.firstDelayMs) await pause(reply.firstDelayMs, response)
  if (error) {
    if (error.type === 'html')
      return void response.writeHead(error.status, { ...headers, 'content-type': 'text/html' }).end(error.message)
    const body = dialect.errorBody({ ...error, message: reply.errorMessage ?? error.message })
    return json(response, error.status, body, { ...error.headers, ...headers })
  }
  if (behavior === 'connection_reset') return void call.request.socket.resetAndDestroy()
  if (behavior === 'html_200')
    return void response.writeHead(200, { ...headers, 'content-type': 'text/html' }).end(HTML)
  if (behavior === 'huge_headers') Object.assign(headers, HUGE_HEADERS)
  const type = behavior === 'wrong_content_type' ? 'application/octet-stream' : 'text/event-stream'
  response.writeHead(200, { ...headers, 'content-type': type, 'cache-control': 'no-cache' })
  response.flushHeaders()
  await stream(call, behavior)
}

function json(response: ServerResponse, status: number, body: unknown, headers: { [name: string]: string } = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

const listModels = (response: ServerResponse, ids: readonly string[]): void =>
  json(response, 200, { object: 'list', data: ids.map((id) => ({ id, object: 'model', owned_by: 'mock' })) })

function listenOn(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function closeServer(server: ReturnType<typeof createServer>): Promise<void> {
  if (!server.listening) return Promise.resolve()
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** Linear congruential generator (Numerical Recipes constants): enough for a repeatable draw. */
function weighted({ seed, weights }: NonNullable<MockOptions['random']>): () => Reply {
  let state = seed >>> 0
  const entries = Object.entries(weights) as [Behavior, number][]
  const total = entries.reduce((sum, [, weight]) => sum + weight, 0)
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    let left = (state / 2 ** 32) * total
    const found = entries.find(([, weight]) => (left -= weight) < 0)
    return { behavior: found?.[0] ?? 'success' }
  }
}
