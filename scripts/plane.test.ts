import { expect, test } from 'vitest'
import { planeProblems } from './plane.ts'

test('O-01 a model-facing row at host level and a host row in a preset are found with file and line', () => {
  const text = `- id: scopes
  name: scopes
- id: group
  name: cordis:group
  group: true
  config:
    - id: sneaky
      name: tool-bash
- id: standard
  name: agent-preset
  config:
    id: standard
    plugins:
      - id: persona
        name: persona
      - id: store
        name: session-store
`
  expect(planeProblems(text, 'x.yml')).toEqual([
    'x.yml:7: row sneaky: tool-bash is a model-facing row; only a preset may carry it, not the host file or a patch at host level',
    'x.yml:16: row store: session-store is a host row; a preset may not carry it',
  ])
})

test('a row that names no plugin is found', () => {
  expect(planeProblems('- {id: a, name: scops}', 'x.yml')).toEqual(['x.yml:1: row a: scops is not in the catalog'])
})

test('a row with a key that no row has is found', () => {
  expect(planeProblems('- id: a\n  name: scopes\n  isolat: {fs: true}', 'x.yml')).toEqual([
    'x.yml:1: row a: unknown key isolat (did you mean isolate?)',
  ])
})
