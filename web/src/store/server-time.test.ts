import { expect, test } from 'vitest'
import { ServerTime } from './server-time.ts'

const at = (now: number, ...noted: number[]): number => {
  const time = new ServerTime(() => now)
  for (const ms of noted) time.note(ms)
  return time.now()
}

test('a browser whose clock is wrong counts by the server’s', () => {
  expect(at(1_000_000, 940_000)).toBe(940_000)
  expect(at(1_000_000, 1_300_000)).toBe(1_300_000)
})

test('an older time says nothing once a fresher one was heard', () => {
  expect(at(1_000_000, 100_000, 939_500, 500_000)).toBe(939_500)
  expect(at(1_000_000, 400_000, 999_900)).toBe(1_000_000)
})

test('without a word from the server, or with one that travel time explains, the browser’s clock holds', () => {
  expect(at(1_000_000)).toBe(1_000_000)
  expect(at(1_000_000, NaN)).toBe(1_000_000)
  expect(at(1_000_000, 998_500)).toBe(1_000_000)
})
