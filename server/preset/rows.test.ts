import { describe, expect, test } from 'vitest'
import { HOST_FILE } from '../boot.ts'
import { CORE_ROWS, testHost } from '../boot-testing.ts'
import { plugin } from './kernel.ts'
import { GROUP, flatRows, nearest, prepareRows, privateLabels, shapeProblem, unknownKeys } from './rows.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'

const row = (id: string, more: object = {}) => ({ id, name: 'x', ...more }) as EntryOptions

test('rows in groups come behind their group; a config that is a list makes no group', () => {
  const rows = [
    row('a', { config: [row('not-a-row')] }),
    row('g', { group: true, config: [row('b'), row('h', { group: true, config: [row('c')] })] }),
    row('i', { group: true, config: { id: 'not-a-list' } }),
    row('j', { group: true }),
  ]
  expect([...flatRows(rows)].map(({ id }) => id)).toEqual(['a', 'g', 'b', 'h', 'c', 'i', 'j'])
})

test('rows are prepared on a copy: ids by place and name, groups marked, no id twice', () => {
  const rows = [{ name: 'x', config: { deep: [1] } }, { id: 'g', name: GROUP, config: [{ name: 'x' }] }, row('c')]
  const given = structuredClone(rows)
  const [first, group, last] = prepareRows(rows as EntryOptions[])
  const [inner] = group!.config as EntryOptions[]
  expect(rows).toEqual(given)
  expect(first).toEqual({ id: expect.stringMatching(/^[0-9a-f]{8}$/), name: 'x', config: { deep: [1] } })
  expect(first!.config).not.toBe(rows[0]!.config)
  expect(group).toEqual({ id: 'g', name: GROUP, group: true, config: [{ id: inner!.id, name: 'x' }] })
  expect(inner!.id).toMatch(/^[0-9a-f]{8}$/)
  expect(inner!.id).not.toBe(first!.id)
  expect(last).toStrictEqual({ id: 'c', name: 'x' })
  const twice = [row('g', { group: true, config: [row('c')] }), row('c')]
  expect(() => prepareRows(twice)).toThrow('two rows have the id c; ids are unique in a document')
})

test('labels become private to a generation, also in groups; a realm of its own stays one', () => {
  const rows = [
    row('a', { isolate: { one: true, two: 'label' } }),
    row('g', { group: true, isolate: {}, config: [row('b', { isolate: { two: 'label' } })] }),
    row('c', { config: [row('d', { isolate: { two: 'label' } })] }),
  ]
  expect(privateLabels(rows, 7)).toStrictEqual([
    row('a', { isolate: { one: true, two: 'label~7' } }),
    row('g', { group: true, isolate: {}, config: [row('b', { isolate: { two: 'label~7' } })] }),
    rows[2],
  ])
})

test.each([
  [{ id: 'a', name: 'x', config: 1, group: 1, disabled: 1, inject: 1, isolate: 1, intercept: 1 }, undefined],
  [{ isolat: 1 }, 'unknown key isolat (did you mean isolate?)'],
  [{ name: 'x', colour: 1, q: 1 }, 'unknown key colour, q'],
])('the keys of %j', (value, problem) => {
  expect(unknownKeys(value)).toBe(problem)
})

const LONG = 'x'.repeat(80)

test.each([
  ['tool-bsh', ['tool-fs', 'tool-bash'], 'tool-bash'],
  ['TOOL-BASH', ['tool-bash'], 'tool-bash'],
  ['tool-bash', ['TOOL-BASH'], 'TOOL-BASH'],
  ['ab', ['ax'], 'ax'],
  ['ab', ['xy'], undefined],
  ['abcdefghi', ['abcdefxyz'], 'abcdefxyz'],
  ['abcdefghi', ['abcdewxyz'], undefined],
  ['abcdefgh', ['abcdexyz'], undefined],
  ['abc', [], undefined],
  [LONG, [`${LONG.slice(1)}y`], `${LONG.slice(1)}y`],
  [`${LONG}x`, [LONG], undefined],
])('%s, out of %j: %s', (name, known, found) => {
  expect(nearest(name, known)).toBe(found)
})

