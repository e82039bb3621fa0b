import { parseArgs } from 'node:util'
import { readFileSync } from 'node:fs'
import { BEHAVIORS, type Behavior, type Reply } from './reply.ts'
import { startMock } from './server.ts'

/**
 * node e2e/mock-llm/main.ts [--port N] [--behavior NAME] [--script FILE] [--repeat-last] [--seed N --weights a=3,b=1] [--delay MS]
 * A script file is JSON: {"<lane or *>": [reply, ...]}. Prints one JSON line per event.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    behavior: { type: 'string' },
    script: { type: 'string' },
    'repeat-last': { type: 'boolean', default: false },
    seed: { type: 'string' },
    weights: { type: 'string', default: 'success=1' },
    delay: { type: 'string' },
  },
})

const isBehavior = (name: string): name is Behavior => (BEHAVIORS as readonly string[]).includes(name)

function weightsOf(text: string): Partial<Record<Behavior, number>> {
  const pairs = text.split(',').map((pair) => pair.split('='))
  const unknown = pairs.find(([name]) => !isBehavior(name ?? ''))
  if (unknown) throw new Error(`unknown behavior "${unknown[0]}" (known: ${BEHAVIORS.join(', ')})`)
  return Object.fromEntries(pairs.map(([name, weight]) => [name, Number(weight ?? 1)]))
}

const say = (event: object) => process.stdout.write(`${JSON.stringify({ at: Date.now(), ...event })}\n`)

if (values.behavior !== undefined && !isBehavior(values.behavior))
  throw new Error(`unknown behavior "${values.behavior}" (known: ${BEHAVIORS.join(', ')})`)

const mock = await startMock({
  port: Number(values.port),
  repeatLast: values['repeat-last'] || values.behavior !== undefined,
  delayed: values.delay !== undefined,
  ...(values.seed !== undefined && { random: { seed: Number(values.seed), weights: weightsOf(values.weights) } }),
  onEvent: say,
})
if (values.behavior !== undefined) mock.script('*', [{ behavior: values.behavior }])
if (values.script !== undefined) {
  const script = JSON.parse(readFileSync(values.script, 'utf8')) as { [lane: string]: Reply[] }
  for (const [lane, replies] of Object.entries(script)) mock.script(lane, replies)
}
if (values.delay !== undefined)
  setTimeout(() => void mock.listen().then(() => say({ event: 'listening' })), Number(values.delay))
say({ event: 'ready', url: mock.url })
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void mock.close().then(() => process.exit(0)))
