import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { AddressInfo } from 'node:net'
import { startHost, type TestHost } from '../host.ts'
import type { WireFamily } from '../../server/wire/messages.ts'
import { chat } from '../mock-llm/chat.ts'
import { gemini } from '../mock-llm/gemini.ts'
import { messages } from '../mock-llm/messages.ts'
import { render, type Dialect } from '../mock-llm/reply.ts'
import { responses } from '../mock-llm/responses.ts'
import { ask, mockRoute, WIRES } from '../mock-llm/rig.ts'
import { startMock, type Mock } from '../mock-llm/server.ts'
import { cpuOf, figure, median, paired, repeated, ROUNDS, type Figure, type Group } from './figure.ts'
import { Meter } from './meter.ts'
import { addMock, mockProcess, mockSession, onLane, prose, scratch, type MockProcess } from './rig.ts'

const CHUNKS = 20_000

async function* lines(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of response.body!) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = parts.pop()!
    for (const line of parts) if (line.startsWith('data: {')) yield line
  }
}
async function* parsed(source: AsyncIterable<string>): AsyncGenerator {
  for await (const line of source) yield JSON.parse(line.slice(6))
}
/** The least a program can do with a streamed answer: its chunks, counted. */
async function chunksOf(response: Response): Promise<number> {
  let n = 0
  for await (const _chunk of parsed(lines(response))) n++
  return n
}

/** Microseconds of CPU per chunk. */
async function cpu(run: () => Promise<number>): Promise<number> {
  const samples: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    const seen = await run()
    const { user, system } = process.cpuUsage(before)
    samples.push((user + system) / seen)
  }
  return median(samples)
}

const PATHS: { [W in WireFamily]: string } = {
  chat: 'chat/completions',
  responses: 'responses',
  messages: 'messages',
  gemini: 'models/m:streamGenerateContent?alt=sse',
}
const DIALECTS: { [W in WireFamily]: Dialect } = { chat, responses, messages, gemini }

/** The served bytes come from this process, too: what it costs to render them is measured by itself and taken off. */
async function perChunk(mock: Mock, wire: WireFamily): Promise<Figure> {
  const reply = { text: 'word '.repeat(CHUNKS), chunk: 5 }
  const rendering = await cpu(async () => DIALECTS[wire].frames(render(reply, 'm', 0)).length)
  const floor = await cpu(async () => {
    mock.script('*', [reply])
    return chunksOf(await fetch(`${mock.url}/v1/${PATHS[wire]}`, { method: 'POST', body: '{}' }))
  })
  const cost = await cpu(async () => {
    mock.script('main', [reply])
    const { events } = await ask(mockRoute(mock, wire))
    return events.filter((event) => event.t === 'delta').length
  })
  return figure({
    name: `CPU per chunk, ${wire}`,
    unit: 'us',
    value: cost - rendering,
    floor: floor - rendering,
    floorIs: 'the same bytes read and parsed through two async generators',
    judged: 'ratio',
    target: 6,
  })
}

async function largeArguments(mock: Mock): Promise<Figure> {
  const call = async (kilobytes: number) => {
    const toolCalls = [{ name: 'bash', arguments: JSON.stringify({ command: 'x'.repeat(kilobytes * 1024) }) }]
    mock.script('main', [{ toolCalls, chunk: 20 }])
    const { blocks } = await ask(mockRoute(mock, 'chat'))
    if (blocks.length !== 1) throw new Error('the call did not arrive')
  }
  const times = await paired(
    () => cpuOf(() => call(200)),
    () => cpuOf(() => call(40)),
  )
  return figure({
    name: 'tool arguments of 200 KB in 20-byte deltas',
    unit: 'ms CPU',
    ...times,
    floorIs: 'the same with 40 KB: five times as much is the least',
    judged: 'ratio',
    target: 5.5,
    gate: 8,
  })
}

interface Endless {
  url: string
  /** Resolves with the time at which the connection of the answer under way was closed by the other side. */
  closed(): Promise<number>
  server: Server
}

