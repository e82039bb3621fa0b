import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { UsageCounts, UsageDay } from '../../../server/wire/models.ts'
import { money } from '../i18n/format.ts'
import { USAGE_UNITS } from '../router.ts'
import { dateAt, longDay, range, shortDay, zoneOf } from './dates.ts'
import {
  cachedShare,
  changeOf,
  highest,
  inputOf,
  partsOf,
  percentOf,
  priced,
  runsOf,
  standsOut,
  thinkingShare,
  valueOf,
} from './figures.ts'

const NOTHING: UsageCounts = {
  requests: 0,
  failed: 0,
  retried: 0,
  cost: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, total: 0 },
  unpriced: 0,
  saved: 0,
}
const count = fc.integer({ min: 0, max: 1_000_000 })
const sum = fc.integer({ min: 0, max: 1_000_000 }).map((cents) => cents / 100)
const counts = fc
  .record({ requests: count, failed: count, input: count, read: count, write: count, out: count, thought: count })
  .chain((facts) =>
    fc.tuple(fc.constant(facts), fc.record({ input: sum, cacheRead: sum, cacheWrite: sum, output: sum })),
  )
  .map(([facts, cost]): UsageCounts => {
    const total = cost.input + cost.cacheRead + cost.cacheWrite + cost.output
    return {
      requests: facts.requests + facts.failed,
      failed: facts.failed,
      retried: 0,
      inputTokens: facts.input,
      cacheReadTokens: facts.read,
      cacheWriteTokens: facts.write,
      outputTokens: facts.out + facts.thought,
      reasoningTokens: facts.thought,
      cost: { ...cost, total },
      unpriced: 0,
      saved: 0,
    }
  })

test('the parts of a day add up to the day, in every unit, and none is negative', () => {
  fc.assert(
    fc.property(counts, fc.constantFrom(...USAGE_UNITS), (day, unit) => {
      const parts = partsOf(day, unit)
      const whole = { cost: day.cost.total, tokens: inputOf(day) + (day.outputTokens ?? 0), requests: day.requests }[
        unit
      ]
      expect(valueOf(day, unit)).toBeCloseTo(whole, 4)
      expect(parts.every(({ value }) => value >= 0)).toBe(true)
    }),
  )
})

test('shares lie between nothing and all; what nobody reported is unknown, not zero', () => {
  fc.assert(
    fc.property(counts, (day) => {
      for (const share of [cachedShare(day), thinkingShare(day)]) {
        if (share !== undefined) expect(share >= 0 && share <= 1).toBe(true)
      }
    }),
  )
  expect(cachedShare(NOTHING)).toBeUndefined()
  expect(thinkingShare({ ...NOTHING, outputTokens: 10 })).toBeUndefined()
  expect(cachedShare({ ...NOTHING, inputTokens: 100 })).toBe(0)
  expect(cachedShare({ ...NOTHING, inputTokens: 100, cacheReadTokens: 300 })).toBe(0.75)
})

test('a percentage is all or nothing only when it is', () => {
  expect([0, 0.001, 0.01, 0.5, 0.99, 0.999, 1].map(percentOf)).toEqual(['0', '<1', '1', '50', '99', '>99', '100'])
})

test('a change is told in percent, from the double on as a factor, against nothing not at all', () => {
  expect(changeOf(5, 0)).toEqual({ kind: 'none' })
  expect(changeOf(104, 100)).toEqual({ kind: 'more', percent: 4 })
  expect(changeOf(50, 100)).toEqual({ kind: 'less', percent: 50 })
  expect(changeOf(100.2, 100)).toEqual({ kind: 'same' })
  expect(changeOf(0, 100)).toEqual({ kind: 'less', percent: 100 })
  expect(changeOf(212, 100)).toEqual({ kind: 'times', factor: 2.1 })
  expect(changeOf(5000, 100)).toEqual({ kind: 'times', factor: 50 })
})

test('money is known when one request had a price that came to something, or none was without', () => {
  expect(priced({ ...NOTHING, requests: 3, unpriced: 3 })).toBe(false)
  expect(priced({ ...NOTHING, requests: 3, unpriced: 2 })).toBe(false)
  expect(priced({ ...NOTHING, requests: 3, unpriced: 0 })).toBe(true)
  expect(priced({ ...NOTHING, requests: 3, unpriced: 2, cost: { ...NOTHING.cost, total: 0.1 } })).toBe(true)
})

test('the highest day is the first of equals', () => {
  const day = (name: string, requests: number): UsageDay => ({ ...NOTHING, day: name, requests })
  expect(highest([day('a', 1), day('b', 4), day('c', 4)], 'requests')?.day).toBe('b')
  expect(highest([], 'cost')).toBeUndefined()
})

test('a line is cut where a day has no value, and every value is in one run', () => {
  expect(runsOf([1, undefined, 2, 3]).map((run) => run.map(({ index }) => index))).toEqual([[0], [2, 3]])
  const values = fc.array(fc.option(fc.integer(), { nil: undefined }))
  fc.assert(
    fc.property(values, (days) => {
      const points = runsOf(days).flat()
      expect(points).toEqual(days.flatMap((value, index) => (value === undefined ? [] : [{ index, value }])))
    }),
  )
})

test('one day stands out at twice the median, with days enough to judge by', () => {
  expect(standsOut([1, 1, 9])).toBeUndefined()
  expect(standsOut([1, 1, undefined, 1, 3, 1])).toBe(4)
  expect(standsOut([1, 1.2, 1.1, 1.3, 1.9])).toBeUndefined()
})

test('dates are those of the host, wherever the browser is', () => {
  expect(shortDay('2026-11-27', 'en')).toBe('27 Nov')
  expect(longDay('2026-11-27', 'en')).toBe('Fri 27 Nov')
  expect(range('2026-11-01', '2026-11-30', 'en')).toEqual({ from: '1', to: '30 Nov' })
  expect(range('2026-10-28', '2026-11-26', 'en')).toEqual({ from: '28 Oct', to: '26 Nov' })
  expect(dateAt(Date.UTC(2026, 10, 30, 23, 30), 60)).toBe('2026-12-01')
  expect([0, 120, -210, 345].map(zoneOf)).toEqual(['UTC', 'UTC+2', 'UTC-3:30', 'UTC+5:45'])
})

test('money is never nothing when it is something', () => {
  expect([0, 0.0004, 0.01, 0.999, 14.621, 1204.5].map((value) => money(value))).toEqual([
    '$0.00',
    '< $0.01',
    '$0.01',
    '$1.00',
    '$14.62',
    '$1,204.50',
  ])
  expect([0, 0.003456, 0.5, 0.12344, 2].map((value) => money(value, true))).toEqual([
    '$0.00',
    '$0.003456',
    '$0.50',
    '$0.1234',
    '$2.00',
  ])
  fc.assert(
    fc.property(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), (dollars) => {
      expect(money(dollars)).not.toBe('$0.00')
      expect(money(dollars, true)).toMatch(/[1-9]/)
    }),
  )
})
