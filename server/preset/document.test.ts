import { describe, expect, test } from 'vitest'
import { documentOf, dumpRows, inventoryOfDeclaration, inventoryOfTree } from './document.ts'
import { parseList } from './file.ts'
import type { AuditedRow } from './audit.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'

const rowsOf = (text: string) => parseList(text, 'rows.yml') as EntryOptions[]

test('rows for reading: expressions stay tags, nothing is an anchor, no line is folded, keys stand as declared', () => {
  const shared = { z: 1, a: 'word '.repeat(60).trim() }
  const [expression] = rowsOf('- name: x\n  disabled: !!js a > 1\n')
  const text = dumpRows([{ name: 'one', config: shared }, { name: 'two', config: shared }, expression])
  expect(text).toBe(
    `- name: one\n  config:\n    z: 1\n    a: ${shared.a}\n- name: two\n  config:\n    z: 1\n    a: ${shared.a}\n` +
      '- name: x\n  disabled: !!js a > 1\n',
  )
})

test.each([
  [{}, {}],
  [{ name: 'Mine' }, { name: 'Mine' }],
  [{ description: 'What it is' }, { description: 'What it is' }],
  [
    { name: '', description: '' },
    { name: '', description: '' },
  ],
])('a declaration for reading has the texts that its author gave: %j', (given, shown) => {
  const document = documentOf({ id: 'mine', plugins: [{ id: 'a', name: 'persona' }], ...given })
  expect(document).toEqual({ agentPreset: 'mine', content: '- id: a\n  name: persona\n', ...shown })
})

describe('what a preset has, read off its declaration', () => {
  test.each([
    ['a plain row', '- {id: a, name: x}', [{ id: 'a', name: 'x', enabled: true }]],
    ['a row without an id', '- {name: x}', [{ name: 'x', enabled: true }]],
    ['a row that is off', '- {id: a, name: x, disabled: true}', [{ id: 'a', name: 'x', enabled: false }]],
    [
      'a condition is shown and not evaluated',
      '- {id: a, name: x, disabled: !!js process.exit(1)}',
      [{ id: 'a', name: 'x', enabled: 'conditional', condition: 'process.exit(1)' }],
    ],
    [
      'a group is its rows',
      '- {name: "cordis:group", config: [{id: a, name: x}, {id: b, name: y, disabled: true}]}',
      [
        { id: 'a', name: 'x', enabled: true },
        { id: 'b', name: 'y', enabled: false },
      ],
    ],
    [
      'so is any row that says that it is one',
      '- {name: x, group: true, config: [{id: a, name: y}]}',
      [{ id: 'a', name: 'y', enabled: true }],
    ],
    ['a group without a list is nothing', '- {name: "cordis:group", config: {a: 1}}\n- {name: "cordis:group"}', []],
    [
      'what is in a group that is off is off',
      '- {name: "cordis:group", disabled: true, config: [{id: a, name: x}, {id: b, name: y, disabled: !!js q}]}',
      [
        { id: 'a', name: 'x', enabled: false },
        { id: 'b', name: 'y', enabled: false },
      ],
    ],
    [
      'what is in a conditional group has its condition, unless it is off or has one of its own',
      '- name: cordis:group\n  disabled: !!js outer\n  config: [{id: a, name: x}, {id: b, name: y, disabled: true}, {id: c, name: z, disabled: !!js inner}]',
      [
        { id: 'a', name: 'x', enabled: 'conditional', condition: 'outer' },
        { id: 'b', name: 'y', enabled: false },
        { id: 'c', name: 'z', enabled: 'conditional', condition: 'inner' },
      ],
    ],
  ])('%s', (_name, text, rows) => {
    expect(inventoryOfDeclaration(rowsOf(text))).toEqual(rows)
  })
})

test('what a mounted preset has: each row with its state and its trouble, groups left out', () => {
  const rows = [
    { id: 'a', name: 'x', state: { state: 'active' } },
    { id: 'b', name: 'y', state: { state: 'disabled' } },
    { id: 'c', name: 'z', state: { state: 'waiting', services: ['fs', 'llm'] } },
    { id: 'd', name: 'w', state: { state: 'failed', error: new Error('no such thing') } },
    { id: 'g', name: 'cordis:group', group: true, state: { state: 'active' } },
  ] as AuditedRow[]
  expect(inventoryOfTree(rows)).toEqual([
    { id: 'a', name: 'x', enabled: true, state: 'active' },
    { id: 'b', name: 'y', enabled: false, state: 'disabled' },
    { id: 'c', name: 'z', enabled: true, state: 'waiting', problem: 'waiting for fs, llm' },
    { id: 'd', name: 'w', enabled: true, state: 'failed', problem: expect.stringContaining('no such thing') },
  ])
})
