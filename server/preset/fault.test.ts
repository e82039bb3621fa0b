import { describe, expect, test } from 'vitest'
import {
  DocumentError,
  MAX_BYTES,
  MAX_NODES,
  declarationFault,
  faultOf,
  isPresetDocument,
  refuseBombs,
} from './fault.ts'
import { parseList } from './file.ts'
import { PRESET_ROW } from './rows.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'

const caught = (work: () => unknown): unknown => {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('it did not throw')
}

describe('any failure of a row file in one shape', () => {
  test('what YAML says, with line and column from 1', () => {
    expect(faultOf(caught(() => parseList('- id: a\n  x: {', 'rows.yml')))).toEqual({
      message: expect.stringContaining('unexpected end of the stream'),
      line: 3,
      column: 1,
    })
  })

  test('a reason stands for the message, which repeats the place; without one the message stands', () => {
    const mark = { line: 0, column: 3 }
    expect(faultOf({ message: 'long text', reason: 'short', mark })).toEqual({ message: 'short', line: 1, column: 4 })
    expect(faultOf({ message: 'long text', mark })).toEqual({ message: 'long text', line: 1, column: 4 })
    expect(faultOf(new Error('no file'))).toEqual({ message: 'no file' })
  })

  test('what the document itself says stays', () => {
    const error = new DocumentError({ message: 'declares nothing', line: 3, column: 1 })
    expect([error.name, error.message]).toEqual(['DocumentError', 'declares nothing'])
    expect(faultOf(error)).toEqual({ message: 'declares nothing', line: 3, column: 1 })
  })

  test('a text that is nested too deeply says so, and not that a stack has overflowed', () => {
    expect(faultOf(new RangeError('Maximum call stack size exceeded'))).toEqual({
      message: 'the document is nested too deeply',
    })
    expect(faultOf(caught(() => parseList('['.repeat(100_000), 'rows.yml')))).toMatchObject({
      message: expect.stringContaining('nesting'),
      line: 1,
    })
  })

  test('anything but a list is none', () => {
    expect(faultOf(caught(() => parseList('a: 1', 'rows.yml')))).toEqual({
      message: 'rows.yml is not a list at its top level',
    })
  })
})

describe('a few aliases may stand for billions of values', () => {
  const list = (length: number): unknown[] => Array.from({ length }, () => null)

  test('the most that a document may have, itself included', () => {
    expect(() => refuseBombs(list(MAX_NODES - 1))).not.toThrow()
    expect(() => refuseBombs(list(MAX_NODES))).toThrow(`the document has more than ${MAX_NODES} values`)
  })

  test('each use of an alias counts', () => {
    const shared = list(999)
    const uses = (count: number) => Array.from({ length: count }, () => shared)
    expect(() => refuseBombs(uses(19))).not.toThrow()
    expect(() => refuseBombs(uses(20))).toThrow(DocumentError)
    expect(() => refuseBombs({ a: uses(10), b: uses(10) })).toThrow(DocumentError)
  })

  test('a value that stands twice is no circle; one that contains itself is', () => {
    const twice = { x: 1 }
    expect(() => refuseBombs([twice, { twice }])).not.toThrow()
    const circle: { inner?: unknown } = {}
    circle.inner = [circle]
    expect(() => refuseBombs(circle)).toThrow('the document contains itself through an alias')
    expect(() => parseList('- &a\n  b: *a\n', 'rows.yml')).toThrow('the document contains itself through an alias')
  })

  test.each([null, 1, 'text', undefined])('%j is one value', (value) => {
    expect(() => refuseBombs(value)).not.toThrow()
  })
})

describe('documents of presets', () => {
  const declaring = (id: string, config: object = { plugins: [] }): EntryOptions => ({
    id,
    name: PRESET_ROW,
    config: { id, ...config },
  })
  const TEXT = '# two rows\n- name: agent-preset\n  config: {}\n- name: other\n'

  test.each([
    ['no rows', [], false],
    ['declaring rows only', [declaring('a'), declaring('b')], true],
    ['one other row', [declaring('a'), { id: 'x', name: 'probe' }], false],
    ['other rows only', [{ id: 'x', name: 'probe' }], false],
  ])('%s', (_name, rows, expected) => {
    expect(isPresetDocument(rows)).toBe(expected)
  })

  test('rows that declare presets have no fault', () => {
    expect(declarationFault([declaring('a'), declaring('b')], TEXT)).toBe(undefined)
  })

  test.each([
    ['nothing is declared', [], { message: 'the document declares no preset' }],
    [
      'another row, with its place',
      [declaring('a'), { id: 'x', name: 'probe' }],
      { message: 'row x (probe) declares no preset', line: 4, column: 3 },
    ],
    [
      'a declaration that lacks its rows',
      [declaring('a', {}), declaring('b')],
      { message: 'invalid config:\n  - is required (at plugins)', line: 2, column: 3 },
    ],
    [
      'rows of no shape',
      [declaring('a', { plugins: 'many' })],
      { message: 'plugins is not a list', line: 2, column: 3 },
    ],
    [
      'a row that the text does not have',
      [declaring('a'), declaring('b'), { id: 'x', name: 'probe' }],
      { message: 'row x (probe) declares no preset' },
    ],
  ])('%s', (_name, rows: EntryOptions[], fault) => {
    expect(declarationFault(rows, TEXT)).toEqual(fault)
  })

  test.each([
    ['a text that is no list', 'a: 1', undefined],
    ['no text', '', undefined],
    ['scalars have places, too', '- one\n- two', { line: 1, column: 3 }],
    ['a list in the list has none', '- [one]', undefined],
  ])('%s', (_name, text, place) => {
    expect(declarationFault([{ id: 'x', name: 'probe' }], text)).toEqual({
      message: 'row x (probe) declares no preset',
      ...place,
    })
  })

  test('a row file may have a quarter of a megabyte', () => {
    expect([MAX_BYTES, MAX_NODES]).toEqual([262_144, 20_000])
  })
})
