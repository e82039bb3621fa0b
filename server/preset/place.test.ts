import { describe, expect, test } from 'vitest'
import { withPlaces } from './place.ts'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'

const TEXT = `# line 1
- name: other
  config:
    id: mine
- name: agent-preset
  config:
    id: another
    plugins:
      - id: first
        name: persona
        wrong: 1
- name: agent-preset
  config:
    id: mine
    colour: red
    plugins:
      - id: first
        name: persona
        wrong: 1
        config:
          prefix: Hello
          nested:
            tone: warm
          tone: loud
      - id: group
        name: cordis:group
        config:
          - name: tool-a
            wrong: 2
          - id: inner
            name: tool-b
            wrong: 3
          - id: 3rd
            name: tool-c
            config:
              - name: tool-d
              - name: tool-e
                wrong: 4
`

/** The row that declares a preset in a document, as the loader keeps it. */
const entryOf = (file: { filename?: unknown; text?: unknown }, config: unknown = { id: 'mine' }): Entry =>
  ({ parent: { tree: file }, options: { config } }) as unknown as Entry
const file = { filename: '/data/presets/mine.yml', text: TEXT }

describe('a reason says where in the document the key stands', () => {
  test.each([
    ['a row of the preset', 'row 1: unknown key "wrong"', ' (mine.yml:17)'],
    ['the second row', 'row 2: unknown key "wrong"', ' (mine.yml:25)'],
    ['a row in a group', 'row 2 > row 2: unknown key "wrong"', ' (mine.yml:30)'],
    ['the first row in a group', 'row 2 > row 1: unknown key "wrong"', ' (mine.yml:28)'],
    ['a row in a group in a group', 'row 2 > row 3 > row 2: unknown key "wrong"', ' (mine.yml:37)'],
    ['what comes between is read over', 'row 2 (group) has an unknown key "wrong"', ' (mine.yml:25)'],
    ['a row that is not there any more', 'row 12: unknown key "wrong"', ''],
    ['a step into a row that is no group', 'row 1 > row 4: unknown key "wrong"', ''],
    ['a key of a config', 'first (persona): invalid config: Unrecognized key: "tone"', ' (mine.yml:23)'],
    ['one of several keys', 'first (persona): invalid config: Unrecognized keys: "prefix", "tone"', ' (mine.yml:21)'],
    ['a key that is not in the config', 'first (persona): Unrecognized key: "gone"', ' (mine.yml:17)'],
    ['a row that is known by its name', 'tool-c (tool-c): Unrecognized key: "x"', ' (mine.yml:33)'],
    ['a row without a config', 'inner (tool-b): Unrecognized key: "x"', ' (mine.yml:30)'],
    ['a row that nobody knows', 'gone (tool-z): Unrecognized key: "x"', ''],
  ])('%s', (_name, reason, place) => {
    expect(withPlaces(entryOf(file), reason)).toBe(reason + place)
  })

  test('each line has its own place, a key belongs to the row named last, and other lines stay as they are', () => {
    const reason = [
      'inner (tool-b): invalid config',
      '  - Unrecognized key: "x"',
      'first (persona): invalid config',
      'something else',
      '  - Unrecognized key: "tone" (of 3)',
      'a row 1: unknown key of another sentence',
    ]
    expect(withPlaces(entryOf(file), reason.join('\n')).split('\n')).toEqual([
      'inner (tool-b): invalid config',
      '  - Unrecognized key: "x" (mine.yml:30)',
      'first (persona): invalid config',
      'something else',
      '  - Unrecognized key: "tone" (of 3) (mine.yml:23)',
      'a row 1: unknown key of another sentence',
    ])
  })

  test('the declaring row is the one of the same id, whatever other rows hold', () => {
    const reason = 'row 1: unknown key "wrong"'
    expect(withPlaces(entryOf(file, { id: 'another' }), reason)).toBe(`${reason} (mine.yml:9)`)
    expect(withPlaces(entryOf(file, { id: 'nobody' }), reason)).toBe(reason)
    const bare = { parent: { tree: file }, options: {} } as unknown as Entry
    expect(withPlaces(bare, reason)).toBe(reason)
  })

  test.each([
    ['no document: made by a program', {}],
    ['no text', { filename: '/data/presets/mine.yml' }],
    ['no name', { text: TEXT }],
    ['names of another kind', { filename: 1, text: TEXT }],
    ['a text that is a map now', { ...file, text: 'a: 1\nb: 2\n' }],
    ['a text that holds scalars only', { ...file, text: '- 1\n- two\n' }],
    ['an empty text', { ...file, text: '' }],
    ['a text that does not parse any more', { ...file, text: '- [' }],
  ])('%s: the reason stands as it is', (_name, tree) => {
    const reason = 'row 1: unknown key "wrong"\nfirst (persona): Unrecognized key: "tone"'
    expect(withPlaces(entryOf(tree), reason)).toBe(reason)
  })

  test.each(['first (persona): it broke', 'row 1: a known key'])('%s names no key and is not looked up', (reason) => {
    expect(withPlaces(entryOf(file), reason)).toBe(reason)
  })
})
