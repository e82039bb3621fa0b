import fc from 'fast-check'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { afterAll, describe, expect, test } from 'vitest'
import type { WireFamily } from '../../wire/messages.ts'
import { catalogCards } from '../catalog.ts'
import { ModelError } from '../port.ts'
import { closeServers, connectProxy, deadAddress, httpServer, tcpServer } from '../servers.fixture.ts'
import type { ProviderConfig, ProviderDeps } from './config.ts'
import { discover } from './discover.ts'
import { readModels } from './model-list.ts'
import { providerRoute } from './provider-route.ts'

afterAll(closeServers)

const now = () => Date.parse('2026-05-06T07:08:09Z')
const depsWith = (key: string | undefined): ProviderDeps => ({
  credentials: { get: async () => key, secrets: () => [] },
  loadBlob: async () => undefined,
  now,
})
const configOf = (url: string, patch: Partial<ProviderConfig> = {}): ProviderConfig => ({
  id: 'p',
  label: 'Provider P',
  wire: 'chat',
  baseURL: `${url}/v1/`,
  apiKeyRef: 'p',
  discover: true,
  ...patch,
})

/** An endpoint with one answer, and what it was asked. */
async function endpoint(answer: object | string | ((response: ServerResponse) => void), status = 200) {
  const asked: { url: string; headers: IncomingHttpHeaders }[] = []
  const server = await httpServer((request, response) => {
    asked.push({ url: request.url!, headers: request.headers })
    if (typeof answer === 'function') return (answer as (response: ServerResponse) => void)(response)
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '3' }).end(text)
  })
  return { ...server, asked }
}

const openRouter = {
  data: [
    {
      id: 'maker/rich',
      name: 'Maker: Rich',
      context_length: 1_000_000,
      architecture: { input_modalities: ['text', 'image', 'file'] },
      pricing: { prompt: '0.00000125', completion: '0.00001', input_cache_read: '0.000000125', input_cache_write: '0' },
      top_provider: { context_length: 400_000, max_completion_tokens: 128_000 },
      supported_parameters: ['tools', 'reasoning'],
    },
    {
      id: 'auto',
      name: '',
      pricing: { prompt: '-1', completion: '-1' },
      architecture: { input_modalities: ['text'] },
      supported_parameters: [],
    },
  ],
}

describe('each wire asks in its own way', () => {
  test.each<[WireFamily, string, IncomingHttpHeaders]>([
    ['chat', '/v1/models', { authorization: 'Bearer the-key' }],
    ['responses', '/v1/models', { authorization: 'Bearer the-key' }],
    ['messages', '/v1/models?limit=1000', { 'x-api-key': 'the-key', 'anthropic-version': '2023-06-01' }],
    ['gemini', '/v1/models?pageSize=1000', { 'x-goog-api-key': 'the-key' }],
  ])('%s asks %s', async (wire, url, headers) => {
    const { asked, url: base } = await endpoint(wire === 'gemini' ? { models: [] } : { data: [] })
    const found = await discover(configOf(base, { wire }), depsWith('the-key'))
    expect(asked).toEqual([{ url, headers: expect.objectContaining(headers) }])
    expect(found).toEqual({
      list: { models: new Map(), figures: { source: `${base}${url}`, date: '2026-05-06' } },
    })
    const names = ['authorization', 'x-api-key', 'x-goog-api-key'].filter(
      (name) => asked[0]!.headers[name] !== undefined,
    )
    expect(names).toEqual(Object.keys(headers).slice(0, 1))
  })

  test('headers of the settings go along, and the key stands where they put it', async () => {
    const { asked, url } = await endpoint({ data: [] })
    const headers = { 'api-key': '{{key}}', 'x-tenant': 't {{session}} {{lane}}' }
    await discover(configOf(url, { headers }), depsWith('the-key'))
    expect(asked[0]!.headers).toMatchObject({ 'api-key': 'the-key', 'x-tenant': 't models models' })
    expect(asked[0]!.headers).not.toHaveProperty('authorization')
  })

  test('through the proxy of the route', async () => {
    const { asked, ...server } = await endpoint({ data: [{ id: 'far' }] })
    const proxy = await connectProxy(server)
    const found = await discover(configOf('http://provider.invalid', { proxy: proxy.url }), depsWith('the-key'))
    expect(found).toMatchObject({ list: { models: new Map([['far', { id: 'far' }]]) } })
    expect([asked.length, proxy.tunnels[0]?.to]).toEqual([1, 'provider.invalid:80'])
  })
})

