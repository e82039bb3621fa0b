import { chat } from './chat.ts'
import { ask, mockRoute, WIRES } from './rig.ts'
import { startMock } from './server.ts'

/**
 * CPU per chunk of each wire against the floor: the same bytes read raw through two async generators (spec gate: 6x).
 * node e2e/mock-llm/bench.ts [chunks]
 */
const chunks = Number(process.argv[2] ?? 20_000)
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

/** The served bytes come from the same process; their cost is measured once and taken off. */
async function main(): Promise<void> {
  const mock = await startMock()
  const text = 'word '.repeat(chunks)
  const reply = { text, chunk: 5 }
  const render = await cpu(
    async () =>
      chat.frames({
        blocks: [{ kind: 'text', text }],
        usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 },
        finish: 'stop',
        chunk: 5,
        id: 'x',
        model: 'm',
      }).length,
  )
  const floor = await cpu(async () => {
    mock.script('*', [reply])
    const response = await fetch(`${mock.url}/v1/chat/completions`, { method: 'POST', body: '{}' })
    let n = 0
    for await (const _s of deltas(lines(response))) n++
    return n
  })
  const results: { [name: string]: string } = {
    'mock rendering (taken off)': `${render.toFixed(2)} us`,
    floor: `${(floor - render).toFixed(2)} us`,
  }
  for (const wire of WIRES) {
    const cost = await cpu(async () => {
      mock.script('main', [reply])
      const { events } = await ask(mockRoute(mock, wire))
      return events.filter((event) => event.t === 'delta').length
    })
    results[wire] = `${(cost - render).toFixed(2)} us, ${((cost - render) / (floor - render)).toFixed(1)}x the floor`
  }
  for (const kilobytes of [40, 200]) {
    const toolCalls = [{ name: 'bash', arguments: JSON.stringify({ command: 'x'.repeat(kilobytes * 1024) }) }]
    const started = performance.now()
    mock.script('main', [{ toolCalls, chunk: 20 }])
    await ask(mockRoute(mock, 'chat'))
    results[`arguments of ${kilobytes} KB in 20-byte deltas`] = `${Math.round(performance.now() - started)} ms`
  }
  await mock.close()
  console.log(JSON.stringify(results, null, 2))
}

await main()
