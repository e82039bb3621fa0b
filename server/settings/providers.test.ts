import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { ModelsView } from '../wire/views.ts'
import type { Selection } from '../wire/messages.ts'
import { Credentials } from '../credential/credentials.ts'
import type { ProviderConfig } from '../model/adapters/config.ts'
import { providerRoute } from '../model/adapters/provider-route.ts'
import { ModelError, type ModelCard, type Route } from '../model/port.ts'
import { NORMAL_RETRY } from '../model/retry.ts'
import { Routes } from '../model/routes.ts'
import { StateStore } from '../workspace/state.ts'
import { Providers, type ProvidersOptions } from './providers.ts'

const card = (id: string): ModelCard => ({ id, name: id, inputs: ['text'], reasoning: false, efforts: [] })
const SHIPPED: ProviderConfig = {
  id: 'shipped',
  label: 'Shipped',
  wire: 'chat',
  baseURL: 'https://api.example.com/v1',
  apiKeyRef: 'shipped',
}
const MINE = { id: 'mine', label: 'Mine', wire: 'chat' as const, baseURL: 'http://127.0.0.1:9/v1', keyless: true }

function setup(options: Partial<ProvidersOptions> & { dataDir?: string } = {}) {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'providers-'))
  const routes = new Routes()
  const state = new StateStore(dataDir)
  const credentials = new Credentials({ path: join(dataDir, 'credentials.json') })
  const chosen: { selection: Selection | undefined } = { selection: undefined }
  /** How each provider lists its models; by default at once, one model of its own name. */
  const lists = new Map<string, () => Promise<ModelCard[]>>()
  const configs: ProviderConfig[] = []
  const warnings: string[] = []
  const providers = new Providers({
    routes,
    credentials,
    state,
    shipped: [SHIPPED],
    makeRoute: (config) => {
      configs.push(config)
      const real = providerRoute(config, { credentials, loadBlob: async () => undefined })
      return { ...real, models: () => lists.get(config.id)?.() ?? Promise.resolve([card(`${config.id}-1`)]) }
    },
    defaultModel: {
      currentSelection: () => chosen.selection,
      saveSelection: async (selection) => void (chosen.selection = selection),
    },
    warn: (message) => warnings.push(message),
    limits: { ask: 40, answer: 10, test: 40 },
    ...options,
  })
  const views: ModelsView[] = []
  providers.onChange((view) => views.push(view))
  const row = (id: string) => providers.current().providers.find((candidate) => candidate.id === id)
  return { providers, routes, state, credentials, chosen, lists, configs, warnings, views, row, dataDir }
}

const never = () => new Promise<never>(() => {})

describe('the list', () => {
  test('rows are there before any endpoint has answered, and models come as they come', async () => {
    const { providers, routes, lists, row, views } = setup()
    const slow = Promise.withResolvers<ModelCard[]>()
    lists.set('shipped', () => slow.promise)
    const extra = { id: 'quick', label: 'Quick', wire: 'chat', retry: NORMAL_RETRY, models: async () => [card('q')] }
    routes.add(extra as unknown as Route)
    const started = providers.start()
    expect(providers.current().providers.map(({ id }) => id)).toEqual(['quick', 'shipped'])
    await expect.poll(() => row('quick')?.models).toHaveLength(1)
    expect(row('shipped')).toMatchObject({ models: [], key: 'missing', own: false })
    slow.resolve([card('late')])
    await started
    expect(views.at(-1)?.providers[1]?.models).toMatchObject([{ id: 'late' }])
  })

  test('an endpoint that never answers holds up nothing, says so, and may still answer later', async () => {
    const { providers, lists, row } = setup()
    const slow = Promise.withResolvers<ModelCard[]>()
    lists.set('shipped', () => slow.promise)
    await providers.start()
    expect(row('shipped')?.problem).toContain('did not list its models')
    const { provider } = await providers.save(MINE)
    expect(provider).toMatchObject({ id: 'mine', own: true, models: [{ id: 'mine-1' }] })
    slow.resolve([card('late')])
    await expect.poll(() => row('shipped')).toMatchObject({ models: [{ id: 'late' }] })
    expect(row('shipped')).not.toHaveProperty('problem')
  })

  test('saving a provider that hangs is answered with its row all the same', async () => {
    const { providers, lists, row } = setup()
    await providers.start()
    lists.set('mine', never)
    expect((await providers.save(MINE)).provider).toMatchObject({ id: 'mine', models: [] })
    expect(row('shipped')?.models).toHaveLength(1)
  })

  test('a damaged file of keys is told in the rows; lists and later changes go on', async () => {
    const { providers, row, dataDir, credentials } = setup()
    writeFileSync(join(dataDir, 'credentials.json'), '{ half')
    await providers.start()
    expect(row('shipped')).toMatchObject({ key: 'missing', problem: expect.stringContaining('damaged') })
    await expect(providers.setKey('shipped', 'sk-1')).rejects.toMatchObject({ code: 'credential/invalid' })
    writeFileSync(join(dataDir, 'credentials.json'), '{}')
    expect((await providers.setKey('shipped', 'sk-1')).provider).toMatchObject({ key: 'stored' })
    expect(credentials.has('shipped')).toBe(true)
    expect(row('shipped')).not.toHaveProperty('problem')
  })

  test('one stored provider whose id is shipped by now is left out with a warning; the others start', async () => {
    const first = setup()
    await first.providers.save({ ...MINE, id: 'soon' })
    await first.providers.save(MINE)
    first.state.close()
    const later = setup({ dataDir: first.dataDir, shipped: [SHIPPED, { ...SHIPPED, id: 'soon' }] })
    await later.providers.start()
    expect(later.providers.current().providers.map(({ id, own }) => [id, own])).toEqual([
      ['shipped', false],
      ['soon', false],
      ['mine', true],
    ])
    expect(later.warnings).toEqual([expect.stringContaining('soon is left out')])
  })

  test('a route that comes or goes by itself changes the list, and only the new one is asked', async () => {
    const { providers, routes, lists, row } = setup()
    const asked = vi.fn<() => Promise<ModelCard[]>>(async () => [card('s')])
    lists.set('shipped', asked)
    await providers.start()
    routes.observe(() => providers.routesChanged())
    const remove = routes.add({
      id: 'plug',
      label: 'Plug',
      wire: 'chat',
      models: async () => [card('p')],
    } as unknown as Route)
    await expect.poll(() => row('plug')?.models).toHaveLength(1)
    remove()
    expect(row('plug')).toBeUndefined()
    expect(asked).toHaveBeenCalledTimes(1)
  })

  test('K-12 a default of a provider that is gone stays named', async () => {
    const { providers } = setup()
    await providers.start()
    await providers.save(MINE)
    await providers.saveDefault({ provider: 'mine', model: 'm' })
    await providers.remove('mine')
    expect(providers.current()).toMatchObject({ default: { provider: 'mine', model: 'm' } })
    expect(providers.current().providers.map(({ id }) => id)).toEqual(['shipped'])
  })
})

