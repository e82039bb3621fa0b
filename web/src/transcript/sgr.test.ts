import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSgr } from './sgr.ts'

const E = '\u001b'
const plain = (input: string) =>
  parseSgr(input)
    .map((run) => run.text)
    .join('')

test('colours and weights become styled runs', () => {
  expect(parseSgr(`a ${E}[1;31mred${E}[0m b`)).toEqual([
    { text: 'a ' },
    { text: 'red', bold: true, fg: 'red' },
    { text: ' b' },
  ])
  expect(parseSgr(`${E}[92mok${E}[39m.`)).toEqual([{ text: 'ok', fg: 'green' }, { text: '.' }])
})

test('256 and true colours fall to the nearest name', () => {
  expect(parseSgr(`${E}[38;5;196mx`)).toEqual([{ text: 'x', fg: 'red' }])
  expect(parseSgr(`${E}[38;2;30;200;40mx`)).toEqual([{ text: 'x', fg: 'green' }])
  expect(parseSgr(`${E}[38;5;4;1mx`)).toEqual([{ text: 'x', fg: 'blue', bold: true }])
})

test('every other escape is dropped, also one that is cut at the end', () => {
  expect(plain(`${E}[2J${E}[Ha${E}]0;title\u0007b${E}(Bc${E}[?25l`)).toBe('abc')
  expect(plain(`text${E}[38;5`)).toBe('text')
  expect(plain(`text${E}`)).toBe('text')
})

test('B84 a progress line shows its last state', () => {
  expect(plain('10%\r50%\r100%\r\ndone')).toBe('100%\ndone')
})

test('no control character but tab and newline is ever left', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (input) => {
      // oxlint-disable-next-line no-control-regex
      expect(plain(input)).not.toMatch(/[\x00-\x08\x0b-\x1f]/)
    }),
  )
})

test('text without escapes is one run, unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii', minLength: 1 }), (input) => {
      expect(parseSgr(input)).toEqual([{ text: input }])
    }),
  )
})
