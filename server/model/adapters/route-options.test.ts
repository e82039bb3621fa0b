import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, mockRoute } from '../../../e2e/mock-llm/rig.ts'
import { startMock, type Mock } from '../../../e2e/mock-llm/server.ts'
import type { ProviderSettings, RouteOptions } from '../../wire/models.ts'
import { catalogCards } from '../catalog.ts'
import type { ProviderConfig } from './config.ts'
import { providerRoute } from './provider-route.ts'
import { SHIPPED_PROVIDERS } from './providers.ts'
import { providerConfig, routeDefaults } from './route-options.ts'

let mock: Mock
beforeAll(async () => {
  mock = await startMock()
})
afterAll(() => mock.close())

const OWN: ProviderSettings = {
  id: 'mine',
  label: 'Mine',
  wire: 'chat',
  baseURL: 'https://models.example.com/v1',
  key: 'stored',
  options: {},
}
const own = (options: RouteOptions, base?: ProviderConfig) => providerConfig({ ...OWN, options }, base)
const shipped = SHIPPED_PROVIDERS.find(({ id }) => id === 'deepseek')!
const deps = { credentials: { get: async () => 'test-key' }, loadBlob: async () => undefined }
const factsOf = (options: RouteOptions, model: string, id = 'mine') =>
  providerRoute({ ...own(options), id, discover: false }, deps).describe(model)

describe('settings become the config of an adapter', () => {
  test('a person’s own provider without options is asked for its models', () => {
    expect(own({})).toEqual({
      id: 'mine',
      label: 'Mine',
      wire: 'chat',
      baseURL: 'https://models.example.com/v1',
      apiKeyRef: 'mine',
      discover: true,
    })
  })

  test('the key is a stored one, none, or one of the environment', () => {
    const keyed = (key: ProviderSettings['key'], base?: ProviderConfig) =>
      providerConfig({ ...OWN, key }, base).apiKeyRef
    expect(keyed('stored')).toBe('mine')
    expect(keyed('env:MY_KEY')).toBe('env:MY_KEY')
    expect(keyed('none')).toBeUndefined()
    expect(keyed('none', shipped)).toBeUndefined()
  })

  test('what can be said of a route goes through as it is', () => {
    const options = {
      headers: { 'x-a': 'b' },
      firstByteMs: 1,
      idleMs: 2,
      proxy: 'none',
      extraBody: { seed: 1 },
      efforts: [{ id: 'deep', body: { depth: 1 }, default: true }],
      includeUsage: false,
      dropForeignChunks: true,
      malformedArguments: 'wrap',
      inlineThink: true,
      sendBack: 'reasoning',
      discover: false,
    } as const satisfies RouteOptions
    expect(own(options as unknown as RouteOptions)).toMatchObject(options)
  })

  test('a shipped provider keeps what the settings do not say, and asks its endpoint only when told to', () => {
    const base: ProviderConfig = { ...shipped, idleMs: 7, toolStreaming: true, modelOverrides: { m: { maxOutput: 5 } } }
    const settings: ProviderSettings = { ...shipped, key: 'stored', options: { firstByteMs: 9 } }
    expect(providerConfig(settings, base)).toEqual({ ...base, firstByteMs: 9 })
    expect(providerConfig({ ...settings, options: { discover: true } }, base).discover).toBe(true)
    const absent = { ...settings, options: { firstByteMs: undefined, idleMs: undefined } as RouteOptions }
    expect(providerConfig(absent, base)).toEqual(base)
  })

  test('retry: each mode with its own numbers where the settings give none', () => {
    expect(own({}).retry).toBeUndefined()
    expect(own({ retry: { mode: 'normal' } }).retry).toEqual({
      mode: 'normal',
      retries: 5,
      baseMs: 500,
      capMs: 10_000,
      jitter: 0.1,
    })
    expect(own({ retry: { mode: 'always', capMs: 5 } }).retry).toEqual({
      mode: 'always',
      retries: 500,
      baseMs: 500,
      capMs: 5,
      jitter: 0.1,
    })
    expect(own({ retry: { mode: 'off', retries: 9 } }).retry).toMatchObject({ mode: 'off', retries: 0 })
    expect(own({ retry: { mode: 'normal', retries: 2, baseMs: undefined } }).retry).toMatchObject({
      retries: 2,
      baseMs: 500,
    })
  })

  test('the policy of the settings is the one of each call', async () => {
    const route = providerRoute(own({ retry: { mode: 'off' } }), deps)
    expect((await route.prepare({ provider: 'mine', model: 'm' })).retry.mode).toBe('off')
    expect(route.retry.mode).toBe('off')
  })
})