/** A model that never stops talking, and knows when nobody listens any more. */
async function endless(): Promise<Endless> {
  let closed = Promise.withResolvers<number>()
  const server = createServer((_request, response) => {
    const ended = (closed = Promise.withResolvers<number>())
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const say = () =>
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'word ' } }] })}\n\n`)
    say()
    const timer = setInterval(say, 10)
    response.on('close', () => {
      clearInterval(timer)
      ended.resolve(performance.now())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, closed: () => closed.promise, server }
}

async function abort(host: TestHost): Promise<Figure> {
  const model = await endless()
  const client = await host.connect()
  await addMock(client, model, 'endless')
  const workspace = await host.workspace(client)
  const session = await mockSession(client, workspace, 'minimal', 'endless')
  await client.close()
  const meter = await Meter.open(host.url)
  const attached = meter.next((text) => text.startsWith('{"t":"snapshot"'))
  meter.send({ t: 'attach', session })
  await attached
  let n = 0
  const stopped = async () => {
    const ended = meter.next((text) => text.includes('"turn/end"'))
    const delta = meter.next((text) => text.startsWith('{"t":"delta"'))
    meter.send({ t: 'command', id: `e${n++}`, name: 'session.prompt', args: { session, text: 'go' } })
    await delta
    const from = performance.now()
    meter.send({ t: 'command', id: `e${n++}`, name: 'session.stop', args: { session } })
    const ms = (await model.closed()) - from
    await ended
    return ms
  }
  const bare = async () => {
    const controller = new AbortController()
    const response = await fetch(model.url, { method: 'POST', signal: controller.signal })
    const reader = response.body!.getReader()
    await reader.read()
    const from = performance.now()
    controller.abort()
    const ms = (await model.closed()) - from
    await reader.read().catch(() => undefined) // the abort is what was asked for
    return ms
  }
  const times = await paired(
    () => repeated(4, stopped),
    () => repeated(4, bare),
  )
  meter.close()
  model.server.close()
  return figure({
    name: 'stop pressed to provider connection closed',
    unit: 'ms',
    ...times,
    floorIs: 'a bare fetch aborted in this process',
    judged: 'value',
    target: 10,
    gate: 20,
  })
}

const STREAMS = 50
const STREAM_DELTAS = 400

/** Milliseconds, the 99th percentile of what a timer of 1 ms comes late by while `work` runs. */
async function lateness(work: () => Promise<unknown>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: 1 })
  histogram.enable()
  await work()
  histogram.disable()
  return histogram.percentile(99) / 1e6
}

async function manyStreams(host: TestHost, mock: MockProcess): Promise<Figure> {
  const client = await host.connect()
  await addMock(client, mock, 'paced')
  const workspace = await host.workspace(client)
  const sessions: string[] = []
  for (let n = 0; n < STREAMS; n++) sessions.push(await mockSession(client, workspace, 'minimal', 'paced'))
  await client.close()
  const meter = await Meter.open(host.url)
  const attached = sessions.map((session) =>
    meter.next((text) => text.startsWith('{"t":"snapshot"') && text.includes(session)),
  )
  for (const session of sessions) meter.send({ t: 'attach', session })
  await Promise.all(attached)
  let n = 0
  const all = () =>
    Promise.all(
      sessions.map((session) => {
        const ended = meter.next((text) => text.includes('"turn/end"') && text.includes(session))
        meter.send({ t: 'command', id: `s${n++}`, name: 'session.prompt', args: { session, text: onLane('paced') } })
        return ended
      }),
    )
  const body = JSON.stringify({ stream: true, messages: [{ role: 'user', content: onLane('paced') }] })
  const raw = () =>
    Promise.all(
      sessions.map(async () => {
        const response = await fetch(`${mock.url}/v1/chat/completions`, { method: 'POST', body })
        const seen = await chunksOf(response)
        if (seen < STREAM_DELTAS) throw new Error(`only ${seen} deltas came`)
      }),
    )
  const times = await paired(
    () => lateness(all),
    () => lateness(raw),
    1,
  )
  meter.close()
  return figure({
    name: `${STREAMS} sessions at 100 deltas/s, event-loop delay p99`,
    unit: 'ms',
    ...times,
    floorIs: 'the same answers read raw in this process',
    judged: 'value',
    target: 30,
  })
}

export const group: Group = async () => {
  const { root, remove } = scratch()
  const direct = await startMock()
  const figures: Figure[] = []
  for (const wire of WIRES) figures.push(await perChunk(direct, wire))
  figures.push(await largeArguments(direct))
  await direct.close()
  const paced = { text: prose(STREAM_DELTAS * 5), chunk: 5, delayMs: 10 }
  const mock = await mockProcess(root, { paced: [paced], '*': [paced] })
  const host = await startHost()
  figures.push(await abort(host), await manyStreams(host, mock))
  await host.remove()
  await mock.stop()
  remove()
  return figures
}
