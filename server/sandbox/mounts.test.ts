import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toReal, toShown, type Mount } from './mounts.ts'

const TABLE: Mount[] = [
  ['/tmp', '/data/tmp/s1'],
  ['/tmp/deep', '/elsewhere'],
]

test.each([
  ['/tmp', '/data/tmp/s1'],
  ['/tmp/', '/data/tmp/s1'],
  ['/tmp/a/b', '/data/tmp/s1/a/b'],
  ['/tmp/./a//b', '/data/tmp/s1/a/b'],
  ['/tmp/deep/x', '/elsewhere/x'],
  ['/tmp/deeper', '/data/tmp/s1/deeper'],
  ['/tmp/../etc/passwd', '/etc/passwd'],
  ['/tmpfile', '/tmpfile'],
  ['/work/tmp/a', '/work/tmp/a'],
])('%s lies at %s', (shown, real) => {
  expect(toReal(TABLE, shown)).toBe(real)
})

test('what is not in the table, and everything without one, keeps its path', () => {
  expect(toReal([], '/tmp/a')).toBe('/tmp/a')
  expect(toShown(TABLE, '/work/a')).toBe('/work/a')
})

test('a path below a shown folder comes back from where it lies', () => {
  const part = fc.stringMatching(/^[a-z]{1,3}$/)
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
      const shown = ['/tmp', ...parts].join('/')
      expect(toShown(TABLE, toReal(TABLE, shown))).toBe(shown)
    }),
  )
})