describe('models of the settings', () => {
  test('a list replaces the shipped one: known ids keep their card, others are text-only with unknown capacity', async () => {
    const card = catalogCards('deepseek')[0]!
    const settings: ProviderSettings = { ...shipped, key: 'stored', options: { models: [card.id, 'new-model'] } }
    const cards = await providerRoute(providerConfig(settings, shipped), deps).models()
    expect(cards).toEqual([
      card,
      { id: 'new-model', name: 'new-model', inputs: ['text'], reasoning: false, efforts: [], from: 'settings' },
    ])
    expect(own({ models: ['a'] }).discover).toBe(false)
    expect(own({ models: ['a'], discover: true }).discover).toBe(true)
    expect(own({ models: [] })).toEqual(own({}))
  })

  test('what the route declares belongs to ids without a card, listed or not', async () => {
    const options: RouteOptions = {
      efforts: [{ id: 'deep', body: { depth: 1 } }],
      sendBack: 'reasoning',
      inlineThink: true,
      models: ['listed'],
    }
    for (const id of ['listed', 'free'])
      expect(await factsOf(options, id)).toMatchObject({
        efforts: options.efforts,
        sendBack: 'reasoning',
        inlineThink: true,
        listed: id === 'listed',
      })
    const known = catalogCards('deepseek')[0]!
    expect(await providerRoute({ ...shipped, sendBack: 'none', efforts: [] }, deps).describe(known.id)).toMatchObject({
      sendBack: known.sendBack,
      efforts: known.efforts,
      from: 'catalog',
    })
  })

  test('facts win over the card, are marked as edited, and null takes one back', async () => {
    const price = { in: 1, out: 2 }
    const facts: RouteOptions['facts'] = {
      m: { contextWindow: 100, inputs: ['text', 'image'], price, maxOutput: null },
    }
    expect(await factsOf({ facts }, 'm')).toEqual({
      id: 'm',
      name: 'm',
      contextWindow: 100,
      inputs: ['text', 'image'],
      price,
      reasoning: false,
      efforts: [],
      from: 'settings',
      edited: ['contextWindow', 'inputs', 'price'],
      listed: false,
    })
    const base = { ...shipped, modelOverrides: { m: { maxOutput: 5, contextWindow: 6 }, other: { maxOutput: 1 } } }
    const back = own({ facts: { m: { maxOutput: null } } }, base).modelOverrides
    expect(back).toEqual({ m: { contextWindow: 6 }, other: { maxOutput: 1 } })
    expect(await factsOf({ facts }, 'another')).not.toHaveProperty('edited')
    expect(await factsOf({}, 'constructor')).not.toHaveProperty('edited')
  })
})

test('what is in force without a word: deadlines end a silent provider, and a server of this machine may load for ever', () => {
  const normal = { mode: 'normal', retries: 5, baseMs: 500, capMs: 10_000 }
  expect(routeDefaults(shipped)).toEqual({ retry: normal, firstByteMs: 600_000, idleMs: 300_000, discover: false })
  expect(routeDefaults(own({}))).toMatchObject({ firstByteMs: 600_000, discover: true })
  for (const baseURL of ['http://127.0.0.1:1/v1', 'http://localhost/v1', 'http://[::1]:2/v1', 'http://a.localhost/'])
    expect(routeDefaults({ ...shipped, baseURL })).toMatchObject({ firstByteMs: 0, idleMs: 300_000 })
  for (const baseURL of ['http://127.0.0.1.example.com/', 'http://localhost.example.com/', 'http://10.0.0.1/', 'none'])
    expect(routeDefaults({ ...shipped, baseURL }).firstByteMs).toBe(600_000)
  expect(routeDefaults({ ...shipped, firstByteMs: 1, idleMs: 0 })).toMatchObject({ firstByteMs: 1, idleMs: 0 })
})

describe('headers of the settings', () => {
  const sent = async (headers: { [name: string]: string }, { key = 'test-key', wire = 'chat' as const } = {}) => {
    const lane = `headers-${mock.requests.length}`
    mock.script(lane, [{ text: 'ok' }])
    const route = mockRoute(mock, wire, {
      config: { headers: { 'x-lane': '{{lane}}', ...headers } },
      deps: { credentials: { get: async () => key } },
    })
    await ask(route, { lane })
    return mock.requests.find((request) => request.lane === lane)!.headers
  }

  test('{{key}} puts the key under another name, and nowhere else', async () => {
    const headers = await sent({ 'api-key': '{{key}}', 'x-session': '{{session}}/{{lane}}' })
    expect(headers['api-key']).toBe('test-key')
    expect(headers.authorization).toBeUndefined()
    expect(headers['x-session']).toMatch(/^session-1\/headers-/)
  })

  test('a scheme of its own replaces the one of the wire, under any spelling of the name', async () => {
    expect((await sent({ AUTHORIZATION: 'Token {{key}}' })).authorization).toBe('Token test-key')
  })

  test('a key with signs that mean something elsewhere goes out as it is', async () => {
    expect((await sent({ 'api-key': 'a {{key}}' }, { key: '$&$1{{lane}}' }))['api-key']).toBe('a $&$1{{lane}}')
  })

  test('a header without the key changes nothing about the wire’s own', async () => {
    expect((await sent({ 'x-other': 'v' })).authorization).toBe('Bearer test-key')
  })

  test('a keyless route whose header asks for the key is refused by name before the network', async () => {
    const count = mock.requests.length
    const config = providerConfig({ ...OWN, key: 'none', options: { headers: { 'api-key': '{{key}}' } } })
    await expect(providerRoute(config, deps).prepare({ provider: 'mine', model: 'm' })).rejects.toMatchObject({
      failure: { code: 'INVALID_REQUEST', message: expect.stringMatching(/Mine .*"api-key".*\{\{key\}\}/) },
    })
    expect(mock.requests).toHaveLength(count)
  })

  test('a key that comes from the environment and is not there is asked for by its name', async () => {
    const none = { ...deps, credentials: { get: async () => undefined } }
    const config = providerConfig({ ...OWN, key: 'env:MY_KEY' })
    await expect(providerRoute(config, none).prepare({ provider: 'mine', model: 'm' })).rejects.toMatchObject({
      failure: { code: 'MISSING_CREDENTIAL', message: expect.stringMatching(/Mine .* MY_KEY/) },
    })
  })
})
