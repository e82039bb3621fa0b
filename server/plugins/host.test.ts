import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testFlags } from '../boot-testing.ts'
import { boot } from '../boot.ts'
import { newHeader } from '../log/store.ts'

const ROOT = join(import.meta.dirname, '../..')

async function shippedHost() {
  const folder = await mkdtemp(join(tmpdir(), 'core-web-host-'))
  const dataDir = join(folder, 'data')
  const host = await boot({ rootDir: ROOT, dataDir, flags: testFlags(dataDir), env: { HOME: folder } })
  onTestFinished(async () => {
    await host.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { host, folder }
}

test('A-03 an agent built without a setup gets neither a preset nor a model', async () => {
  const { host, folder } = await shippedHost()
  expect(host.report).toEqual({ rows: [], presets: [], skipped: [], notices: [], fatal: [] })
  const agents = host.service('agents')!
  const store = host.service('sessionStore')!
  const log = store.create(newHeader({ id: 'bare', createdAt: 1, cwd: folder, writer: 'test' }))
  const { agent, dispose } = await agents.create({ id: 'bare', log, options: { cwd: folder } })
  const { signal } = new AbortController()
  const assembly = await host.service('systemPrompt')!.assemble({ agent, scope: agent.scope, signal, tools: [] })
  expect(host.service('agentPresets')!.composedPreset(agent.scope)).toBe(undefined)
  expect([host.service('tools')!.view(agent.scope), assembly.selection]).toEqual([[], undefined])
  await dispose()
})

test('O-12 what sessions share stands on the host, whatever preset an agent uses', async () => {
  const { host } = await shippedHost()
  const shared = [
    'sessions',
    'sessionStore',
    'sessionIndex',
    'workspaces',
    'llm',
    'credentials',
    'agentPresets',
    'fs',
    'web',
  ]
  expect(shared.filter((name) => host.service(name) === undefined)).toEqual([])
  const inPresets = host
    .service('agentPresets')!
    .inspectCompositions()
    .flatMap(({ modules }) => modules.map(({ moduleName }) => moduleName))
  expect(inPresets.filter((name) => shared.includes(name))).toEqual([])
})

test('F-02 an agent that ends gives up its use of the preset', async () => {
  const { host, folder } = await shippedHost()
  const presets = host.service('agentPresets')!
  const sessions = host.service('sessions')!
  const { id } = await host.service('workspaces')!.add(folder, true)
  const { session } = await sessions.create({ workspace: id, preset: 'minimal' })
  const { scope } = sessions.live(session)!.agent
  expect(presets.composedPreset(scope)).toBe('minimal')
  await sessions.remove(session)
  expect(presets.composedPreset(scope)).toBe(undefined)
})
