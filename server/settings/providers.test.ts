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
import { providerConfig, routeDefaults } from '../model/adapters/route-options.ts'
import type { Probe } from '../wire/models.ts'
import { CoreError } from '../wire/errors.ts'
import { Providers } from './providers.ts'
import type { ProvidersOptions, RouteFile } from './providers-options.ts'
import type { RouteEntries } from './route-entry.ts'

const card = (id: string): ModelCard => ({ id, name: id, inputs: ['text'], reasoning: false, efforts: [] })
const SHIPPED: ProviderConfig = {
  id: 'shipped',
  label: 'Shipped',
  wire: 'chat',
  baseURL: 'https://api.example.com/v1',
  apiKeyRef: 'shipped',
}
const MINE = {
  id: 'mine',
  label: 'Mine',
  wire: 'chat' as const,
  baseURL: 'http://127.0.0.1:9/v1',
  key: 'none' as const,
}

/** The settings file, as far as routes are concerned. */
function memoryFile(entries: RouteEntries = {}) {
  const held = { entries, edits: 0, broken: false }
  const file: RouteFile = {
    path: '/data/user.cordis.yml',
    read: () => held.entries,
    async edit(derive) {
      if (held.broken) throw new CoreError('settings/not-saved', 'the disk is full')
      held.entries = derive({ raw: held.entries, evaluated: held.entries })
      held.edits++
    },
  }
  return { held, file }
}

const { id: _id, ...ENTRY } = MINE

