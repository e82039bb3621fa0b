import { describe, expect, test } from 'vitest'
import { documentOf, withKeys } from './library-text.ts'

const ONE = '# mine\n- id: row\n  name: agent-preset\n  config:\n    id: mine\n    plugins: [] # none\n'
const TWO = `# about all
- name: agent-preset
  config: {id: first, plugins: []}
# about mine
- name: agent-preset
  config:
    id: mine
    plugins:
      - name: persona
        disabled: !!js a > 1
`

describe('one preset as a document of its own', () => {
  test('a text that holds nothing else stays as it is', () => {
    expect(documentOf(ONE, 'mine')).toBe(ONE)
  })

  test('out of several: its row alone, with its comment and its expressions as they are written', () => {
    expect(documentOf(TWO, 'mine')).toBe(
      '# about mine\n- name: agent-preset\n  config:\n    id: mine\n    plugins:\n      - name: persona\n        disabled: !!js a > 1\n',
    )
    expect(documentOf(TWO, 'first')).toBe('# about all\n- name: agent-preset\n  config: {id: first, plugins: []}\n')
  })

  test.each([
    ['another id', ONE],
    ['no list', 'name: agent-preset\nconfig: {id: gone}\n'],
    ['nothing', ''],
    ['a row of another plugin', '- {name: probe, config: {id: gone}}\n'],
    ['a scalar', '- gone\n'],
  ])('%s: it is not there', (_name, text) => {
    expect(() => documentOf(text, 'gone')).toThrow('the document declares no preset gone')
  })
})

describe('some keys are changed, and everything else stays byte by byte', () => {
  test.each<[string, string, Parameters<typeof withKeys>[1], string]>([
    ['nothing', ONE, {}, ONE],
    [
      'a text is put in behind the id',
      ONE,
      { config: { name: 'Mine' } },
      ONE.replace('id: mine\n', 'id: mine\n    name: Mine\n'),
    ],
    ['a number', ONE, { config: { order: 3 } }, ONE.replace('id: mine\n', 'id: mine\n    order: 3\n')],
    ['a key of the row', ONE, { row: { id: 'other' } }, ONE.replace('id: row', 'id: other')],
    ['a value is replaced', ONE, { config: { id: 'yours' } }, ONE.replace('id: mine', 'id: yours')],
    [
      'a text that YAML would read otherwise is quoted',
      ONE,
      { config: { name: 'yes: "no" # x' } },
      ONE.replace('id: mine\n', `id: mine\n    name: 'yes: "no" # x'\n`),
    ],
    [
      'a text that looks like a number',
      ONE,
      { config: { name: '12' } },
      ONE.replace('id: mine\n', 'id: mine\n    name: "12"\n'),
    ],
    [
      'a text of several lines',
      ONE,
      { config: { description: 'a\nb' } },
      ONE.replace('id: mine\n', 'id: mine\n    description: "a\\nb"\n'),
    ],
    [
      'a long text stays on its line',
      ONE,
      { config: { description: 'word '.repeat(40).trim() } },
      ONE.replace('id: mine\n', `id: mine\n    description: ${'word '.repeat(40).trim()}\n`),
    ],
    ['an absent key is taken out', ONE, { config: { name: undefined } }, ONE],
    [
      'a key is taken out with its line',
      ONE,
      { row: { id: undefined } },
      '# mine\n- name: agent-preset\n  config:\n    id: mine\n    plugins: [] # none\n',
    ],
    [
      'a key is taken out with its comment',
      ONE,
      { config: { plugins: undefined } },
      ONE.replace('    plugins: [] # none\n', ''),
    ],
    [
      'the last key of a text without a line end',
      '- name: agent-preset\n  config:\n    id: mine\n    order: 1',
      { config: { order: undefined } },
      '- name: agent-preset\n  config:\n    id: mine\n',
    ],
    [
      'a key behind the only one of a text without a line end',
      '- name: agent-preset\n  config:\n    id: mine',
      { config: { order: 2 } },
      '- name: agent-preset\n  config:\n    id: mine\n    order: 2\n',
    ],
    [
      'a map on one line gets its key there',
      '- {name: agent-preset, config: {id: mine, plugins: []}}\n',
      { config: { order: 2 } },
      '- {name: agent-preset, config: {id: mine, order: 2, plugins: []}}\n',
    ],
    [
      'a map on one line loses it by being written anew',
      '- {name: agent-preset, config: {id: mine, order: 2}}\n',
      { config: { order: undefined } },
      '- {name: agent-preset, config: {id: mine}}\n',
    ],
    [
      'a block text is replaced with its line end',
      '- name: agent-preset\n  config:\n    description: |\n      one\n      two\n    id: mine\n',
      { config: { description: 'short' } },
      '- name: agent-preset\n  config:\n    description: short\n    id: mine\n',
    ],
    [
      'a block text is taken out whole',
      '- name: agent-preset\n  config:\n    id: mine\n    description: |\n      one\n      two\n    plugins: []\n',
      { config: { description: undefined } },
      '- name: agent-preset\n  config:\n    id: mine\n    plugins: []\n',
    ],
    [
      'a key goes behind a block text',
      '- name: agent-preset\n  config:\n    description: |\n      one\n    id: mine\n',
      { config: { order: 1 } },
      '- name: agent-preset\n  config:\n    description: |\n      one\n    order: 1\n    id: mine\n',
    ],
    [
      'the first declaring row is meant',
      `- name: probe\n  config: {id: x}\n${ONE.slice(7)}`,
      { config: { id: 'yours' } },
      `- name: probe\n  config: {id: x}\n${ONE.slice(7).replace('mine', 'yours')}`,
    ],
  ])('%s', (_name, text, changes, expected) => {
    expect(withKeys(text, changes)).toBe(expected)
  })

  test.each([
    ['no list', 'a: 1\n', { config: { id: 'x' } }],
    ['no declaring row', '- {name: probe, config: {id: x}}\n', { row: { id: 'x' } }],
    ['a declaring row without a config', '- name: agent-preset\n', { config: { id: 'x' } }],
    ['nothing', '', { config: { id: 'x' } }],
  ])('%s: nothing can be set', (_name, text, changes) => {
    expect(() => withKeys(text, changes)).toThrow('the document declares no preset')
  })
})
