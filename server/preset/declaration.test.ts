import { expect, test } from 'vitest'
import { declarationDigest, parseDeclaration } from './declaration.ts'
import { sha256 } from './kernel.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'

const REQUIRED = '  - is required (at plugins)'

test.each<[unknown, RegExp]>([
  [undefined, /^invalid config:\n {2}- [^\n]*string[^\n]* \(at id\)\n {2}- is required \(at plugins\)$/],
  [{ id: ' ' }, new RegExp(`^invalid config:\\n {2}- is blank \\(at id\\)\\n${REQUIRED.replaceAll(/[()]/g, '\\$&')}$`)],
  [{ id: 'a', plugins: [], colour: 1 }, /^invalid config:\n {2}- Unrecognized key: "colour"$/],
  [{ id: 'a', plugins: [], order: '1' }, /^invalid config:\n {2}- [^\n]*number[^\n]* \(at order\)$/],
])('what is wrong with %j is listed', (config, message) => {
  expect(() => parseDeclaration(config)).toThrow(message)
})

test('a sound declaration is what was written; its list is checked apart', () => {
  const config = { id: 'a', name: 'A', description: 'd', order: 1, plugins: 'no list' }
  expect(parseDeclaration(config)).toEqual(config)
})

const digest = (plugins: unknown, more: object = {}): string =>
  declarationDigest({ id: 'a', plugins: plugins as EntryOptions[], ...more })

test('a digest is that of id and rows with sorted keys: logs hold it, so it stays what it was', () => {
  const rows = [{ name: 'x', id: 'r', config: { b: [{ d: 1, c: null }], a: 'text', ab: true } }]
  const text = '{"id":"a","plugins":[{"config":{"a":"text","ab":true,"b":[{"c":null,"d":1}]},"id":"r","name":"x"}]}'
  expect(digest(rows)).toBe(sha256(text))
  expect(digest(rows, { name: 'A', description: 'd', order: 1 })).toBe(sha256(text))
})

test.each([
  ['the order of rows', [{ id: 'a' }, { id: 'b' }], [{ id: 'b' }, { id: 'a' }]],
  ['a list and a map', [{ config: ['a'] }], [{ config: { 0: 'a' } }]],
  ['a number and its text', [{ config: 1 }], [{ config: '1' }]],
])('%s: the digests differ', (_name, one, other) => {
  expect(digest(one)).not.toBe(digest(other))
})

test('one value at two places is no loop', () => {
  const shared = { x: 1 }
  expect(digest([{ a: shared, b: shared }])).toBe(digest([{ a: { x: 1 }, b: { x: 1 } }]))
  const loop: unknown[] = []
  loop.push([loop])
  expect(() => digest(loop)).toThrow('the declaration contains itself')
})