describe('what is refused', () => {
  test.each([
    'ftp://host/v1',
    'javascript:alert(1)',
    'https://user:pw@host/v1',
    'https://host/v1?key=1',
    'https://host/#x',
    'host',
  ])('the base URL %s, with nothing stored', async (baseURL) => {
    const { providers, state, row } = setup()
    await providers.start()
    await expect(providers.save({ ...MINE, baseURL })).rejects.toMatchObject({
      code: 'provider/invalid',
      details: { provider: 'mine' },
    })
    expect([state.get('providers'), row('mine')]).toEqual([undefined, undefined])
  })

  test('the id of a shipped provider, of the demo, and of a route that somebody else registered', async () => {
    const { providers, routes, state } = setup()
    await providers.start()
    routes.add({ id: 'plug', label: 'Plug', wire: 'chat', models: async () => [] } as unknown as Route)
    for (const id of ['shipped', 'demo', 'plug'])
      await expect(providers.save({ ...MINE, id })).rejects.toMatchObject({ code: 'provider/invalid' })
    expect(state.get('providers')).toBeUndefined()
    await expect(providers.remove('shipped')).rejects.toMatchObject({ code: 'provider/invalid' })
  })

  test.each(['sk-1\n', 'sk 1', 'schlüssel', ''])('the key %j, and it is not echoed', async (key) => {
    const { providers } = setup()
    await providers.start()
    const refusal = await providers.setKey('shipped', key).catch((error: Error) => error)
    expect(refusal).toMatchObject({ code: 'credential/invalid' })
    if (key) expect(JSON.stringify(refusal) + (refusal as Error).message).not.toContain(key)
  })
})

test('a provider without a list of models is asked for it; an own list replaces that', async () => {
  const { providers, configs } = setup()
  await providers.save(MINE)
  expect(configs.at(-1)).toMatchObject({ discover: true })
  await providers.save({ ...MINE, models: ['a', 'b'] })
  expect(configs.at(-1)).not.toHaveProperty('discover')
  expect(configs.at(-1)?.models?.map(({ id }) => id)).toEqual(['a', 'b'])
  await providers.save({ ...MINE, models: [] })
  expect(configs.at(-1)).toMatchObject({ discover: true })
})

describe('the connection test', () => {
  test('without a key it says so by its code', async () => {
    const { providers } = setup()
    await providers.start()
    expect(await providers.test('shipped')).toMatchObject({ ok: false, code: 'MISSING_CREDENTIAL' })
  })

  const routeThat = (prepare: Route['prepare']): Route =>
    ({ id: 'plug', label: 'Plug', wire: 'chat', models: async () => [card('p')], prepare }) as unknown as Route

  test('a refusal keeps its code and status and nothing of the request', async () => {
    const { providers, routes } = setup()
    routes.add(
      routeThat(async () => {
        throw new ModelError({ code: 'AUTH', message: 'wrong key', status: 401, requestId: 'r' })
      }),
    )
    await providers.start()
    const result = await providers.test('plug')
    expect(result).toMatchObject({ ok: false, code: 'AUTH', message: 'wrong key', answered: { status: 401 } })
    expect(Object.keys(result).sort()).toEqual(['answered', 'asked', 'code', 'message', 'ok'])
  })

  test('an endpoint that never answers is a timeout, not a stop by the user', async () => {
    const { providers, routes } = setup()
    routes.add(
      routeThat(
        (_config, signal) =>
          new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
      ),
    )
    await providers.start()
    expect(await providers.test('plug')).toMatchObject({ ok: false, code: 'TIMEOUT' })
  })
})
