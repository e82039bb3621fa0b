import { startHost } from '../host.ts'
import { mockRoute, request, user } from '../mock-llm/rig.ts'
import { cpuOf, figure, median, paired, repeated, ROUNDS, timed, type Figure, type Group } from './figure.ts'
import { Meter } from './meter.ts'
import { addMock, bigReply, DELTAS, mockProcess, mockSession, onLane, scratch, type MockProcess } from './rig.ts'

const TIMES = 8
/** One frame per delta, as a server without packing sends it: about this many bytes of envelope around five characters. */
const UNPACKED_BYTES = 130

/** The least there is: one POST, and the first piece of its body that carries text. */
async function directCall(mock: MockProcess): Promise<void> {
  const body = JSON.stringify({ model: 'mock-model', stream: true, messages: [{ role: 'user', content: 'go' }] })
  const response = await fetch(`${mock.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const decoder = new TextDecoder()
  let seen = false
  // Read to the end: an answer left half read would keep its connection from the next call.
  for await (const bytes of response.body!) seen ||= decoder.decode(bytes, { stream: true }).includes('"content"')
  if (!seen) throw new Error('the mock answered without text')
}

async function firstDelta(meter: Meter, mock: MockProcess, session: string): Promise<Figure> {
  let n = 0
  const prompt = async () => {
    const ended = meter.next((text) => text.includes('"turn/end"'))
    const delta = meter.next((text) => text.startsWith('{"t":"delta"'))
    const ms = await timed(() => {
      meter.send({ t: 'command', id: `p${n++}`, name: 'session.prompt', args: { session, text: 'go' } })
      return delta
    })
    await ended
    return ms
  }
  const times = await paired(
    () => repeated(TIMES, prompt),
    () => repeated(TIMES, () => timed(() => directCall(mock))),
  )
  return figure({
    name: 'prompt to first delta',
    unit: 'ms',
    ...times,
    floorIs: 'the mock called directly',
    judged: 'over',
    target: 5,
  })
}

/** Reads the whole answer through the adapter and drops it. */
async function adapterAlone(mock: MockProcess): Promise<void> {
  const route = mockRoute(mock, 'chat')
  const call = await route.prepare({ provider: route.id, model: 'mock-model' })
  let deltas = 0
  for await (const event of call.stream(request({ messages: [user(onLane('big'))], lane: 'big' })))
    if (event.t === 'delta') deltas++
  if (deltas !== DELTAS) throw new Error(`the adapter told ${deltas} deltas of ${DELTAS}`)
}

async function manyDeltas(meter: Meter, mock: MockProcess, session: string): Promise<Figure[]> {
  const frames: number[] = []
  const bytes: number[] = []
  let n = 0
  const throughAll = () => {
    meter.reset()
    const ended = meter.next((text) => text.includes('"turn/end"'))
    meter.send({ t: 'command', id: `b${n++}`, name: 'session.prompt', args: { session, text: onLane('big') } })
    return ended
  }
  const cpu = await paired(
    async () => {
      const ms = await cpuOf(throughAll)
      frames.push(meter.frames)
      bytes.push(meter.bytes / 1024)
      return (ms * 1000) / DELTAS
    },
    async () => ((await cpuOf(() => adapterAlone(mock))) * 1000) / DELTAS,
    ROUNDS,
  )
  return [
    figure({
      name: '20,000 deltas, CPU per delta',
      unit: 'us',
      ...cpu,
      floorIs: 'the adapter consumed alone',
      judged: 'ratio',
      target: 2,
    }),
    figure({
      name: '20,000 deltas, frames',
      unit: 'frames',
      value: median(frames),
      floor: DELTAS,
      floorIs: 'one frame per delta',
      judged: 'value',
      target: 2000,
    }),
    figure({
      name: '20,000 deltas, bytes',
      unit: 'KB',
      value: median(bytes),
      floor: (DELTAS * UNPACKED_BYTES) / 1024,
      floorIs: `one frame of ${UNPACKED_BYTES} bytes per delta`,
      judged: 'value',
      target: 1024,
    }),
  ]
}

export const group: Group = async () => {
  const { root, remove } = scratch()
  const mock = await mockProcess(root, { big: [bigReply()], '*': [{ text: 'Done.' }] })
  const host = await startHost()
  const client = await host.connect()
  await addMock(client, mock)
  const workspace = await host.workspace(client)
  const [short, long] = [await mockSession(client, workspace), await mockSession(client, workspace)]
  await client.close()
  const meter = await Meter.open(host.url)
  for (const session of [short, long]) {
    const attached = meter.next((text) => text.startsWith('{"t":"snapshot"'))
    meter.send({ t: 'attach', session })
    await attached
  }
  const figures = [await firstDelta(meter, mock, short), ...(await manyDeltas(meter, mock, long))]
  meter.close()
  await host.remove()
  await mock.stop()
  remove()
  return figures
}
