import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changedWords, diffLines } from './diff-lines.ts'

test('lines carry their numbers on both sides', () => {
  const rows = diffLines([{ oldStart: 41, newStart: 41, lines: [' a', '-b', '+c', '+d', ' e'] }])
  expect(rows.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ['same', 41, 41],
    ['del', 42, undefined],
    ['add', undefined, 42],
    ['add', undefined, 43],
    ['same', 43, 44],
  ])
})

test('hunks are set apart, and a missing final newline is a remark', () => {
  const hunk = { oldStart: 1, newStart: 1, lines: ['+a', '\\ No newline at end of file'] }
  const kinds = diffLines([hunk, hunk]).map((row) => row.kind)
  expect(kinds).toEqual(['add', 'gap', 'gap', 'add', 'gap'])
})

test('a changed pair marks its changed words', () => {
  expect(changedWords('return [share] * n', 'parts = [share] * n')).toEqual([
    ['', 'return', ' [share] * n'],
    ['', 'parts = ', '[share] * n'],
  ])
  expect(changedWords('nothing alike here', 'x = 1')).toBeUndefined()
})

test('the pieces of a line are the line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (before, after) => {
      const words = changedWords(before.replaceAll('\n', ''), after.replaceAll('\n', ''))
      if (!words) return
      expect(words[0].join('')).toBe(before.replaceAll('\n', ''))
      expect(words[1].join('')).toBe(after.replaceAll('\n', ''))
    }),
  )
})
