import fc from 'fast-check'
import { expect, test } from 'vitest'
import { titleFrom, titleFromModel } from './title.ts'

test.each([
  ['Flaky login test', 'Flaky login test'],
  ['"Flaky login test"', 'Flaky login test'],
  ['“Flaky login test.”', 'Flaky login test'],
  ['«Flaky» login', 'Flaky» login'],
  ["'It's late'", "It's late"],
  ['Flaky login test.', 'Flaky login test'],
  ['"Flaky login test".', 'Flaky login test'],
  ['Wait for it...', 'Wait for it...'],
  ['Node.js 24 and v1.2', 'Node.js 24 and v1.2'],
  ['修复登录测试。', '修复登录测试'],
  ['「修复登录测试」', '修复登录测试'],
  ['Title: Flaky login', 'Flaky login'],
  ['TITLE： Flaky login', 'Flaky login'],
  ['**Title:** "Flaky login"', 'Flaky login'],
  ['Subtitle: the rest', 'Subtitle: the rest'],
  ['My title: the rest', 'My title: the rest'],
  ['Titles of sessions', 'Titles of sessions'],
  ['## Flaky login', 'Flaky login'],
  ['- Flaky `login`', 'Flaky login'],
  ['\n\n  \nFlaky login\nand a reason', 'Flaky login'],
  ['"…"\n', '…'],
  ['""\nFlaky', 'Flaky'],
  ['Title:\nFlaky', 'Flaky'],
  ['```\nFlaky\n```', 'Flaky'],
  ['.', ''],
  ['', ''],
  [' "" ', ''],
  ['a\u202eb', 'a b'],
])('the title in %j is %j', (text, expected) => {
  expect(titleFromModel(text)).toBe(expected)
})

test('only the first 4,000 characters are looked at', () => {
  expect(titleFromModel(`${'\n'.repeat(3999)}a`)).toBe('a')
  expect(titleFromModel(`${'\n'.repeat(4000)}a`)).toBe('')
})

test('whatever a model says becomes one short line, and cleaning it again changes nothing but quotes', () => {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  fc.assert(
    fc.property(fc.string({ maxLength: 300, unit: 'grapheme' }), (text) => {
      const title = titleFromModel(text)
      expect(title).not.toMatch(/[\n\r\u2028\u2029`]/)
      expect([...segmenter.segment(title)].length).toBeLessThanOrEqual(60)
      expect(title).toBe(title.trim())
    }),
  )
})

test('a long answer is cut like a long prompt', () => {
  const long = 'word '.repeat(40).trim()
  expect(titleFromModel(`"${long}"`)).toBe(titleFrom(long))
})
