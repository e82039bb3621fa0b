import { expect, test } from 'vitest'
import { placeAt } from './place.ts'

/** The cursor stands at `|`. */
function at(text: string) {
  const lines = text.split('\n')
  const line = lines.findIndex((each) => each.includes('|'))
  const column = lines[line]!.indexOf('|')
  lines[line] = lines[line]!.replace('|', '')
  return placeAt(lines, line, column)
}

const DOCUMENT = `- id: lab
  name: agent-preset
  config:
    id: lab
    plugins:
`

test('a row is named after "name:"', () => {
  expect(at(`${DOCUMENT}      - id: bash\n        name: tool-|`)).toMatchObject({ kind: 'row-name', typed: 'tool-' })
  expect(at(`${DOCUMENT}      - name: |`)).toMatchObject({ kind: 'row-name', typed: '' })
  expect(at('- id: lab\n  name: ag|')).toMatchObject({ kind: 'row-name', typed: 'ag' })
})

test('keys of a config are those of its row, without what is there already', () => {
  const text = `${DOCUMENT}      - id: bash\n        name: tool-bash\n        config:\n          timeoutMs: 5\n          |`
  expect(at(text)).toMatchObject({ kind: 'config-key', row: 'tool-bash', path: [], taken: ['timeoutMs'] })
})

test('the name may stand below the config', () => {
  const text = `${DOCUMENT}      - id: bash\n        config:\n          ti|\n        name: tool-bash`
  expect(at(text)).toMatchObject({ kind: 'config-key', row: 'tool-bash', typed: 'ti' })
})

test('values know their key and the keys around it', () => {
  const text = `${DOCUMENT}      - id: p\n        name: persona\n        config:\n          deep:\n            complete: t|`
  expect(at(text)).toMatchObject({ kind: 'config-value', row: 'persona', path: ['deep'], key: 'complete', typed: 't' })
})

test('rows in a group are rows, not config of the group', () => {
  const group = `${DOCUMENT}      - id: g\n        name: cordis:group\n        group: true\n        config:\n`
  expect(at(`${group}          - id: a\n            name: |`)).toMatchObject({ kind: 'row-name' })
  const inner = `${group}          - id: a\n            name: tool-a\n            config:\n              |`
  expect(at(inner)).toMatchObject({ kind: 'config-key', row: 'tool-a', path: [] })
})

test('lists may stand as far left as their key', () => {
  const text =
    '- id: lab\n  name: agent-preset\n  config:\n    plugins:\n    - id: a\n      name: tool-a\n      config:\n        |'
  expect(at(text)).toMatchObject({ kind: 'config-key', row: 'tool-a', path: [] })
  expect(at('- id: lab\n  name: agent-preset\n  config:\n    plugins:\n    - name: |')).toMatchObject({
    kind: 'row-name',
  })
})

test('keys of the document itself are those of its one row', () => {
  expect(at('- id: lab\n  name: agent-preset\n  config:\n    or|')).toMatchObject({
    kind: 'config-key',
    row: 'agent-preset',
    typed: 'or',
  })
})

test('outside of any config there is nothing to offer', () => {
  expect(at('|')).toBeUndefined()
  expect(at('- id: x|')).toBeUndefined()
})