describe('what the rows say', () => {
  test('OpenRouter tells window, output, inputs, name and price per million', () => {
    expect(Object.fromEntries(readModels('chat', openRouter))).toEqual({
      'maker/rich': {
        id: 'maker/rich',
        name: 'Maker: Rich',
        contextWindow: 400_000,
        maxOutput: 128_000,
        inputs: ['text', 'image'],
        reasoning: true,
        price: { in: 1.25, cacheRead: 0.125, cacheWrite: 0, out: 10 },
      },
      auto: { id: 'auto', inputs: ['text'], reasoning: false },
    })
  })

  test.each([
    [{ context_length: 5 }, { contextWindow: 5 }],
    [
      { context_window: 6, max_completion_tokens: 7 },
      { contextWindow: 6, maxOutput: 7 },
    ],
    [{ max_model_len: 8 }, { contextWindow: 8 }],
    [
      { max_context_length: 9, max_output_tokens: 3 },
      { contextWindow: 9, maxOutput: 3 },
    ],
    [{ context_length: -1, context_window: 0, max_model_len: 1.5, max_context_length: '4' }, {}],
    [{ display_name: 'Shown' }, { name: 'Shown' }],
    [{ pricing: { prompt: 'free', completion: '' } }, {}],
    [{ pricing: { prompt: 0, completion: '0' } }, { price: { in: 0, out: 0 } }],
    [{ pricing: { prompt: '0.0000003' } }, {}],
    [{ architecture: { input_modalities: [] } }, {}],
  ])('a chat row %j', (row, facts) => {
    expect([...readModels('chat', { data: [{ id: 'm', ...row }] }).values()]).toEqual([{ id: 'm', ...facts }])
  })

  test('Anthropic tells names and limits', () => {
    const data = [
      { id: 'c', display_name: 'C', max_input_tokens: 200_000, max_tokens: 64_000, type: 'model' },
      { id: 'd' },
    ]
    expect([...readModels('messages', { data }).values()]).toEqual([
      { id: 'c', name: 'C', contextWindow: 200_000, maxOutput: 64_000 },
      { id: 'd' },
    ])
  })

  test('Gemini tells limits and thinking; what does not generate content is left out', () => {
    const models = [
      {
        name: 'models/g',
        displayName: 'G',
        inputTokenLimit: 10,
        outputTokenLimit: 5,
        thinking: true,
        supportedGenerationMethods: ['generateContent', 'countTokens'],
      },
      { name: 'models/embedding', supportedGenerationMethods: ['embedContent'] },
      { name: 'tuned' },
    ]
    expect([...readModels('gemini', { models }).values()]).toEqual([
      { id: 'g', name: 'G', contextWindow: 10, maxOutput: 5, reasoning: true },
      { id: 'tuned' },
    ])
  })

  test('ids come sorted, once, no more than 2,000, and rows without one are passed over', () => {
    const data = Array.from({ length: 2500 }, (_, n) => ({ id: `m${String(2500 - n).padStart(4, '0')}` }))
    const ids = [
      ...readModels('chat', {
        data: [{ id: 7 }, null, 'x', { id: '' }, { id: 'x'.repeat(300) }, ...data, ...data],
      }).keys(),
    ]
    expect(ids.slice(0, 2)).toEqual(['m0001', 'm0002'])
    expect(ids.length).toBeLessThanOrEqual(2000)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('property: whatever the endpoint says is either a list or one refusal in our words', () => {
    const wires = fc.constantFrom<WireFamily>('chat', 'responses', 'messages', 'gemini')
    const row = fc.oneof(fc.anything(), fc.record({ id: fc.string(), name: fc.anything(), pricing: fc.anything() }))
    const body = fc.oneof(fc.anything(), fc.record({ data: fc.array(row), models: fc.array(row) }))
    fc.assert(
      fc.property(wires, body, (wire, value) => {
        try {
          for (const [id, model] of readModels(wire, value)) expect(model.id).toBe(id)
        } catch (error) {
          expect(error).toBeInstanceOf(ModelError)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('a list that does not come', () => {
  const failureOf = async (url: string, key: string | undefined = 'the-key', patch: Partial<ProviderConfig> = {}) => {
    const found = await discover(configOf(url, patch), depsWith(key), { limitMs: 300 })
    return 'list' in found ? found.list : found.failure
  }

  test('is told by its code, without the key', async () => {
    const refused = await endpoint({ error: { message: 'bad key the-key given', type: 'authentication_error' } }, 401)
    const failure = await failureOf(refused.url)
    expect(failure).toMatchObject({ code: 'AUTH', status: 401, message: expect.stringContaining('bad key *** given') })
    expect(JSON.stringify(failure)).not.toContain('the-key')
    expect(await failureOf((await endpoint('busy', 429)).url)).toMatchObject({
      code: 'RATE_LIMIT',
      providerRetryAfterMs: 3000,
    })
    expect(await failureOf((await endpoint('[]', 500)).url)).toMatchObject({ code: 'SERVER' })
    expect(await failureOf((await deadAddress()).url)).toMatchObject({ code: 'TRANSPORT', transport: 'refused' })
    expect(await failureOf('http://nothing.invalid')).toMatchObject({ code: 'TRANSPORT', transport: 'dns' })
  })

  test('is no list when it is something else', async () => {
    const page = await endpoint('<!doctype html><html>Sign in</html>')
    expect(await failureOf(page.url)).toMatchObject({
      code: 'MALFORMED_RESPONSE',
      message: expect.stringMatching(/got application\/json: Sign in$/),
    })
    expect(await failureOf((await endpoint('')).url)).toMatchObject({
      message: expect.stringContaining('an empty body'),
    })
    expect(await failureOf((await endpoint({ ok: true })).url)).toMatchObject({
      code: 'MALFORMED_RESPONSE',
      message: expect.stringContaining('not with a list of models'),
    })
  })

  test('is cut off at 2 MB and at its deadline, whether the server is silent or never ends', async () => {
    const large = await endpoint((response) => {
      response.on('error', () => undefined)
      for (let n = 0; n < 50; n++) response.write('x'.repeat(100_000))
    })
    expect(await failureOf(large.url)).toMatchObject({ message: expect.stringContaining('larger than 2 MB') })
    const silent = await tcpServer(() => undefined)
    const late = { code: 'TIMEOUT', message: 'Provider P did not list its models within 0.3 s.' }
    expect(await failureOf(silent.url)).toEqual(late)
    const slow = await endpoint((response) => void response.writeHead(200).write('{"data":['))
    expect(await failureOf(slow.url)).toEqual(late)
  })

  test('is nobody’s problem where the key is missing, and is still tried', async () => {
    const { asked, url } = await endpoint({ error: 'no' }, 401)
    expect(await failureOf(url, '')).toBeUndefined()
    expect(asked[0]!.headers).not.toHaveProperty('authorization')
    const free = await endpoint({ data: [{ id: 'free' }] })
    expect(await discover(configOf(free.url), depsWith(undefined))).toMatchObject({ list: expect.anything() })
  })

  test('is not asked for with a key that no header can carry', async () => {
    const { asked, url } = await endpoint({ data: [] })
    expect(await failureOf(url, 'line\nend')).toMatchObject({ code: 'INVALID_CREDENTIAL' })
    expect(asked).toEqual([])
  })
})

describe('cards of a route with what its endpoint says', () => {
  test('the endpoint’s figures are used without asking again, and win over older ones; settings win over all', async () => {
    const { asked, url } = await endpoint(openRouter)
    const models = [
      {
        id: 'maker/rich',
        name: 'Curated',
        contextWindow: 1,
        inputs: ['text' as const],
        reasoning: true,
        efforts: [{ id: 'high' }],
        price: { in: 9, out: 9 },
        from: 'catalog' as const,
        figures: { source: 'old', date: '2020-01-01' },
      },
    ]
    const config = configOf(url, {
      models,
      modelOverrides: { 'maker/rich': { maxOutput: 4 }, auto: { price: { in: 1, out: 2 } } },
    })
    const route = providerRoute(config, depsWith('the-key'))
    expect(await route.describe('auto')).toMatchObject({ price: { in: 1, out: 2 }, edited: ['price'], listed: false })
    expect(asked).toEqual([])
    const cards = await route.models()
    expect(cards.map(({ id }) => id)).toEqual(['maker/rich', 'auto'])
    const figures = { source: `${url}/v1/models`, date: '2026-05-06' }
    expect(await route.describe('maker/rich')).toEqual({
      ...models[0],
      contextWindow: 400_000,
      maxOutput: 4,
      inputs: ['text', 'image'],
      price: { in: 1.25, cacheRead: 0.125, cacheWrite: 0, out: 10 },
      figures,
      edited: ['maxOutput'],
      listed: true,
    })
    expect(await route.describe('auto')).toEqual({
      id: 'auto',
      name: 'auto',
      inputs: ['text'],
      reasoning: false,
      efforts: [],
      price: { in: 1, out: 2 },
      from: 'endpoint',
      figures,
      edited: ['price'],
      listed: false,
    })
    expect((await route.prepare({ provider: 'p', model: 'maker/rich' })).facts.price?.in).toBe(1.25)
    expect(asked).toHaveLength(1)
  })

  test('a window from the endpoint does not vouch for the price of the catalog', async () => {
    const card = catalogCards('deepseek')[0]!
    const { url } = await endpoint({ data: [{ id: card.id, context_length: 77, name: 'Other name' }] })
    const route = providerRoute(configOf(url, { id: 'deepseek' }), depsWith('the-key'))
    expect((await route.models())[0]).toEqual({ ...card, contextWindow: 77 })
  })

  test('a list that fails leaves the cards and the last answer, and the reason until it comes again', async () => {
    let down = false
    const { url } = await endpoint((response: ServerResponse) =>
      down ? response.writeHead(503).end() : response.end('{"data":[{"id":"seen"}]}'),
    )
    const route = providerRoute(configOf(url, { id: 'openai' }), depsWith('the-key'))
    const shipped = catalogCards('openai').length
    expect(await route.models()).toHaveLength(shipped + 1)
    expect(route.problem?.()).toBeUndefined()
    down = true
    expect(await route.models()).toHaveLength(shipped + 1)
    expect(route.problem?.()).toMatchObject({ code: 'SERVER', status: 503 })
    down = false
    await route.models()
    expect(route.problem?.()).toBeUndefined()
  })

  test('a route that is not to ask does not', async () => {
    const { asked, url } = await endpoint({ data: [{ id: 'x' }] })
    const route = providerRoute(configOf(url, { discover: false }), depsWith('the-key'))
    expect(await route.models()).toEqual([])
    expect(route.problem?.()).toBeUndefined()
    expect(asked).toEqual([])
  })
})
