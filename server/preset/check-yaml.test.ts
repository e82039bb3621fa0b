import { describe, expect, test } from 'vitest'
import { parsePlaced } from './check-yaml.ts'
import { MAX_BYTES } from './fault.ts'
import type { Path, PlacedDocument } from './check-yaml.ts'

function read(text: string): PlacedDocument {
  const parsed = parsePlaced(text)
  if (!parsed.ok) throw new Error(parsed.diagnostics[0]?.message)
  return parsed.document
}

function faults(text: string) {
  const parsed = parsePlaced(text)
  if (parsed.ok) throw new Error('it parsed')
  return parsed.diagnostics
}

const TEXT = `- id: one
  config: &shared
    prefix: Hello
    list: [a, bc]
    empty:
- id: two
  config: *shared
- text
`

describe('the place of a value, from 1, its end behind its last character', () => {
  const at = (line: number, column: number, endLine: number, endColumn: number) => ({
    line,
    column,
    endLine,
    endColumn,
  })

  test.each<[string, Path, 'value' | 'key', object]>([
    ['a text', [0, 'config', 'prefix'], 'value', at(3, 13, 3, 18)],
    ['its key', [0, 'config', 'prefix'], 'key', at(3, 5, 3, 11)],
    ['a value in a list', [0, 'config', 'list', 1], 'value', at(4, 15, 4, 17)],
    ['a list has no keys', [0, 'config', 'list', 1], 'key', at(4, 15, 4, 17)],
    ['a value that is empty', [0, 'config', 'empty'], 'value', at(5, 11, 6, 1)],
    ['a key of an empty value', [0, 'config', 'empty'], 'key', at(5, 5, 5, 10)],
    ['a row', [2], 'value', at(8, 3, 8, 7)],
    ['what an alias stands for', [1, 'config', 'prefix'], 'value', at(3, 13, 3, 18)],
    ['an alias itself', [1, 'config'], 'value', at(7, 11, 7, 18)],
    ['a key that is not there: the map around it', [1, 'gone'], 'key', at(6, 3, 8, 1)],
    ['the nearest that is there', [0, 'config', 'prefix', 'deep', 'er'], 'value', at(3, 13, 3, 18)],
    ['a row that is not there: the whole list', [9, 'config'], 'value', at(1, 1, 9, 1)],
  ])('%s', (_name, path, what, place) => {
    expect(read(TEXT).place(path, what)).toEqual(place)
  })

  test('without being told, the value is meant', () => {
    const { place } = read(TEXT)
    expect(place([0, 'id'])).toEqual(place([0, 'id'], 'value'))
  })

  test('numbers are keys, too', () => {
    expect(read('- {1: a, 2: bc}\n').place([0, 2])).toEqual(at(1, 13, 1, 15))
  })

  test('an empty list has a place, and data that is one', () => {
    const document = read('[]')
    expect(document.data).toEqual([])
    expect(document.place([])).toEqual(at(1, 1, 1, 3))
  })
})

test('an expression is read as one and not evaluated', () => {
  expect(read('- {name: x, disabled: !!js process.exit(1)}\n').data).toEqual([
    { name: 'x', disabled: { __jsExpr: 'process.exit(1)' } },
  ])
})

describe('a text that is refused says where', () => {
  test('every fault that can be placed, each with its end', () => {
    const fault = (line: number, column: number) => ({
      severity: 'error',
      line,
      column,
      endLine: line,
      endColumn: column + 1,
    })
    expect(faults('- }\n- }\n')).toMatchObject([fault(1, 3), fault(2, 1), fault(2, 3)])
    expect(faults('- a: "x\n- b: [1\n')).toEqual([{ ...fault(3, 1), message: 'Missing closing "quote' }])
  })

  test('one missing bracket does not fill the page', () => {
    const many = faults(Array.from({ length: 60 }, () => '- }').join('\n'))
    expect(many).toHaveLength(20)
  })

  test('a long text is given to one parser only', () => {
    const short = '- }\n- }\n- }\n'
    expect(faults(short).length).toBeGreaterThan(1)
    expect(faults(`${short}# ${'x'.repeat(32_000)}`)).toHaveLength(1)
  })

  test('what only the first parser refuses stands at the place that it says', () => {
    expect(faults('a: 1\n')).toEqual([
      { severity: 'error', message: 'the document is not a list at its top level', line: 1, column: 1 },
    ])
    expect(faults('- &a [*a]\n')).toEqual([
      { severity: 'error', message: 'the document contains itself through an alias', line: 1, column: 1 },
    ])
  })

  test('the bytes count, and the limit itself is allowed', () => {
    const filler = (bytes: number) => `- x\n#${'ü'.repeat((bytes - 5) / 2)}`
    expect(faults(filler(MAX_BYTES + 3))).toEqual([
      { severity: 'error', message: 'The document is larger than 256 KiB. Take rows out of it.', line: 1, column: 1 },
    ])
    const exact = `- x\n#${'y'.repeat(MAX_BYTES - 5)}`
    expect([Buffer.byteLength(exact), parsePlaced(exact).ok]).toEqual([MAX_BYTES, true])
  })
})
