import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { GlobalState } from '../server/wire/views.ts'
import type { Client } from './client.ts'
import { startHost, type TestHost } from './host.ts'
import { startMock, type Mock } from './mock-llm/server.ts'
import { startServer } from './process.ts'

const KEY = 'sk-never-to-be-seen-0123456789'
const PATCH = 'user.cordis.yml'

let mock: Mock
let host: TestHost
let one: Client
let two: Client
beforeAll(async () => {
  mock = await startMock({ repeatLast: true })
  host = await startHost()
  one = await host.connect()
  two = await host.connect()
}, 60_000)
afterAll(async () => {
  await host?.remove()
  await mock?.close()
})

const patch = () => readFileSync(join(host.dataDir, PATCH), 'utf8')
const mine = () => ({ id: 'mine', label: 'Mine', wire: 'chat' as const, baseURL: `${mock.url}/v1` })
/** The next news of one part of the host's state that is as it should be. */
const news = (client: Client, wanted: (part: Partial<GlobalState>) => boolean | undefined, from: number) =>
  client.until((frame) => frame.t === 'global' && wanted(frame) === true, from)
const rowOf = (part: Partial<GlobalState>, id: string) => part.models?.providers.find((row) => row.id === id)

test('a provider, its key, facts and reset: each is answered with the row, and the other tab sees it', async () => {
  const from = two.frames.length
  const { provider } = await one.command('provider.save', { ...mine(), options: { headers: { 'x-lane': '{{lane}}' } } })
  expect(provider).toMatchObject({ id: 'mine', own: true, key: 'missing', settings: { key: 'stored' } })
  const keyed = await one.command('credential.set', { provider: 'mine', key: KEY })
  expect(keyed.provider).toMatchObject({ key: 'stored', keyStored: expect.any(Number) })
  await news(two, (part) => rowOf(part, 'mine')?.key === 'stored', from)
  await one.command('model.facts', { provider: 'mine', model: 'mock-model', facts: { price: { in: 1, out: 2 } } })
  expect(patch()).toContain('price:')
  const changed = await one.command('provider.save', { id: 'openai', baseURL: `${mock.url}/v1` })
  expect(changed.provider).toMatchObject({ changed: true, own: false })
  expect((await one.command('provider.reset', { provider: 'openai' })).provider).not.toHaveProperty('changed')
  expect(patch()).not.toContain('openai')
  expect((await one.command('provider.refresh', { provider: 'mine' })).provider.id).toBe('mine')
  expect((await one.command('provider.find-local', {})).servers).toBeInstanceOf(Array)
})

test('budget and titles are in force at once, in both tabs and in the document; a title model that is unknown is refused', async () => {
  const from = two.frames.length
  expect(await one.command('budget.save', { session: 2, day: 5 })).toEqual({ budget: { session: 2, day: 5 } })
  expect(await two.command('budget.save', { session: null })).toEqual({ budget: { day: 5 } })
  const titles = { provider: 'mine', model: 'mock-model' }
  await one.command('titles.save', { selection: titles })
  await news(two, (part) => part.sessionSettings?.titles?.model === 'mock-model', from)
  const state = (await (await host.get('api/state')).json()) as GlobalState
  expect(state.sessionSettings).toEqual({ budget: { day: 5 }, titles })
  const unknown = one.command('titles.save', { selection: { provider: 'nobody', model: 'm' } })
  await expect(unknown).rejects.toMatchObject({ code: 'session/model-unavailable' })
  expect(await one.command('titles.save', { selection: null })).toEqual({ budget: { day: 5 } })
})

test('picks are recent, navigation is none, and a session may have a limit of its own', async () => {
  const workspace = await host.workspace(one)
  const selection = { provider: 'mine', model: 'mock-model', alsoDefault: false }
  const { session } = await one.command('session.create', { workspace, selection })
  await one.command('model.select', { session, provider: 'mine', model: 'second', alsoDefault: false })
  const { models } = await one.command('model.default', { provider: 'mine', model: 'third' })
  expect(models.recent.map(({ model }) => model)).toEqual(['third', 'second', 'mock-model'])
  const before = patch()
  await two.attach(session)
  const { models: later } = (await (await host.get('api/state')).json()) as GlobalState
  expect([later.recent, patch()]).toEqual([models.recent, before])
  expect(await one.command('session.budget', { session, limit: 3 })).toEqual({ limit: 3 })
})

