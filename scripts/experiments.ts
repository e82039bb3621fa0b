import { inspect } from 'node:util'
import { experiments } from '../e2e/experiments/all.ts'
import { judge, passed } from '../e2e/experiments/experiment.ts'
import type { Observation, Verdict } from '../e2e/experiments/experiment.ts'

const show = (value: unknown): string =>
  inspect(value, { depth: 6, breakLength: Infinity, compact: true, sorted: false })

function lines({ what, saw, expected }: Observation, ok: boolean): string[] {
  if (ok) return [`  saw   ${what}: ${show(saw)}`]
  return [`  saw   ${what}`, `        actual   ${show(saw)}`, `        expected ${show(expected)}`]
}

/** What one experiment did, what it observed, and what came of it. */
function print(verdict: Verdict): void {
  const { experiment, observations, failed, error } = verdict
  console.log(`${experiment.id} ${experiment.title}`)
  console.log(`  did   ${experiment.did}`)
  for (const observation of observations)
    for (const line of lines(observation, !failed.includes(observation))) console.log(line)
  if (error !== undefined) console.log(`  threw ${error instanceof Error ? error.stack : show(error)}`)
  console.log(passed(verdict) ? '  pass\n' : '  FAIL\n')
}

const verdicts: Verdict[] = []
for (const experiment of experiments) {
  const verdict = await judge(experiment)
  print(verdict)
  verdicts.push(verdict)
}
const failures = verdicts.filter((verdict) => !passed(verdict))
if (failures.length > 0) console.log(`FAIL: ${failures.map(({ experiment }) => experiment.id).join(', ')}`)
process.exitCode = failures.length === 0 && verdicts.length === 30 ? 0 : 1
console.log(`${verdicts.length - failures.length} of 30`)
