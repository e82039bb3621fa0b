import { expect, test } from 'vitest'
import { Scopes } from '../scope/scope.ts'
import { Tools, UNLISTED } from './registry.ts'
import { text, type Tool } from './tool.ts'

const make = (name: string, description = ''): Tool => ({
  spec: { name, description, parameters: { type: 'object' } },
  run: async () => text(name),
})

const names = (tools: readonly Tool[]) => tools.map((tool) => tool.spec.name)

test('P-05 tools stand in code-unit order of their names', () => {
  const tools = new Tools(new Scopes())
  for (const name of ['b', 'a', 'Z', 'é']) tools.add(null, make(name))
  expect(names(tools.view(null))).toEqual(['Z', 'a', 'b', 'é'])
})

test('P-05 toolOrder places the rest at its one marker; an unknown name fails at assembly', () => {
  const scopes = new Scopes()
  for (const toolOrder of [[], ['a'], [UNLISTED, 'a', UNLISTED]])
    expect(() => new Tools(scopes, { toolOrder })).toThrow('exactly once')
  const tools = new Tools(scopes, { toolOrder: ['z', UNLISTED, 'a'] })
  const scope = {}
  for (const name of ['a', 'c', 'b']) tools.add(scope, make(name))
  expect(names(tools.view(scope))).toEqual(['b', 'c', 'a'])
  expect(() => tools.assemble(scope)).toThrow('unknown tools: z')
  tools.add(scope, make('z'))
  expect(names(tools.assemble(scope))).toEqual(['z', 'b', 'c', 'a'])
})

test('P-02 P-03 a scope sees its ancestors’ tools, the nearest name wins, providers merge behind names', () => {
  const scopes = new Scopes()
  const [preset, agent] = [{}, {}]
  scopes.bindParent(agent, preset)
  const tools = new Tools(scopes)
  tools.add(preset, make('bash', 'preset'))
  tools.add(agent, make('bash', 'agent'))
  const asked: unknown[] = []
  tools.provider(preset, (scope) => (asked.push(scope), [make('mcp'), make('bash', 'provided')]))
  const undo = tools.provider(null, () => [make('mcp', 'far'), make('other')])
  expect(tools.view(agent).map(({ spec }) => [spec.name, spec.description])).toEqual([
    ['bash', 'agent'],
    ['mcp', ''],
    ['other', ''],
  ])
  expect(asked).toEqual([agent])
  undo()
  expect(names(tools.view(null))).toEqual([])
  expect(names(tools.view(preset))).toEqual(['bash', 'mcp'])
})

test('P-06 the spec of a registered tool cannot be changed through an assembly', () => {
  const tools = new Tools(new Scopes())
  tools.add(null, make('a'))
  const [tool] = tools.assemble({})
  expect(() => {
    tool!.spec.parameters['type'] = 'string'
  }).toThrow()
})

test('H-10 an observer that throws on a moved scope is contained; on a registration it vetoes', () => {
  const reported: unknown[] = []
  const tools = new Tools(new Scopes(), {}, (error) => reported.push(error))
  const stop = tools.observe(() => {
    throw new Error('no')
  })
  tools.changed({})
  expect(reported).toHaveLength(1)
  expect(() => tools.add(null, make('a'))).toThrow('no')
  expect(tools.view(null)).toEqual([])
  stop()
  tools.add(null, make('a'))
})

test('guards of every layer are in force, and removable', () => {
  const scopes = new Scopes()
  const tools = new Tools(scopes)
  const [preset, agent] = [{}, {}]
  scopes.bindParent(agent, preset)
  const undo = tools.guard(null, () => undefined)
  tools.guard(preset, () => undefined)
  expect(tools.guards(agent)).toHaveLength(2)
  undo()
  expect(tools.guards(agent)).toHaveLength(1)
})

test('the owner of a tool is that of the registration that wins; tools of nobody are left out', () => {
  const scopes = new Scopes()
  const tools = new Tools(scopes)
  const scope = {}
  const made = (name: string) => ({ spec: { name, description: '', parameters: {} }, run: async () => text(name) })
  tools.add(null, made('zeta'), 'outer')
  tools.add(scope, made('zeta'), 'inner')
  tools.add(null, made('alpha'), 'first')
  tools.add(null, made('stray'))
  tools.provider(scope, () => [made('alpha'), made('far')], 'mcp')
  expect(tools.owners(scope)).toEqual({ alpha: 'first', far: 'mcp', zeta: 'inner' })
  expect(Object.keys(tools.owners(scope))).toEqual(['alpha', 'far', 'zeta'])
  expect(tools.owners(null)).toEqual({ alpha: 'first', zeta: 'outer' })
  expect(tools.view(scope).map((tool) => tool.spec.name)).toEqual(['alpha', 'far', 'stray', 'zeta'])
})
