import fc from 'fast-check'
import { expect, test } from 'vitest'
import { axisTo, barsOver, labelled, placesOf } from './scale.ts'

test('an axis has round ticks and holds its highest value', () => {
  expect(axisTo(1.01).ticks).toEqual([0, 0.5, 1, 1.5])
  expect(axisTo(0.96).ticks).toEqual([0, 0.25, 0.5, 0.75, 1])
  expect(axisTo(0.3).ticks).toEqual([0, 0.1, 0.2, 0.3])
  expect(axisTo(3, 4, true).ticks).toEqual([0, 1, 2, 3])
  expect(axisTo(0).ticks).toEqual([0, 0.25, 0.5, 0.75, 1])
  expect(axisTo(Number.NaN).top).toBe(1)
})

test('for any value: it fits, ticks are evenly spaced, there are few of them and little is left empty', () => {
  const value = fc.oneof(fc.double({ min: 1e-9, max: 1e12, noNaN: true }), fc.integer({ min: 1, max: 1_000_000_000 }))
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 6 }), (max, count) => {
      const { top, ticks } = axisTo(max, count)
      const step = ticks[1]! - ticks[0]!
      expect(ticks[0]).toBe(0)
      expect(ticks.at(-1)).toBe(top)
      expect(top).toBeGreaterThanOrEqual(max * (1 - 1e-8))
      expect(ticks.length).toBeLessThanOrEqual(count + 1)
      expect(top - max).toBeLessThanOrEqual(step * (1 + 1e-6))
      for (const [index, tick] of ticks.entries()) expect(tick).toBeCloseTo(index * step, 6 - Math.log10(top))
    }),
  )
})

test('whole ticks for what cannot be divided', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), fc.integer({ min: 1, max: 6 }), (max, count) => {
      const { ticks, top } = axisTo(max, count, true)
      expect(ticks.every(Number.isInteger)).toBe(true)
      expect(top).toBeGreaterThanOrEqual(max)
      expect(new Set(ticks).size).toBe(ticks.length)
    }),
  )
})

test('ticks of money differ as written', () => {
  expect(placesOf(axisTo(8))).toBe(0)
  expect(placesOf(axisTo(0.3))).toBe(2)
  expect(placesOf(axisTo(0.009))).toBe(4)
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (max) => {
      const axis = axisTo(max)
      const texts = axis.ticks.map((tick) => tick.toFixed(placesOf(axis)))
      expect(new Set(texts).size).toBe(texts.length)
    }),
  )
})

test('bars lie on whole pixels inside their bands, in order, without touching', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 270, max: 2000 }), (count, width) => {
      const bars = barsOver(count, width)
      expect(bars).toHaveLength(count)
      for (const [index, bar] of bars.entries()) {
        expect(Number.isInteger(bar.x) && Number.isInteger(bar.width)).toBe(true)
        expect(bar.x).toBeGreaterThanOrEqual(Math.floor(bar.from))
        expect(bar.x + bar.width).toBeLessThanOrEqual(Math.ceil(bar.to))
        const next = bars[index + 1]
        if (next) expect(next.x - (bar.x + bar.width)).toBeGreaterThanOrEqual(1)
      }
    }),
  )
})

test('labels: the newest day always, the first where there is room, never two that touch', () => {
  expect(labelled(0, 500, 60)).toEqual([])
  expect(labelled(1, 500, 60)).toEqual([0])
  expect(labelled(7, 1000, 60)).toEqual([0, 1, 2, 3, 4, 5, 6])
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 90 }), fc.integer({ min: 200, max: 2000 }), (count, width) => {
      const room = 60
      const marks = labelled(count, width, room)
      expect(marks[0]).toBe(0)
      expect(marks.at(-1)).toBe(count - 1)
      for (const [index, mark] of marks.entries()) {
        const next = marks[index + 1]
        if (next !== undefined) expect(((next - mark) * width) / count).toBeGreaterThanOrEqual(room * 0.75)
      }
    }),
  )
})
