import { afterAll, beforeAll, expect, test } from 'vitest'
import { Bench, sweep, type Scenario } from '../kill/sweep.ts'

let bench: Bench
beforeAll(async () => {
  bench = await Bench.open()
}, 60_000)
afterAll(() => bench?.close())

function* every(step: number): Generator<number> {
  for (let point = 0; point < 20_000; point += step) yield point
}

/** Before and after every file operation between the command and the end of its turn: each state the disk can be left in. */
test.each<Scenario>([
  { prompt: 'first', on: 'disk' },
  { prompt: 'next', on: 'disk' },
])('B34 SL-13 SIGKILL at every file operation of a turn: $prompt prompt', async (scenario) => {
  const { kills, points } = await sweep(bench, scenario, every(1))
  console.log(`${scenario.prompt}: ${kills.length} kills, ${points} points\n${kills.join('\n')}`)
  // A run survived in the end: every point of a turn was tried (their number differs a little, some writes go by time).
  expect(points).toBeGreaterThan(10)
  expect(kills.length).toBeGreaterThan(10)
  expect(kills.filter((kill) => !kill.startsWith('killed at disk'))).toEqual([])
})

/** Awaits between two file operations leave the same disk; so a stride over them is enough. */
test.each<Scenario>([
  { prompt: 'first', on: 'await' },
  { prompt: 'next', on: 'await' },
])('B34 SL-13 SIGKILL at awaits of a turn: $prompt prompt', async (scenario) => {
  const { kills, points } = await sweep(bench, scenario, every(31))
  console.log(`${scenario.prompt}: ${kills.length} kills of ${points} awaits`)
  expect(points).toBeGreaterThan(100)
  expect(kills.length).toBeGreaterThan(10)
})
