import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { delayOf, render, STREAM_ERROR, type Behavior, type Dialect, type Reply } from './reply.ts'

export interface Answer {
  request: IncomingMessage
  response: ServerResponse
  dialect: Dialect
  reply: Reply
  model: string
  n: number
  gates: Gates
}

/** Places where answers wait for a test, by name; asked for before or after an answer comes there. */
export class Gates {
  readonly #gates = new Map<string, { reached: PromiseWithResolvers<void>; open: PromiseWithResolvers<void> }>()

  at(name: string) {
    const gate = this.#gates.get(name) ?? { reached: Promise.withResolvers(), open: Promise.withResolvers() }
    this.#gates.set(name, gate)
    return gate
  }

  /** Ends early when the client hangs up. */
  async pass(name: string, response: ServerResponse): Promise<void> {
    const { reached, open } = this.at(name)
    reached.resolve()
    const gone = response.destroyed ? Promise.resolve() : once(response, 'close')
    await Promise.race([open.promise, gone])
  }
}

/** Frames of the answer, up to the point where its behaviour breaks off. */
export async function stream(call: Answer, behavior: Behavior): Promise<void> {
  const { response, dialect, reply, model, n } = call
  const rendering = render(reply, model, n)
  const all = reply.frames ?? (behavior === 'refusal' ? dialect.refusal(rendering) : dialect.frames(rendering))
  const middle = Math.max(1, Math.ceil(all.length / 2))
  const frames = reply.inject ? [...all.slice(0, middle), ...reply.inject, ...all.slice(middle)] : all
  const send = (list: readonly string[]) => sendGated(call, list)
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

async function sendGated({ response, reply, gates }: Answer, frames: readonly string[]): Promise<void> {
  const names = reply.gates ?? []
  const parts = names.length + 1
  for (let part = 0; part < parts; part++) {
    if (part > 0) await gates.pass(names[part - 1]!, response)
    const [from, to] = [part, part + 1].map((edge) => Math.round((edge * frames.length) / parts))
    await write(response, frames.slice(from, to), reply)
  }
}

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
export function pause(ms: number, response: ServerResponse): Promise<void> {
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
