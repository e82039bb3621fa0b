import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Terminal } from '../terminal/terminal.ts'
import { confinement, type Confinement } from './sandbox.fixture.ts'
import type { CallResult } from '../terminal/result.ts'

interface Expectation {
  endKind?: string | string[]
  exitCode?: number | 'nonzero'
  outEquals?: string
  outMatches?: string
  outNotMatches?: string
  totalBytesAtLeast?: number
  maxMs?: number
  stateKept?: boolean
  nextCallClean?: boolean
}

interface Step {
  waitMs?: number
  command: string
  timeoutMs?: number
  expect?: Expectation
}

export interface Case {
  name: string
  needs?: string[]
  setup?: string[]
  call: { command: string; timeoutMs?: number; cancelAtMs?: number }
  then?: Step[]
  expect: Expectation
}

const path = join(import.meta.dirname, '../terminal/cases.json')
const [about, ...rest] = JSON.parse(readFileSync(path, 'utf8')) as [{ about: { counts: { cases: number } } }, ...Case[]]
export const cases: readonly Case[] = rest
/** As the file itself says. */
export const caseCount = about.about.counts.cases

const DEFAULT_MS = 5000
const GUARD_MS = 8000

const installed = (program: string) => spawnSync('/bin/sh', ['-c', `command -v ${program}`]).status === 0

/** Programs that the case needs and this machine has not. */
export const missingFor = ({ needs = [] }: Case): string[] => needs.filter((program) => !installed(program))

class Runner {
  readonly work: string
  readonly terminal: Terminal
  readonly #place: Confinement | undefined

  constructor(place?: Confinement) {
    this.#place = place
    this.work = place?.work ?? mkdtempSync(join(tmpdir(), 'shell-'))
    this.terminal = new Terminal({ cwd: this.work, ...(place && { confine: place.confine }) })
  }

  async call(step: Step & { cancelAtMs?: number }): Promise<CallResult> {
    const command = step.command
      .replaceAll('$WORK', this.work)
      .replace(/\{\{([^{}]*)\*(\d+)\}\}/, (_, text: string, times: string) => text.repeat(Number(times)))
    const timeoutMs = step.timeoutMs ?? DEFAULT_MS
    const signal = step.cancelAtMs === undefined ? undefined : AbortSignal.timeout(step.cancelAtMs)
    const hung = new AbortController()
    const guard = wait(timeoutMs + GUARD_MS, undefined, { signal: hung.signal }).then(() => {
      throw new Error(`the call never returned: ${command.slice(0, 80)}`)
    })
    guard.catch(() => undefined) // ends by abort when the call returns
    const result = await Promise.race([this.terminal.run(command, { timeoutMs, ...(signal && { signal }) }), guard])
    hung.abort()
    return result
  }

  async close() {
    await this.terminal.close()
    rmSync(this.work, { recursive: true, force: true })
    await this.#place?.remove()
  }
}

function check(result: CallResult, expected: Expectation, patience: number) {
  const { end, output, ms } = result
  if (expected.endKind) assert.ok([expected.endKind].flat().includes(end.kind), `ended as ${end.kind}`)
  if (expected.exitCode !== undefined) {
    const code = 'exitCode' in end ? end.exitCode : undefined
    if (expected.exitCode === 'nonzero') assert.ok(code !== undefined && code > 0, `exit code ${code}`)
    else assert.equal(code, expected.exitCode)
  }
  if (expected.outEquals !== undefined) assert.equal(output, expected.outEquals)
  if (expected.outMatches !== undefined) assert.match(output, new RegExp(expected.outMatches))
  if (expected.outNotMatches !== undefined) assert.doesNotMatch(output, new RegExp(expected.outNotMatches))
  const least = expected.totalBytesAtLeast ?? 0
  assert.ok(result.totalBytes >= least, `${result.totalBytes} bytes, not ${least}`)
  const most = (expected.maxMs ?? DEFAULT_MS) * patience
  assert.ok(ms < most, `took ${ms} ms, not less than ${most}`)
}

/** Throws what does not hold. `patience` multiplies the limits of time, for a machine that does other work meanwhile. */
export async function runCase(
  row: Case,
  { place, patience = 1 }: { place?: Confinement | undefined; patience?: number },
) {
  const { setup = [], call, then = [], expect: expected } = row
  const runner = new Runner(place)
  try {
    if (expected.stateKept) await runner.call({ command: 'CASE_STATE=kept' })
    for (const command of setup) await runner.call({ command })
    check(await runner.call(call), expected, patience)
    for (const step of then) {
      // The case itself asks for idle time: something has to happen while no call runs.
      if (step.waitMs) await wait(step.waitMs)
      const result = await runner.call(step)
      if (step.expect) check(result, step.expect, patience)
    }
    if (expected.stateKept) assert.match((await runner.call({ command: 'echo "s=$CASE_STATE"' })).output, /^s=kept$/m)
    if (!expected.nextCallClean) return
    const next = await runner.call({ command: 'echo "ok-$((1+1))"', timeoutMs: 4000 })
    assert.deepEqual(next.end, { kind: 'completed', exitCode: 0 })
    assert.equal(next.output, 'ok-2\n')
  } finally {
    await runner.close()
  }
}

/** As a process of its own, under a uid without rights: every case inside a sandbox. Prints one line of JSON. */
async function main(): Promise<void> {
  const failed: { name: string; message: string }[] = []
  const open = cases.filter((row) => missingFor(row).length === 0)
  const ran = open.length
  const work = async () => {
    for (let row = open.shift(); row; row = open.shift()) {
      try {
        await runCase(row, { place: confinement(), patience: 4 })
      } catch (error) {
        failed.push({ name: row.name, message: (error as Error).message })
      }
    }
  }
  await Promise.all([work(), work(), work()])
  process.stdout.write(JSON.stringify({ uid: process.getuid?.(), ran, failed }))
}

if (process.argv[1] === import.meta.filename) await main()