test('comments and expressions of a file written by hand survive a save, and a mistake is told in its row alone', async () => {
  const by = patch().replace('      mine:\n', '      # the box under the desk\n      mine:\n')
  const written = `${by}- id: hooks\n  disabled: !!js process.platform === 'nowhere'\n`
  const entry = '      typo:\n        label: Typo\n        baseURL: http://127.0.0.1:9/v1\n        colour: red\n'
  writeFileSync(join(host.dataDir, PATCH), written.replace('    routes:\n', `    routes:\n${entry}`))
  await host.host.reload()
  const { models } = (await (await host.get('api/state')).json()) as GlobalState
  expect(rowOf({ models }, 'typo')?.problem).toContain(`${PATCH}: routes.typo.colour`)
  expect(rowOf({ models }, 'mine')?.settings).toMatchObject({ label: 'Mine' })
  await one.command('provider.remove', { provider: 'typo' })
  await one.command('provider.save', { id: 'mine', label: 'Mine again' })
  expect(patch()).toBe(written.replace('label: Mine\n', 'label: Mine again\n'))
})

test('a key is in its file alone, which is its owner’s only: no frame, answer, log or other file has it', async () => {
  const spill = `Incorrect API key provided: ${KEY}.`
  mock.script('test', [{ behavior: 'auth_error', errorMessage: spill }])
  const probe = await one.command('provider.test', { provider: 'mine', model: 'mock-model' })
  expect(probe.verdict).toBe('auth')
  expect(mock.requests.some(({ headers }) => headers['authorization'] === `Bearer ${KEY}`)).toBe(true)
  await one.command('credential.set', { provider: 'mine', key: `${KEY}\n` }).catch(() => {})
  const told = [one.frames, two.frames].map((frames) => JSON.stringify(frames)).join('')
  const documents = await Promise.all(['api/state', 'api/sessions'].map(async (path) => (await host.get(path)).text()))
  expect(told + documents.join('')).not.toContain(KEY)
  const files = readdirSync(host.dataDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  const holding = files.filter((file) => readFileSync(join(file.parentPath, file.name)).includes(KEY))
  expect(holding.map(({ name }) => name)).toEqual(['credentials.json'])
  expect(statSync(join(host.dataDir, 'credentials.json')).mode & 0o777).toBe(0o600)
})

test('everything is there after a restart', async () => {
  const before = (await (await host.get('api/state')).json()) as GlobalState
  await host.close()
  host = await startHost({ dataDir: host.dataDir, work: host.work })
  one = await host.connect()
  const { models, sessionSettings } = (await (await host.get('api/state')).json()) as GlobalState
  expect(sessionSettings).toEqual(before.sessionSettings)
  expect([models.default, models.recent]).toEqual([before.models.default, before.models.recent])
  const { models: _list, ...row } = rowOf({ models }, 'mine')!
  expect(row).toMatchObject({ label: 'Mine again', key: 'stored', keyStored: rowOf(before, 'mine')!.keyStored })
})

test('two processes on one data folder that save one row at once lose nothing', async () => {
  const dataDir = join(host.dataDir, '..', 'shared')
  const servers = [await startServer({ dataDir }), await startServer({ dataDir })]
  onTestFinished(() => Promise.all(servers.map((server) => server.kill())).then(() => {}))
  const clients = await Promise.all(servers.map((server) => server.connect()))
  const saves = clients.flatMap((client, index) =>
    Array.from({ length: 5 }, (_, n) =>
      client.command('provider.save', { ...mine(), id: `p${index}-${n}`, key: 'none', options: { discover: false } }),
    ),
  )
  await Promise.all([
    ...saves,
    clients[0]!.command('budget.save', { day: 5 }),
    clients[1]!.command('budget.save', { session: 2 }),
  ])
  const text = readFileSync(join(dataDir, PATCH), 'utf8')
  for (const index of [0, 1]) for (const n of [0, 1, 2, 3, 4]) expect(text).toContain(`p${index}-${n}:`)
  expect(text).toMatch(/day: 5/)
  expect(text).toMatch(/session: 2/)
  expect(existsSync(join(dataDir, PATCH))).toBe(true)
}, 90_000)
