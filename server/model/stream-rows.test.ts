import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Block } from '../wire/messages.ts'
import { packRows, unpackRows, type TimedDelta } from './stream-rows.ts'

const gaps = fc.array(
  fc.record({ i: fc.nat(2), gap: fc.nat(40), s: fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }) }),
  { maxLength: 40 },
)

/** Deltas as they arrive: three blocks interleaved, texts cut anywhere, also inside a surrogate pair. */
const deltas = gaps.map((steps): TimedDelta[] => {
  let at = 0
  return steps.flatMap(({ i, gap, s }) => {
    at += gap
    const k = (['reasoning', 'text', 'tool'] as const)[i]!
    const call = k === 'tool' ? { id: 'call_1', n: 'bash' } : {}
    const cut = Math.floor(s.length / 2)
    const pieces = [s.slice(0, cut), s.slice(cut)].filter((piece) => piece !== '')
    return pieces.map((piece) => ({ i, k, at, s: piece, ...call }))
  })
})

const blocksOf = (list: readonly TimedDelta[]): Block[] => {
  const text = (i: number) =>
    list
      .filter((delta) => delta.i === i)
      .map((delta) => delta.s)
      .join('')
  return [
    { type: 'reasoning', text: text(0) },
    { type: 'text', text: text(1) },
    { type: 'tool-call', id: 'call_1', name: 'bash', arguments: text(2) },
  ]
}

test('SL-02 unpack is the exact inverse of pack, with and without a message that holds the text', () => {
  fc.assert(
    fc.property(deltas, (list) => {
      expect(unpackRows(packRows(list))).toEqual(list)
      const blocks = blocksOf(list)
      const rows = packRows(list, { blocks })
      expect(rows.every((row) => row.s === undefined)).toBe(true)
      expect(unpackRows(rows, blocks)).toEqual(list)
    }),
    { numRuns: 300 },
  )
})

test('SL-02 a block whose text differs from the streamed text keeps the text in its rows', () => {
  const list: TimedDelta[] = [{ i: 0, k: 'tool', at: 1, s: '{"a":1', id: 'c', n: 't' }]
  const blocks: Block[] = [{ type: 'tool-call', id: 'c', name: 't', arguments: '{"a":1}' }]
  const rows = packRows(list, { blocks })
  expect(rows[0]!.s).toBe('{"a":1')
  expect(unpackRows(rows, blocks)).toEqual(list)
})

test('SL-02 packing costs at most a tenth of one event per delta', () => {
  const list = Array.from({ length: 20_000 }, (_, index): TimedDelta => ({
    i: 0,
    k: 'text',
    at: index * 13,
    s: 'word ',
  }))
  const blocks: Block[] = [{ type: 'text', text: list.map((delta) => delta.s).join('') }]
  const events = list.map((delta, seq) => ({ seq, time: 1_700_000_000_000, type: 'assistant/delta', data: delta }))
  expect(JSON.stringify(packRows(list, { blocks })).length).toBeLessThan(JSON.stringify(events).length / 10)
})

test('SL-02 frames join what lies within the window and keep every character', () => {
  const list = Array.from({ length: 100 }, (_, index): TimedDelta => ({
    i: 0,
    k: 'text',
    at: index * 10,
    s: `${index},`,
  }))
  const rows = packRows(list, { frameMs: 50 })
  expect(rows[0]!.l.length).toBe(20)
  expect(
    unpackRows(rows)
      .map((delta) => delta.s)
      .join(''),
  ).toBe(list.map((delta) => delta.s).join(''))
})
