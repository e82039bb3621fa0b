import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from './client.ts'
import { startHost, type TestHost } from './host.ts'

let host: TestHost
let client: Client

beforeAll(async () => {
  host = await startHost({ patches: [{ id: 'llm-demo', config: { paceMs: 0 } }] as never })
  client = await host.connect()
})
afterAll(() => host?.remove())

const demo = { provider: 'demo', model: 'scripted', alsoDefault: false }
const toolsOf = (session: string) =>
  host.host
    .service('tools')!
    .view(host.host.service('agents')!.get(session)!)
    .map(({ spec }) => spec.name)

test('H-08 after a blank switch the header says standard, the projection and the tools minimal', async () => {
  const { session } = await client.command('session.create', {
    workspace: await host.workspace(client),
    selection: demo,
  })
  await client.attach(session)
  await client.command('preset.select', { session, preset: 'minimal' })
  const live = host.host.service('sessions')!.live(session)!
  expect(live.header.agentPreset).toBe('standard')
  expect(live.state().preset).toEqual({ created: 'standard', current: 'minimal' })
  expect(toolsOf(session)).toEqual(['bash', 'str_replace_editor'])
})

test('H-13 the wire switches through the checked entry only: a session with a turn stays as it is', async () => {
  const { session } = await client.command('session.create', {
    workspace: await host.workspace(client),
    selection: demo,
  })
  await client.attach(session)
  await client.command('session.prompt', { session, text: 'go' })
  await client.turnEnd(session, 1)
  await expect(client.command('preset.select', { session, preset: 'minimal' })).rejects.toMatchObject({
    code: 'agent-preset/locked',
    details: { sessionId: session, agentPreset: 'minimal' },
  })
  expect(client.events(session).some(({ type }) => type === 'agent-preset/selected')).toBe(false)
  expect(toolsOf(session)).toContain('todo_write')
})

test('G-03 the roster that people see marks the default', async () => {
  const rows = host.host.service('roster')!.current()
  expect(rows.map(({ id, isDefault }) => [id, isDefault])).toEqual([
    ['standard', true],
    ['minimal', false],
  ])
})

test('O-13 choosing minimal changes nothing for a standard session beside it', async () => {
  const workspace = await host.workspace(client)
  const standard = (await client.command('session.create', { workspace, selection: demo })).session
  const before = toolsOf(standard)
  expect(before).toEqual(['bash', 'edit', 'glob', 'grep', 'read', 'todo_write', 'write'])
  const { session } = await client.command('session.create', { workspace, preset: 'minimal', selection: demo })
  expect(toolsOf(session)).toEqual(['bash', 'str_replace_editor'])
  expect(toolsOf(standard)).toEqual(before)
  expect(host.host.service('tools')!.view(null)).toEqual([])
})