function setup(options: Partial<ProvidersOptions> & { dataDir?: string; entries?: RouteEntries } = {}) {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'providers-'))
  const routes = new Routes()
  const state = new StateStore(dataDir)
  const credentials = new Credentials({ path: join(dataDir, 'credentials.json') })
  const chosen: { selection: Selection | undefined } = { selection: undefined }
  /** How each provider lists its models; by default at once, one model of its own name. */
  const lists = new Map<string, () => Promise<ModelCard[]>>()
  const configs: ProviderConfig[] = []
  const warnings: string[] = []
  const { held, file } = memoryFile(options.entries)
  const probe = vi.fn<ProvidersOptions['probe']>(async () => WORKS)
  const providers = new Providers({
    file,
    toConfig: providerConfig,
    defaults: routeDefaults,
    probe,
    findLocal: async () => [],
    now: () => 1234,
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
  return { providers, routes, state, credentials, chosen, lists, configs, warnings, views, row, dataDir, held, probe }
}

const WORKS: Probe = { verdict: 'works', message: 'fine', at: 0, exchanges: [] }
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

  test('a shipped server that does not run is no fault; one that somebody set up is', async () => {
    const credentials = { get: async () => undefined }
    const { providers, row } = setup({
      makeRoute: (config) => ({
        ...providerRoute(config, { credentials, loadBlob: async () => undefined }),
        models: async () => [],
        problem: () => ({ code: 'TRANSPORT', message: 'Nothing listens there.', transport: 'refused' }),
      }),
    })
    await providers.start()
    await providers.save(MINE)
    expect(row('mine')).toMatchObject({ problem: 'Nothing listens there.' })
    expect(row('shipped')).not.toHaveProperty('problem')
    await providers.save({ id: 'shipped', baseURL: 'http://127.0.0.1:9/elsewhere' })
    expect(row('shipped')).toMatchObject({ changed: true, problem: 'Nothing listens there.' })
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

  test('a route that comes or goes by itself changes the list, and only the new one is asked', async () => {
    const { providers, routes, lists, row } = setup()
    const asked = vi.fn<() => Promise<ModelCard[]>>(async () => [card('s')])
    lists.set('shipped', asked)
    await providers.start()
    routes.observe(() => providers.announce())
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
    const { providers, held, row } = setup()
    await providers.start()
    await expect(providers.save({ ...MINE, baseURL })).rejects.toMatchObject({
      code: 'provider/invalid',
      details: { provider: 'mine' },
    })
    expect([held.edits, row('mine')]).toEqual([0, undefined])
  })

  test('the id of a shipped provider, of the demo, and of a route that somebody else registered', async () => {
    const { providers, routes, held } = setup()
    await providers.start()
    routes.add({ id: 'plug', label: 'Plug', wire: 'chat', models: async () => [] } as unknown as Route)
    for (const id of ['shipped', 'demo', 'plug'])
      await expect(providers.save({ ...MINE, id })).rejects.toMatchObject({ code: 'provider/invalid' })
    expect(held.edits).toBe(0)
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
  await providers.save({ ...MINE, options: { models: ['a', 'b'] } })
  expect(configs.at(-1)).toMatchObject({ discover: false })
  expect(configs.at(-1)?.models?.map(({ id }) => id)).toEqual(['a', 'b'])
  await providers.save({ ...MINE, options: {} })
  expect(configs.at(-1)).toMatchObject({ discover: true })
})

describe('the connection test', () => {
  const routeThat = (prepare: Route['prepare']): Route =>
    ({ id: 'plug', label: 'Plug', wire: 'chat', models: async () => [card('p')], prepare }) as unknown as Route

  test('a configured provider is probed with its configuration, the model that was asked for, and a limit', async () => {
    const { providers, probe } = setup()
    await providers.start()
    expect(await providers.test('shipped', 'm')).toBe(WORKS)
    expect(probe).toHaveBeenCalledWith(expect.objectContaining({ id: 'shipped' }), { model: 'm', limitMs: 40 })
  })

  test('what registered itself is called once; a refusal keeps its code and nothing of the request', async () => {
    const { providers, routes } = setup()
    routes.add(
      routeThat(async () => {
        throw new ModelError({ code: 'AUTH', message: 'wrong key', status: 401, requestId: 'r' })
      }),
    )
    await providers.start()
    expect(await providers.test('plug')).toEqual({
      verdict: 'unknown',
      code: 'AUTH',
      message: 'wrong key',
      model: 'p',
      at: 1234,
      exchanges: [],
    })
  })

  test('what never answers is a timeout, not a stop by the user', async () => {
    const { providers, routes } = setup()
    routes.add(
      routeThat(
        (_config, signal) =>
          new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
      ),
    )
    await providers.start()
    expect(await providers.test('plug')).toMatchObject({ verdict: 'timeout', code: 'TIMEOUT' })
  })
})

describe('entries of the settings file', () => {
  const BASE = 'https://other.example/v1'

  test('a shipped provider writes only what differs; a reset gives it back, and its key stays', async () => {
    const { providers, held, credentials, row } = setup()
    await providers.start()
    await providers.setKey('shipped', 'sk-shipped')
    const { baseURL } = SHIPPED
    await providers.save({ id: 'shipped', label: 'Shipped', wire: 'chat', baseURL, key: 'stored', options: {} })
    expect([held.entries, row('shipped')?.changed]).toEqual([{}, undefined])
    await providers.save({ id: 'shipped', baseURL: BASE, options: { firstByteMs: 5 } })
    expect(held.entries).toEqual({ shipped: { baseURL: BASE, options: { firstByteMs: 5 } } })
    expect(row('shipped')).toMatchObject({ changed: true, baseURL: BASE, defaults: { firstByteMs: 600_000 } })
    expect((await providers.reset('shipped')).provider).toMatchObject({ baseURL, key: 'stored', keyStored: 1234 })
    expect([held.entries, credentials.has('shipped')]).toEqual([{}, true])
  })

  test('what is absent stays, and options are replaced as a whole', async () => {
    const { providers, held } = setup()
    await providers.save({ ...MINE, options: { idleMs: 7, proxy: 'none' } })
    await providers.save({ id: 'mine', label: 'Renamed' })
    expect(held.entries['mine']).toMatchObject({ label: 'Renamed', options: { idleMs: 7, proxy: 'none' } })
    await providers.save({ id: 'mine', options: { idleMs: 8 } })
    expect(held.entries['mine']).toMatchObject({ label: 'Renamed', options: { idleMs: 8 } })
    expect((held.entries['mine'] as { options: object }).options).not.toHaveProperty('proxy')
  })

  test('a new provider without name, kind or address is refused, and one of another wire is no change of a shipped one', async () => {
    const { providers, held } = setup()
    for (const args of [
      { id: 'mine' },
      { id: 'mine', label: 'M', wire: 'chat' as const },
      { ...MINE, id: 'shipped', wire: 'gemini' as const },
    ])
      await expect(providers.save(args)).rejects.toMatchObject({ code: 'provider/invalid' })
    expect(held.edits).toBe(0)
  })

  test.each([
    [{ colour: 'red' }, 'routes.shipped.colour'],
    [{ options: { firstByteMs: 'soon' } }, 'routes.shipped.options.firstByteMs'],
    [{ options: { headers: { Authorization: 'Bearer abc' } } }, 'routes.shipped.options.headers.Authorization'],
    [{ options: { efforts: [{ id: 'x', body: 'high' }] } }, 'routes.shipped.options.efforts.0.body'],
    [{ key: 'sk-123' }, 'routes.shipped.key'],
    ['text', 'routes.shipped'],
  ])(
    'the broken entry %j is told in its row by file and key; the shipped one serves, the others are untouched',
    async (entry, key) => {
      const { providers, row, routes } = setup({ entries: { shipped: entry, mine: ENTRY } })
      await providers.start()
      expect(row('shipped')?.problem).toContain(`/data/user.cordis.yml: ${key}: `)
      expect(row('shipped')?.problem).not.toMatch(/abc|sk-123/)
      expect(row('shipped')).toMatchObject({ baseURL: SHIPPED.baseURL })
      expect(row('mine')).not.toHaveProperty('problem')
      expect(routes.get('mine')).toBeDefined()
    },
  )

  test('an entry that breaks while it serves keeps its last good configuration; an own one broken from the start has a row only', async () => {
    const { providers, held, row, routes } = setup({ entries: { lost: { wire: 'chat' } } })
    await providers.start()
    await providers.save(MINE)
    const route = routes.get('mine')
    held.entries = { ...held.entries, mine: { ...ENTRY, options: { retries: 5 } } }
    providers.reread()
    expect(row('mine')).toMatchObject({
      baseURL: MINE.baseURL,
      problem: expect.stringContaining('routes.mine.options.retries'),
    })
    expect(routes.get('mine')).toBe(route)
    expect(row('lost')).toMatchObject({
      own: true,
      models: [],
      problem: expect.stringContaining('routes.lost.baseURL'),
    })
    expect(routes.get('lost')).toBeUndefined()
    await expect(providers.save({ id: 'lost', label: 'L' })).rejects.toMatchObject({ code: 'provider/invalid' })
    await providers.remove('lost')
    expect(row('lost')).toBeUndefined()
  })

  test('LP-01 only the routes that changed are made anew, and one in use serves its running call', async () => {
    const { providers, held, routes } = setup()
    await providers.start()
    await providers.save(MINE)
    await providers.save({ ...MINE, id: 'second' })
    const before = { shipped: routes.get('shipped'), mine: routes.get('mine'), second: routes.get('second') }
    const prepared = await routes.prepare({ provider: 'mine', model: 'm' })
    held.entries = { ...held.entries, mine: { ...ENTRY, options: { firstByteMs: 1 } } }
    providers.reread()
    expect(routes.get('shipped')).toBe(before.shipped)
    expect(routes.get('second')).toBe(before.second)
    expect(routes.get('mine')).not.toBe(before.mine)
    expect(prepared.header.config).toMatchObject({ provider: 'mine', model: 'm' })
    expect(() => prepared.stream).not.toThrow()
  })

  test('a save that fails changes nothing that runs', async () => {
    const { providers, held, row, routes } = setup()
    await providers.start()
    const before = routes.get('shipped')
    held.broken = true
    await expect(providers.save({ id: 'shipped', baseURL: BASE })).rejects.toMatchObject({ code: 'settings/not-saved' })
    expect([routes.get('shipped'), row('shipped')?.baseURL]).toEqual([before, SHIPPED.baseURL])
  })

  test('facts of a model: set, changed by field, taken back by field and as a whole', async () => {
    const { providers, held } = setup()
    await providers.start()
    const price = { in: 1, out: 2 }
    const facts = (edit: Parameters<typeof providers.saveFacts>[0]['facts']) =>
      providers.saveFacts({ provider: 'shipped', model: 'm', facts: edit })
    await facts({ contextWindow: 1000, price })
    await facts({ contextWindow: null, maxOutput: 10 })
    expect(held.entries).toEqual({ shipped: { options: { facts: { m: { price, maxOutput: 10 } } } } })
    await facts({ price: null })
    await facts(null)
    expect(held.entries).toEqual({})
  })
})

describe('own providers of earlier versions', () => {
  const OLD = { id: 'mine', label: 'Mine', wire: 'chat', baseURL: MINE.baseURL, keyless: true }
  const KEYED = { ...OLD, id: 'keyed', keyless: false, models: ['a'] }
  const ENTRIES = {
    mine: { label: 'Mine', wire: 'chat', baseURL: MINE.baseURL, key: 'none' },
    keyed: { label: 'Mine', wire: 'chat', baseURL: MINE.baseURL, key: 'stored', options: { models: ['a'] } },
  }
  const old = (made: ReturnType<typeof setup>) => made.state.get('providers')

  test('serve at once, and are moved into the file once', async () => {
    const made = setup()
    made.state.set('providers', [OLD, KEYED])
    await made.providers.start()
    expect(made.providers.current().providers.map(({ id, own }) => [id, own])).toEqual([
      ['shipped', false],
      ['mine', true],
      ['keyed', true],
    ])
    await made.providers.moveOld()
    await made.providers.moveOld()
    expect([made.held.entries, old(made), made.held.edits]).toEqual([ENTRIES, [], 1])
    expect(made.row('keyed')).toMatchObject({ settings: { key: 'stored', options: { models: ['a'] } } })
  })

  test('after a crash between file and table both are there; what the file says counts, and nothing is doubled', async () => {
    const changed = { ...ENTRIES, mine: { ...ENTRIES.mine, label: 'Changed since' } }
    const made = setup({ entries: changed })
    made.state.set('providers', [OLD, KEYED])
    await made.providers.start()
    expect(made.row('mine')?.label).toBe('Changed since')
    await made.providers.moveOld()
    expect([made.held.entries, old(made)]).toEqual([changed, []])
  })

  test('stay and serve when the file cannot be written, and go with the first edit that can', async () => {
    const made = setup()
    made.state.set('providers', [OLD])
    made.held.broken = true
    await made.providers.start()
    await expect(made.providers.moveOld()).rejects.toMatchObject({ code: 'settings/not-saved' })
    expect([old(made), made.row('mine')?.label]).toEqual([[OLD], 'Mine'])
    made.held.broken = false
    await made.providers.save({ id: 'mine', label: 'Renamed' })
    expect([made.held.entries, old(made)]).toEqual([{ mine: { ...ENTRIES.mine, label: 'Renamed' } }, []])
  })

  test('one whose id ships by now stays in the table, and the shipped one is not changed by it', async () => {
    const made = setup()
    made.state.set('providers', [{ ...OLD, id: 'shipped' }, OLD])
    await made.providers.start()
    await made.providers.moveOld()
    expect(made.row('shipped')).toMatchObject({ own: false, baseURL: SHIPPED.baseURL })
    expect([Object.keys(made.held.entries), old(made)]).toEqual([['mine'], [{ ...OLD, id: 'shipped' }]])
  })
})

test('the eight latest picks, each once, the latest first; they survive a restart and a broken table costs no pick', async () => {
  const made = setup()
  await made.providers.start()
  for (let index = 0; index < 10; index++) made.providers.picked({ provider: 'p', model: `m${index}` })
  made.providers.picked({ provider: 'p', model: 'm5' })
  const expected = ['m5', 'm9', 'm8', 'm7', 'm6', 'm4', 'm3', 'm2']
  expect(made.providers.current().recent.map(({ model }) => model)).toEqual(expected)
  const later = setup({ dataDir: made.dataDir })
  expect(later.providers.current().recent.map(({ model }) => model)).toEqual(expected)
  made.state.close()
  expect(() => made.providers.picked({ provider: 'p', model: 'x' })).not.toThrow()
  expect(made.warnings.at(-1)).toContain('recent models')
})

test('a host that nobody looks at asks no endpoint for its list', async () => {
  const { providers, lists, row } = setup({ shipped: [{ ...SHIPPED, discover: true }] })
  const asked = vi.fn<() => Promise<ModelCard[]>>(async () => [card('found')])
  lists.set('shipped', asked)
  await providers.start()
  expect(asked).not.toHaveBeenCalled()
  expect(row('shipped')?.models).toEqual([])
  await expect.poll(() => row('shipped')?.models).toHaveLength(1)
  expect(asked).toHaveBeenCalledTimes(1)
})

test('a local server that a provider stands for already names it', async () => {
  const server = { name: 'x', port: 9, baseURL: 'http://127.0.0.1:9/v1', state: 'ready' as const, models: [] }
  const { providers } = setup({ findLocal: async () => [server, { ...server, port: 10 }] })
  await providers.save({ ...MINE, baseURL: 'http://localhost:9/v1' })
  const { servers } = await providers.findLocal()
  expect(servers.map(({ provider }) => provider)).toEqual(['mine', undefined])
})

test('settings that hold a stored key in plain text are refused without repeating it', async () => {
  const { providers, held } = setup()
  await providers.start()
  await providers.setKey('shipped', 'sk-secret-12345')
  const refusal = await providers
    .save({ ...MINE, options: { headers: { 'X-Mine': 'sk-secret-12345' } } })
    .catch((error: Error) => error)
  expect(refusal).toMatchObject({ code: 'provider/invalid' })
  expect(JSON.stringify(refusal) + (refusal as Error).message).not.toContain('sk-secret')
  expect(held.edits).toBe(0)
})

test('a list that comes after the end is told to nobody', async () => {
  const { providers, lists, views, state } = setup()
  const late = Promise.withResolvers<ModelCard[]>()
  lists.set('shipped', () => late.promise)
  await providers.start()
  const told = views.length
  providers.close()
  state.close()
  late.resolve([card('late')])
  await new Promise((resolve) => setImmediate(resolve))
  expect(views).toHaveLength(told)
})
