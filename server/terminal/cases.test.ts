import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { confinement, unconfined, type Confinement } from '../plugins/sandbox.fixture.ts'
import type { CallResult } from './result.ts'
import { Terminal } from './terminal.ts'

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

interface Case {
  name: string
  needs?: string[]
  setup?: string[]
  call: { command: string; timeoutMs?: number; cancelAtMs?: number }
  then?: Step[]
  expect: Expectation
}

const path = join(import.meta.dirname, 'cases.json')
const [about, ...rest] = JSON.parse(readFileSync(path, 'utf8')) as [{ about: { counts: { cases: number } } }, ...Case[]]
const cases = rest
const DEFAULT_MS = 5000
const GUARD_MS = 8000

const installed = (program: string) => spawnSync('/bin/sh', ['-c', `command -v ${program}`]).status === 0

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

function check(result: CallResult, expected: Expectation) {
  const { end, output, ms } = result
  if (expected.endKind) expect([expected.endKind].flat()).toContain(end.kind)
  if (expected.exitCode !== undefined) {
    const code = 'exitCode' in end ? end.exitCode : undefined
    if (expected.exitCode === 'nonzero') expect(code).toBeGreaterThan(0)
    else expect(code).toBe(expected.exitCode)
  }
  if (expected.outEquals !== undefined) expect(output).toBe(expected.outEquals)
  if (expected.outMatches !== undefined) expect(output).toMatch(new RegExp(expected.outMatches))
  if (expected.outNotMatches !== undefined) expect(output).not.toMatch(new RegExp(expected.outNotMatches))
  if (expected.totalBytesAtLeast !== undefined)
    expect(result.totalBytes).toBeGreaterThanOrEqual(expected.totalBytesAtLeast)
  expect(ms).toBeLessThan(expected.maxMs ?? DEFAULT_MS)
}

async function runCase(runner: Runner, { setup = [], call, then = [], expect: expected }: Case) {
  if (expected.stateKept) await runner.call({ command: 'CASE_STATE=kept' })
  for (const command of setup) await runner.call({ command })
  check(await runner.call(call), expected)
  for (const step of then) {
    // The case itself asks for idle time: something has to happen while no call runs.
    if (step.waitMs) await wait(step.waitMs)
    const result = await runner.call(step)
    if (step.expect) check(result, step.expect)
  }
  if (expected.stateKept) expect((await runner.call({ command: 'echo "s=$CASE_STATE"' })).output).toMatch(/^s=kept$/m)
  if (!expected.nextCallClean) return
  const next = await runner.call({ command: 'echo "ok-$((1+1))"', timeoutMs: 4000 })
  expect(next.end).toEqual({ kind: 'completed', exitCode: 0 })
  expect(next.output).toBe('ok-2\n')
}

test('SH the file holds the cases it says', () => {
  expect(cases).toHaveLength(about.about.counts.cases)
})

const open = await unconfined()
const ways: { name: string; without?: string | undefined; place?(): Confinement }[] = [
  { name: 'persistent shell' },
  { name: 'persistent shell in the sandbox', without: open, place: () => confinement() },
]

describe.each(ways)('$name', ({ without, place }) => {
  for (const row of cases) {
    const missing = [...(row.needs ?? []).filter((program) => !installed(program)), ...(without ? [without] : [])]
    const note = missing.length > 0 ? ` (needs ${missing.join(', ')})` : ''
    test.skipIf(missing.length > 0)(`SH ${row.name}${note}`, { timeout: 40_000 }, async () => {
      const runner = new Runner(place?.())
      try {
        await runCase(runner, row)
      } finally {
        await runner.close()
      }
    })
  }
})
