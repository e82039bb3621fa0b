import { spawn } from 'node:child_process'

interface Step {
  name: string
  args: readonly string[]
}

interface Outcome {
  step: Step
  code: number
  seconds: number
  output: string
}

const prettier = 'node_modules/prettier/bin/prettier.cjs'

const steps: readonly Step[] = [
  { name: 'types, server', args: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.server.json'] },
  { name: 'types, page', args: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.web.json'] },
  { name: 'lint', args: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'layers', args: ['scripts/layers.ts'] },
  { name: 'planes', args: ['scripts/plane.ts'] },
  { name: 'unused', args: ['node_modules/knip/bin/knip.js', '--no-progress'] },
  // npm lays out package.json its own way.
  { name: 'format', args: [prettier, '--check', '--log-level', 'warn', '.', '!package.json'] },
]

async function run(step: Step): Promise<Outcome> {
  const started = performance.now()
  const child = spawn(process.execPath, step.args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  child.once('error', reject)
  // A step killed by a signal has no code and did not pass.
  child.once('close', (code) => resolve(code ?? 1))
  const code = await promise
  return { step, code, seconds: (performance.now() - started) / 1000, output: Buffer.concat(chunks).toString().trim() }
}

function report({ step, code, seconds, output }: Outcome): void {
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${step.name} (${seconds.toFixed(1)} s)`)
  if (code !== 0) console.log(`${output}\n`)
}

async function lane(queue: Step[], outcomes: Outcome[]): Promise<void> {
  for (let step = queue.shift(); step; step = queue.shift()) {
    const outcome = await run(step)
    report(outcome)
    outcomes.push(outcome)
  }
}

const queue = [...steps]
const outcomes: Outcome[] = []
// Two at a time: most steps are one thread, and more would only fight over a small machine's cores.
await Promise.all([lane(queue, outcomes), lane(queue, outcomes)])
const failed = outcomes.filter((outcome) => outcome.code !== 0).length
console.log(failed === 0 ? `check: ${steps.length} steps passed` : `check: ${failed} of ${steps.length} steps failed`)
process.exit(failed === 0 ? 0 : 1)
