import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { judgedValue, verdict, type Figure, type Group } from './figure.ts'
import { markdown, table } from './table.ts'

/**
 * node e2e/bench/main.ts [--only NAME]... [--markdown]
 * Every figure beside a floor of the same run; exit code 1 when a gate fails, with all figures in reports/bench.json.
 */
const GROUPS: Record<string, () => Promise<{ group: Group }>> = {
  start: () => import('./start.ts'),
  session: () => import('./session.ts'),
  preset: () => import('./preset.ts'),
  stream: () => import('./stream.ts'),
  models: () => import('./models.ts'),
  step: () => import('./step.ts'),
  sandbox: () => import('./sandbox.ts'),
  log: () => import('./log.ts'),
  open: () => import('./open.ts'),
  bundle: () => import('./bundle.ts'),
  browser: () => import('./browser.ts'),
  scroll: () => import('./scroll.ts'),
}

/** Milliseconds for one group on a busy machine. */
const GROUP_MS = 180_000
const REPORT = join(import.meta.dirname, '../../reports/bench.json')

interface Outcome {
  group: string
  figures: Figure[]
  seconds: number
  failed?: string
}

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, group: { type: 'string' }, markdown: { type: 'boolean' } },
})

/** A process of its own for each group: no group inherits another's heap, caches or open handles. */
async function runApart(group: string): Promise<Outcome> {
  const started = performance.now()
  const child = spawn(process.execPath, ['--expose-gc', import.meta.filename, '--group', group], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
    // A process group of its own: a group that hangs is ended with the servers and browsers it started.
    detached: true,
  })
  let figures: Figure[] = []
  child.on('message', (message) => (figures = message as Figure[]))
  let late = false
  const timer = setTimeout(() => {
    late = true
    process.kill(-child.pid!, 'SIGKILL')
  }, GROUP_MS)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(timer)
  const seconds = Math.round((performance.now() - started) / 100) / 10
  if (late) return { group, figures, seconds, failed: `took longer than ${GROUP_MS / 1000} s` }
  if (code !== 0 || figures.length === 0) return { group, figures, seconds, failed: `ended with exit code ${code}` }
  return { group, figures, seconds }
}

async function runHere(name: string): Promise<void> {
  const { group } = await GROUPS[name]!()
  const figures = await group()
  process.send!(figures, () => process.exit(0))
}

async function runAll(names: readonly string[]): Promise<number> {
  const load = loadavg()[0]!
  const cores = availableParallelism()
  console.log(`Node ${process.version}, ${cores} cores (${cpus()[0]?.model ?? 'unknown'}), load ${load.toFixed(1)}`)
  if (load > cores / 2) console.log('The machine is busy: times are higher than on a quiet one, ratios less so.')
  const outcomes: Outcome[] = []
  for (const name of names) {
    const outcome = await runApart(name)
    outcomes.push(outcome)
    console.log(`\n== ${name} (${outcome.seconds} s)`)
    if (outcome.figures.length > 0) console.log(table(outcome.figures))
    if (outcome.failed) console.log(`${name} ${outcome.failed}`)
  }
  mkdirSync(join(REPORT, '..'), { recursive: true })
  const groups = outcomes.map((outcome) => ({
    ...outcome,
    figures: outcome.figures.map((one) => ({ ...one, judgedValue: judgedValue(one), verdict: verdict(one) })),
  }))
  writeFileSync(REPORT, `${JSON.stringify({ node: process.version, cores, load, groups }, null, 2)}\n`)
  const figures = outcomes.flatMap((outcome) => outcome.figures)
  if (values.markdown) console.log(`\n${markdown(figures)}`)
  const count = (wanted: string) => figures.filter((one) => verdict(one) === wanted).length
  const broken = outcomes.filter((outcome) => outcome.failed).length
  console.log(
    `\n${count('ok')} within target, ${count('over target')} over target, ${count('GATE')} over gate, ${broken} groups failed`,
  )
  return count('GATE') + broken > 0 ? 1 : 0
}

if (values.group) await runHere(values.group)
else {
  const names = values.only ?? Object.keys(GROUPS)
  const unknown = names.find((name) => !Object.hasOwn(GROUPS, name))
  if (unknown === undefined) process.exitCode = await runAll(names)
  else {
    console.error(`There is no group ${unknown}; there are ${Object.keys(GROUPS).join(', ')}.`)
    process.exitCode = 2
  }
}
