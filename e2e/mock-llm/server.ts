import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chat } from './chat.ts'
import { gemini } from './gemini.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'
import { delayOf, ERRORS, render, STREAM_ERROR, type Behavior, type Dialect, type Reply } from './reply.ts'

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
  listen(): Promise<void>
  /** Ends every connection, stalled ones too. */
  close(): Promise<void>
}

const HTML = '<!doctype html><html><body><h1>Sign in</h1></body></html>'

/** A provider for tests: four dialects on one port, scripted per lane (header `x-lane`). */
export async function startMock(options: MockOptions = {}): Promise<Mock> {
  const lanes = new Map<string, Reply[]>()
  const requests: MockRequest[] = []
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
    await answer({ request, response, dialect, reply, model: captured.model, n: answered++ })
  }
  const port = await listenOn(server, options.port ?? 0)
  if (options.delayed) await closeServer(server)
  return {
    url: `http://127.0.0.1:${port}`,
    script: (lane, replies) => lanes.set(lane, [...(lanes.get(lane) ?? []), ...replies]),
    left: () => [...lanes.values()].reduce((sum, replies) => sum + replies.length, 0),
    requests,
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

interface Answer {
  request: IncomingMessage
  response: ServerResponse
  dialect: Dialect
  reply: Reply
  model: string
  n: number
}

async function answer(call: Answer): Promise<void> {
  const { response, dialect, reply, n } = call
  const behavior = reply.behavior ?? 'success'
  const error = ERRORS[behavior]
  const headers = { 'x-request-id': `req_${n}`, ...reply.headers }
  if (reply.firstDelayMs) await pause(reply.firstDelayMs, response)
  if (error) {
    const body = dialect.errorBody({ ...error, message: reply.errorMessage ?? error.message })
    return json(response, error.status, body, { ...error.headers, ...headers })
  }
  if (behavior === 'connection_reset') return void call.request.socket.resetAndDestroy()
  if (behavior === 'html_200')
    return void response.writeHead(200, { ...headers, 'content-type': 'text/html' }).end(HTML)
  const type = behavior === 'wrong_content_type' ? 'application/octet-stream' : 'text/event-stream'
  response.writeHead(200, { ...headers, 'content-type': type, 'cache-control': 'no-cache' })
  response.flushHeaders()
  await stream(call, behavior)
}

/** Frames of the answer, up to the point where its behaviour breaks off. */
async function stream(call: Answer, behavior: Behavior): Promise<void> {
  const { response, dialect, reply, model, n } = call
  const all = reply.frames ?? dialect.frames(render(reply, model, n))
  const middle = Math.max(1, Math.ceil(all.length / 2))
  const frames = reply.inject ? [...all.slice(0, middle), ...reply.inject, ...all.slice(middle)] : all
  const send = (list: readonly string[]) => write(response, list, reply)
  switch (behavior) {
    case 'empty_body':
      return void response.end()
    case 'stream_eof':
      await send(frames.slice(0, 1))
      return void response.end()
    case 'partial_eof':
      await send(frames.slice(0, middle))
      return void response.end()
    case 'stream_disconnect':
      return void response.destroy()
    case 'partial_disconnect':
      await send(frames.slice(0, middle))
      await pause(5, response)
      return void response.destroy()
    case 'stall':
      return undefined
    case 'partial_stall':
      return send(frames.slice(0, middle))
    case 'keepalive_only':
      while (!response.destroyed) {
        response.write(': keepalive\n\n')
        await pause(10, response)
      }
      return undefined
    case 'malformed_json':
      return finish(response, send([...frames.slice(0, middle), 'data: {"cut\n\n', ...frames.slice(middle)]))
    case 'malformed_event':
      return finish(response, send([...frames.slice(0, middle), dialect.malformedFrame, ...frames.slice(middle)]))
    case 'unknown_event':
      return finish(response, send([...frames.slice(0, middle), dialect.unknownFrame, ...frames.slice(middle)]))
    case 'usage_without_choices':
      return finish(response, send([...frames.slice(0, middle), USAGE_ONLY, ...frames.slice(middle)]))
    case 'error_first_event':
      return finish(response, send([dialect.errorFrame(STREAM_ERROR)]))
    case 'error_mid_stream':
      return finish(
        response,
        send([...frames.slice(0, middle), dialect.errorFrame(STREAM_ERROR), ...frames.slice(middle)]),
      )
    default:
      return finish(response, send(frames))
  }
}

/** A chunk that some gateways send at the end of a chat stream: usage and no `choices`. */
const USAGE_ONLY =
  'data: {"id":"x","object":"chat.completion.chunk","usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n'

const WRITE_BYTES = 16 * 1024

async function write(response: ServerResponse, frames: readonly string[], reply: Reply): Promise<void> {
  const delay = delayOf(reply)
  if (delay > 0) {
    for (const frame of frames) {
      await put(response, frame)
      await pause(delay, response)
    }
    return
  }
  // Without delays many frames share a write: 20,000 deltas then cost the mock next to nothing.
  const bytes = Buffer.from(frames.join(''))
  const size = reply.splitBytes ?? WRITE_BYTES
  for (let from = 0; from < bytes.length && !response.destroyed; from += size) {
    await put(response, bytes.subarray(from, from + size))
    if (reply.splitBytes) await new Promise(setImmediate)
  }
}

function put(response: ServerResponse, data: string | Buffer): Promise<void> {
  if (response.destroyed || response.write(data)) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.once('drain', done).once('close', done)
  })
}

async function finish(response: ServerResponse, sent: Promise<void>): Promise<void> {
  await sent
  response.end()
}

/** Ends early when the client hangs up. */
function pause(ms: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      response.off('close', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    response.once('close', done)
  })
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
