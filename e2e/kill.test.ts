import { afterAll, beforeAll, expect, test } from 'vitest'
import { Bench, sweep } from './kill/sweep.ts'

let bench: Bench
beforeAll(async () => {
  bench = await Bench.open()
}, 60_000)
afterAll(() => bench?.close())

/** A few points of each kind; the whole sweep is `e2e/long/kill.long.test.ts`. */
test('B34 SL-13 killed on the way of a first prompt: nothing acknowledged is lost, the next prompt works', async () => {
  const { kills } = await sweep(bench, { prompt: 'first', on: 'disk' }, [0, 6, 13])
  expect(kills).toHaveLength(3)
  expect(kills.every((kill) => kill.startsWith('killed at disk'))).toBe(true)
}, 90_000)