test.each<[unknown, string | undefined]>([
  [undefined, 'plugins is not a list'],
  [{}, 'plugins is not a list'],
  [[], undefined],
  [[{ name: 'x' }, 1], 'row 2 is not a map'],
  [[null], 'row 1 is not a map'],
  [[[]], 'row 1 is not a map'],
  [[{}], 'row 1 lacks a non-empty name'],
  [[{ name: ' ' }], 'row 1 lacks a non-empty name'],
  [[{ name: 3 }], 'row 1 lacks a non-empty name'],
  [[{ name: 'x', isolat: 1 }], 'row 1 (x): unknown key isolat (did you mean isolate?)'],
  [[{ name: 'x', inject: ['a', 'b'] }], undefined],
  [[{ name: 'x', inject: [] }], undefined],
  [[{ name: 'x', inject: { a: true } }], undefined],
  [[{ name: 'x', inject: ['a', 1] }], 'row 1 (x): inject is neither a list of names nor a map'],
  [[{ name: 'x', inject: 'a' }], 'row 1 (x): inject is neither a list of names nor a map'],
  [[{ name: 'x', inject: null }], 'row 1 (x): inject is neither a list of names nor a map'],
  [[{ name: 'x', isolate: { a: true, b: 'label' } }], undefined],
  [[{ name: 'x', isolate: ['a'] }], 'row 1 (x): isolate is not a map'],
  [[{ name: 'x', isolate: null }], 'row 1 (x): isolate is not a map'],
  [[{ name: 'x', isolate: { a: true, b: '' } }], 'row 1 (x): isolate of b is neither true nor a label'],
  [[{ name: 'x', isolate: { a: false } }], 'row 1 (x): isolate of a is neither true nor a label'],
  [[{ name: 'x', isolate: { a: 1 } }], 'row 1 (x): isolate of a is neither true nor a label'],
  [[{ name: 'x', intercept: {} }], undefined],
  [[{ name: 'x', intercept: [] }], 'row 1 (x): intercept is not a map'],
  [[{ name: 'x', config: 3 }], undefined],
  [[{ name: GROUP }], undefined],
  [[{ name: GROUP, config: 3 }], 'row 1: config is not a list'],
  [[{ name: 'x', group: true, config: 3 }], 'row 1: config is not a list'],
  [[{ name: GROUP, config: [{ name: 'x' }] }, { name: '' }], 'row 2 lacks a non-empty name'],
  [[{ name: GROUP, config: [{ name: GROUP, config: [1] }] }], 'row 1 > row 1 > row 1 is not a map'],
])('the shape of %j: %s', (rows, problem) => {
  expect(shapeProblem(rows)).toBe(problem)
})

describe('a row whose fixed keys change is stopped before it starts anew', () => {
  const heard: string[] = []
  const probe = (name: string) => ({
    plane: 'host' as const,
    load: async () =>
      plugin({
        name,
        apply() {
          heard.push(`${name} starts`)
          return async () => {
            await new Promise((resolve) => setImmediate(resolve))
            heard.push(`${name} stopped`)
          }
        },
      }),
  })
  const catalog = { one: probe('one'), two: probe('two') }

  test.each([
    ['another name', '- {id: a, name: one}', '- {id: a, name: two}', ['one stopped', 'two starts']],
    ['another inject', '- {id: a, name: one}', '- {id: a, name: one, inject: [hooks]}', ['one stopped', 'one starts']],
    ['nothing', '- {id: a, name: one}', '- {name: one, id: a} # the same', []],
    ['a name while it is off', '- {id: a, name: one, disabled: true}', '- {id: a, name: two}', ['two starts']],
    [
      'a row in a group',
      '- {id: g, name: cordis:group, config: [{id: a, name: one}]}',
      '- {id: g, name: cordis:group, config: [{id: a, name: two}]}',
      ['one stopped', 'two starts'],
    ],
  ])('%s', async (_name, before, after, expected) => {
    const made = await testHost({ [HOST_FILE]: `${CORE_ROWS}${before}\n` }, { catalog, required: [] })
    heard.length = 0
    await made.write(HOST_FILE, `${CORE_ROWS}${after}\n`)
    await made.host.reload()
    expect(heard).toEqual(expected)
  })
})
