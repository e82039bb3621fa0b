import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { ground } from './leftovers.ts'
import { readPlaywright, readVitest, sum } from './results.ts'
import type { TestOutcome } from './results.ts'

/** One program of the run; `report` names the JSON file it leaves and how to read it. */
interface Phase {
  name: string
  args: readonly string[]
  env?: Record<string, string>
  report?: { file: string; read: (json: unknown) => TestOutcome[] }
}

interface PhaseOutcome {
  phase: Phase
  failed: boolean
  outcomes: TestOutcome[]
  seconds: number
}

const long = process.argv.includes('--long')
// A continuous integration that skips a test proves less than its line says.
const skippedFails = process.env['CI'] === 'true'

function vitest(name: string, file: string, extra: readonly string[]): Phase {
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${file}`]
  return {
    name,
    args: ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...extra],
    report: { file, read: readVitest },
  }
}

function shortPhases(): Phase[] {
  const browser: Phase = {
    name: 'browser tests',
    args: ['node_modules/@playwright/test/cli.js', 'test'],
    env: { PLAYWRIGHT_JSON_OUTPUT_FILE: 'reports/browser.json' },
    report: { file: 'reports/browser.json', read: readPlaywright },
  }
  return [
    { name: 'check', args: ['scripts/check.ts'] },
    vitest('unit and integration tests', 'reports/vitest.json', []),
    { name: 'experiments', args: ['scripts/experiments.ts'] },
    ...(globSync('e2e/browser/**/*.spec.ts').length > 0 ? [browser] : []),
    { name: 'clauses', args: ['scripts/clauses.ts'] },
  ]
}

function longPhases(): Phase[] {
  if (globSync('e2e/long/**/*.long.test.ts').length === 0) return []
  return [vitest('long tests', 'reports/long.json', ['--config', 'vitest.long.config.ts'])]
}

async function run(phase: Phase): Promise<PhaseOutcome> {
  console.log(`\n== ${phase.name}`)
  if (phase.report) rmSync(phase.report.file, { force: true })
  const own = ground()
  const started = performance.now()
  const env = { ...process.env, ...own.env, ...phase.env }
  const done = spawnSync(process.execPath, phase.args, { stdio: 'inherit', env })
  const outcomes = phase.report ? readReport(phase.report) : []
  const failed = done.status !== 0 || (phase.report !== undefined && outcomes.length === 0)
  const left = await own.leftovers()
  for (const line of left) console.log(`left behind: ${line}`)
  if (phase.report) outcomes.push(nothingLeft(phase.name, left))
  return { phase, failed, outcomes, seconds: (performance.now() - started) / 1000 }
}

const nothingLeft = (title: string, left: readonly string[]): TestOutcome => ({
  title: `${title} leave no process and no folder of the product behind`,
  file: '',
  status: left.length === 0 ? 'passed' : 'failed',
})

function readReport({ file, read }: NonNullable<Phase['report']>): TestOutcome[] {
  if (!existsSync(file)) return []
  return read(JSON.parse(readFileSync(file, 'utf8')))
}

/** A phase that failed without a failing test (types, layers, a crashed runner) counts as one failure. */
function outcomesOf({ phase, failed, outcomes }: PhaseOutcome): TestOutcome[] {
  if (!failed || outcomes.some((outcome) => outcome.status === 'failed')) return outcomes
  return [...outcomes, { title: phase.name, file: '', status: 'failed' }]
}

function describe(result: PhaseOutcome): string {
  const { passed, failed, skipped } = sum(outcomesOf(result))
  const counts = result.phase.report ? `${passed} passed, ${failed} failed, ${skipped} skipped, ` : ''
  return `${failed > 0 ? 'FAIL' : 'ok  '} ${result.phase.name}: ${counts}${result.seconds.toFixed(1)} s`
}

mkdirSync('reports', { recursive: true })
const results: PhaseOutcome[] = []
for (const phase of long ? longPhases() : shortPhases()) results.push(await run(phase))
const all = results.flatMap(outcomesOf)
const totals = sum(all)

console.log('\n== summary')
for (const result of results) console.log(describe(result))
for (const { title, file, status } of all) {
  if (status === 'failed' || (skippedFails && status === 'skipped'))
    console.log(`${status}: ${[file, title].filter(Boolean).join(' > ')}`)
}
if (skippedFails && totals.skipped > 0) console.log('with CI=true a skipped test is a failure')
process.exitCode = totals.failed > 0 || (skippedFails && totals.skipped > 0) ? 1 : 0
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
