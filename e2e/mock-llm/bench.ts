import { chat } from './chat.ts'
import { render } from './reply.ts'
import { ask, mockRoute, WIRES } from './rig.ts'
import { startMock } from './server.ts'

/**
 * CPU per chunk of each wire against the floor: the same bytes read raw through two async generators (spec gate: 6x).
 * node e2e/mock-llm/bench.ts [chunks]
 */
const ROUNDS = 5

async function* lines(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of response.body!) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = parts.pop()!
    for (const line of parts) if (line.startsWith('data: {')) yield line
  }
}
async function* deltas(source: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of source) {
    const value = JSON.parse(line.slice(6)) as { choices?: { delta?: { content?: string } }[] }
    const s = value.choices?.[0]?.delta?.content
    if (s) yield s
  }
}

async function cpu(run: () => Promise<number>): Promise<number> {
  const samples: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    const seen = await run()
    const { user, system } = process.cpuUsage(before)
    samples.push((user + system) / seen)
  }
  return samples.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
}

export interface ModelCpu {
  /** Microseconds of CPU per chunk: raw bytes through two async generators. */
  floor: number
  wires: { [wire: string]: number }
  /** Milliseconds for one call whose arguments come in 20-byte deltas, by size in KB. */
  arguments: { [kilobytes: string]: number }
}

/** The served bytes come from the same process; the cost of rendering them is measured once and taken off. */
export async function modelCpu(chunks = 20_000): Promise<ModelCpu> {
  const mock = await startMock()
  const reply = { text: 'word '.repeat(chunks), chunk: 5 }
  const rendering = await cpu(async () => chat.frames(render(reply, 'm', 0)).length)
  const floor = await cpu(async () => {
    mock.script('*', [reply])
    const response = await fetch(`${mock.url}/v1/chat/completions`, { method: 'POST', body: '{}' })
    let n = 0
    for await (const _s of deltas(lines(response))) n++
    return n
  })
  const wires: ModelCpu['wires'] = {}
  for (const wire of WIRES) {
    const cost = await cpu(async () => {
      mock.script('main', [reply])
      const { events } = await ask(mockRoute(mock, wire))
      return events.filter((event) => event.t === 'delta').length
    })
    wires[wire] = cost - rendering
  }
  const sizes: ModelCpu['arguments'] = {}
  for (const kilobytes of [40, 200]) {
    const toolCalls = [{ name: 'bash', arguments: JSON.stringify({ command: 'x'.repeat(kilobytes * 1024) }) }]
    mock.script('main', [{ toolCalls, chunk: 20 }])
    const started = performance.now()
    await ask(mockRoute(mock, 'chat'))
    sizes[kilobytes] = performance.now() - started
  }
  await mock.close()
  return { floor: floor - rendering, wires, arguments: sizes }
}

if (import.meta.main) {
  const result = await modelCpu(Number(process.argv[2] ?? 20_000))
  for (const [wire, cost] of Object.entries(result.wires))
    console.log(`${wire}: ${cost.toFixed(2)} us per chunk, ${(cost / result.floor).toFixed(1)}x the floor (gate 6x)`)
  console.log(`floor: ${result.floor.toFixed(2)} us per chunk`)
  for (const [kb, ms] of Object.entries(result.arguments)) console.log(`arguments of ${kb} KB: ${Math.round(ms)} ms`)
}
