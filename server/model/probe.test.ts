import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reply } from '../../e2e/mock-llm/reply.ts'
import { startMock, type Mock } from '../../e2e/mock-llm/server.ts'
import { WIRES } from '../../e2e/mock-llm/rig.ts'
import type { WireFamily } from '../wire/messages.ts'
import type { Probe } from '../wire/models.ts'
import type { ProviderConfig, ProviderDeps } from './adapters/config.ts'
import type { FailureCode } from './port.ts'
import { probeRoute, type ProbeOptions } from './probe.ts'
import { verdictOf } from './probe-words.ts'
import { closeServers, connectProxy, deadAddress, httpServer, selfSigned, tcpServer } from './servers.fixture.ts'

/** With a sign that an address spells another way. */
const SECRET = 'sk-my/very-secret-key'
let mock: Mock
beforeAll(async () => {
  mock = await startMock()
})
afterAll(async () => {
  await mock.close()
  await closeServers()
})

const deps = (key: string | undefined = SECRET): ProviderDeps => ({
  credentials: { get: async () => key, secrets: () => (key ? [key] : []) },
  loadBlob: async () => undefined,
})
const configOf = (url: string, patch: Partial<ProviderConfig> = {}): ProviderConfig => ({
  id: 'p',
  label: 'Provider P',
  wire: 'chat',
  baseURL: `${url}/v1`,
  apiKeyRef: 'p',
  ...patch,
})

interface Setup extends ProbeOptions {
  config?: Partial<ProviderConfig>
  key?: string
}

/** Every probe of these tests is looked through for the key, whatever else it says. */
async function probe(url: string, { config, key, ...options }: Setup = {}): Promise<Probe> {
  const result = await probeRoute(configOf(url, config), deps(key), { limitMs: 5000, ...options })
  for (const spelling of [SECRET, encodeURIComponent(SECRET)]) expect(JSON.stringify(result)).not.toContain(spelling)
  return result
}

let lanes = 0
/** The mock's answer to the one call, and a model list before it. */
async function probeMock(reply: Reply, setup: Setup = {}): Promise<Probe> {
  const lane = `probe-${lanes++}`
  mock.script(lane, [reply])
  return probe(mock.url, { ...setup, config: { headers: { 'x-lane': lane }, ...setup.config } })
}

/** A model list, and whatever the second request is answered with. */
const provider = (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
  httpServer((request, response) => {
    request.resume()
    if (request.method === 'GET') return void response.end('{"data":[{"id":"m"}]}')
    answer(request, response)
  })

describe('a provider that works', () => {
  test.each(WIRES)('%s: the list, then one word, and both can be looked at', async (wire: WireFamily) => {
    const keyHeader = {
      chat: 'authorization',
      responses: 'authorization',
      messages: 'x-api-key',
      gemini: 'x-goog-api-key',
    }[wire]
    const scheme = keyHeader === 'authorization' ? 'Bearer ' : ''
    const list = await httpServer((request, response) => {
      if (request.method === 'GET')
        return void response.end('{"data":[{"id":"a"},{"id":"b"}],"models":[{"name":"models/a"},{"name":"models/b"}]}')
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        void fetch(`${mock.url}${request.url}`, {
          method: 'POST',
          headers: { 'x-lane': `works-${wire}`, 'content-type': 'application/json' },
          body: Buffer.concat(chunks),
        }).then(async (answer) => {
          response.writeHead(answer.status, { 'content-type': 'text/event-stream' }).end(await answer.text())
        })
      })
    })
    mock.script(`works-${wire}`, [{ text: 'OK', usage: { input: 20, cacheRead: 5, output: 2 } }])
    let clock = 1000
    const result = await probe(list.url, { config: { wire }, now: () => (clock += 7) })
    const masked = `${scheme}[key, ${SECRET.length} characters]`
    expect(result).toMatchObject({ verdict: 'works', message: 'Provider P answered with a.', model: 'a', at: 1007 })
    expect(result).not.toHaveProperty('code')
    expect(result.exchanges).toHaveLength(2)
    expect(result.exchanges[0]).toMatchObject({
      method: 'GET',
      url: expect.stringMatching(/^http.*\/v1\/models/),
      headers: { [keyHeader]: masked },
      status: 200,
      ms: 7,
      got: '2 models',
    })
    expect(result.exchanges[0]).not.toHaveProperty('body')
    expect(result.exchanges[1]).toMatchObject({
      method: 'POST',
      headers: { [keyHeader]: masked, 'content-type': 'application/json' },
      body: expect.stringContaining('Reply with the word OK.'),
      status: 200,
      ms: 7,
      got: 'OK · 25 tokens in · 2 tokens out',
    })
    for (const { headers } of result.exchanges)
      for (const name of Object.keys(headers)) expect(name).toBe(name.toLowerCase())
  })

  test('the model that is asked for is the one that is called', async () => {
    const result = await probeMock({ text: 'OK' }, { model: 'mine' })
    expect(result).toMatchObject({ verdict: 'works', model: 'mine' })
    expect(JSON.parse(result.exchanges[1]!.body!)).toMatchObject({ model: 'mine', stream: true })
  })

  test('a model of the route that the endpoint offers goes before one that it does not', async () => {
    const card = (id: string) => ({ id, name: id, inputs: ['text' as const], reasoning: false, efforts: [] })
    const models = [card('not-offered'), card('mock-model')]
    expect(await probeMock({ text: 'OK' }, { config: { models, headers: { 'x-lane': '*' } } })).toMatchObject({
      model: 'mock-model',
    })
    expect(await probeMock({ text: 'OK' }, { config: { models: [card('not-offered')] } })).toMatchObject({
      verdict: 'works',
      model: 'not-offered',
    })
  })

  test('an endpoint without a list of models is asked all the same', async () => {
    const lane = `probe-${lanes++}`
    mock.script(lane, [{ text: 'OK' }])
    const noList = await httpServer((request, response) => {
      if (request.method === 'GET') return void response.writeHead(404).end('no')
      response.writeHead(307, { location: `${mock.url}${request.url}` }).end()
    })
    const result = await probe(noList.url, { model: 'mock-model', config: { headers: { 'x-lane': lane } } })
    expect(result).toMatchObject({ verdict: 'works', exchanges: [{ status: 404 }, { status: 200 }] })
  })

  test('a keyless server needs none', async () => {
    const lane = `probe-${lanes++}`
    mock.script(lane, [{ text: 'OK' }])
    const config: ProviderConfig = configOf(mock.url, { headers: { 'x-lane': lane } })
    delete config.apiKeyRef
    const result = await probeRoute(config, deps(undefined), {})
    expect(result.verdict).toBe('works')
    for (const { headers } of result.exchanges) expect(headers).not.toHaveProperty('authorization')
  })

  test('a refused or cut answer is an answer; one that never ends is stopped', async () => {
    expect(await probeMock({ behavior: 'content_filter' })).toMatchObject({ verdict: 'works' })
    expect(await probeMock({ behavior: 'max_tokens' })).toMatchObject({ verdict: 'works' })
    const chatty = await probeMock({ text: 'x'.repeat(200_000), chunk: 50, delayMs: 1 })
    expect(chatty).toMatchObject({ verdict: 'works' })
    expect(chatty.exchanges[1]!.got.length).toBeLessThan(300)
  })
})

describe('a verdict for each failure, from real connections', () => {
  test('no-key and bad-key, without a request', async () => {
    expect(await probe(mock.url, { key: '' })).toMatchObject({
      verdict: 'no-key',
      code: 'MISSING_CREDENTIAL',
      message: expect.stringMatching(/^Provider P has no API key\./),
      exchanges: [],
    })
    const bad = await probe(mock.url, { key: 'line\nend' })
    expect(bad).toMatchObject({ verdict: 'bad-key', code: 'INVALID_CREDENTIAL', exchanges: [] })
    expect(bad.message).toMatch(/^The API key of Provider P /)
    expect(JSON.stringify(bad)).not.toContain('line\\nend')
  })

  test('dns, refused and tls, after one look', async () => {
    const dns = await probe('http://nothing.invalid')
    expect(dns).toMatchObject({ verdict: 'dns', code: 'TRANSPORT', exchanges: [{ method: 'GET' }] })
    expect(dns.message).toBe('Provider P: nothing.invalid cannot be found (DNS). Check the address or the network.')
    expect(dns.exchanges[0]).not.toHaveProperty('status')
    const dead = await deadAddress()
    const refused = await probe(dead.url)
    expect(refused).toMatchObject({
      verdict: 'refused',
      exchanges: [{ got: expect.stringContaining('Nothing listens') }],
    })
    expect(refused.message).toContain(`127.0.0.1:${dead.port}`)
    const tls = await probe((await selfSigned((_request, response) => void response.end('{}'))).url)
    expect(tls).toMatchObject({ verdict: 'tls', message: expect.stringContaining('its certificate is self-signed') })
    const plain = await probe(mock.url.replace('http:', 'https:'))
    expect(plain).toMatchObject({ verdict: 'tls', message: expect.stringContaining('should begin with http://') })
  })

  test('unreachable: a proxy that lets nobody through, named without its password', async () => {
    const proxy = await connectProxy({ status: 403 })
    const result = await probe('https://api.example.com', {
      model: 'm',
      config: { proxy: `http://me:proxy-password@127.0.0.1:${proxy.port}` },
    })
    expect(result).toMatchObject({
      verdict: 'unreachable',
      message: expect.stringContaining(`The proxy 127.0.0.1:${proxy.port} did not connect to api.example.com`),
    })
    expect(JSON.stringify(result)).not.toContain('proxy-password')
  })

  test('timeout: a server that takes the connection and says nothing, at once and after its list', async () => {
    const silent = await tcpServer(() => undefined)
    const late = {
      verdict: 'timeout',
      code: 'TIMEOUT',
      message: expect.stringContaining('did not answer within 0.4 s'),
    }
    expect(await probe(silent.url, { limitMs: 400 })).toMatchObject(late)
    const halfway = await probe((await provider(() => undefined)).url, { limitMs: 400 })
    expect(halfway).toMatchObject({ ...late, model: 'm', exchanges: [{ got: '1 model' }, { method: 'POST' }] })
  })

  test.each<[Reply, Partial<Probe>, RegExp]>([
    [
      { behavior: 'auth_error' },
      { verdict: 'auth', code: 'AUTH' },
      /^Provider P refused the key: .*Enter the key again/,
    ],
    [{ behavior: 'quota_exceeded' }, { verdict: 'quota', code: 'QUOTA' }, /^Provider P .*credit or quota: .*balance/],
    [{ behavior: 'rate_limit' }, { verdict: 'rate-limit', code: 'RATE_LIMIT' }, /^Provider P .*Wait a little/],
    [
      { behavior: 'unknown_model' },
      { verdict: 'model', code: 'UNKNOWN_MODEL' },
      /^Provider P does not know the model mock-model: /,
    ],
    [
      { behavior: 'html_200' },
      { verdict: 'not-an-api', code: 'MALFORMED_RESPONSE' },
      /^Provider P answers at http.*version part/,
    ],
    [
      { behavior: 'invalid_request' },
      { verdict: 'request', code: 'INVALID_REQUEST' },
      /^Provider P did not take the request: /,
    ],
    [
      { behavior: 'server_error' },
      { verdict: 'server', code: 'SERVER' },
      /^Provider P failed on its side: .*Try again later/,
    ],
    [{ behavior: 'empty' }, { verdict: 'server', code: 'EMPTY_RESPONSE' }, /^Provider P failed on its side/],
    [{ behavior: 'stream_eof' }, { verdict: 'server', code: 'STREAM_CLOSED' }, /^Provider P failed on its side/],
    [
      { behavior: 'connection_reset' },
      { verdict: 'server', code: 'TRANSPORT' },
      /closed the connection before it answered/,
    ],
  ])('%j', async (reply, expected, message) => {
    const result = await probeMock(reply, { model: 'mock-model' })
    expect(result).toMatchObject({ ...expected, model: 'mock-model' })
    expect(result.message).toMatch(message)
    expect(result.exchanges.at(-1)!.got).not.toBe('')
  })

  test('model: a server without one says what to do', async () => {
    const empty = await httpServer((_request, response) => void response.end('{"data":[]}'))
    expect(await probe(empty.url)).toMatchObject({
      verdict: 'model',
      message: 'Provider P lists no model. Load one there, or enter the id of a model to test with.',
      exchanges: [{ got: '0 models' }],
    })
  })

  test('not-an-api: a wrong path, where everything is a page or a plain 404', async () => {
    for (const [status, body] of [
      [404, '404 page not found'],
      [404, '<!doctype html><html><title>Not found</title></html>'],
      [405, 'no'],
    ] as const) {
      const site = await httpServer((_request, response) => void response.writeHead(status).end(body))
      expect(await probe(site.url, { model: 'm' })).toMatchObject({ verdict: 'not-an-api' })
    }
    const noList = await httpServer((_request, response) => void response.writeHead(200).end('<html>Hello</html>'))
    expect(await probe(noList.url)).toMatchObject({ verdict: 'not-an-api', exchanges: [{ status: 200 }] })
  })

  test('request: a header that wants a key of a route that has none', async () => {
    const config: ProviderConfig = configOf(mock.url, { headers: { 'api-key': '{{key}}' } })
    delete config.apiKeyRef
    expect(await probeRoute(config, deps())).toMatchObject({ verdict: 'request', exchanges: [] })
  })

  test('unknown: whatever breaks on our side is still an answer', async () => {
    const broken: ProviderDeps = {
      ...deps(),
      credentials: {
        get: async () => {
          throw new Error(`the file of keys is damaged near ${SECRET}`)
        },
        secrets: () => [SECRET],
      },
    }
    const result = await probeRoute(configOf(mock.url), broken)
    expect(result).toMatchObject({ verdict: 'unknown', code: 'UNKNOWN', exchanges: [] })
    expect(result.message).toMatch(/^The test of Provider P failed: the file of keys is damaged/)
    expect(result.message).not.toContain(SECRET)
  })
})

describe('no secret is in what is shown', () => {
  test('in the address, in headers of any name, in bodies both ways', async () => {
    const echo = await provider((request, response) =>
      response.writeHead(400, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          error: { message: `no ${SECRET} at ${request.url} with ${request.headers.authorization}` },
        }),
      ),
    )
    const result = await probe(echo.url, {
      config: {
        baseURL: `${echo.url}/v1/${encodeURIComponent(SECRET)}`,
        headers: { 'X-Own-Key': 'token={{key}}', 'x-copy': SECRET, cookie: 'session=abcdef' },
        extraBody: { credential: SECRET },
      },
    })
    const masked = `[key, ${SECRET.length} characters]`
    expect(result.exchanges.map(({ url }) => decodeURIComponent(url).includes('[key, '))).toEqual([true, true])
    expect(result.exchanges[1]!.headers).toMatchObject({
      'x-own-key': `token=${masked}`,
      'x-copy': masked,
      cookie: '[key, 14 characters]',
    })
    expect(result.exchanges[1]!.body).toContain(`"credential":"${masked}"`)
    expect(result).toMatchObject({ verdict: 'request' })
  })

  test('a long body is cut, after the key is out of it', async () => {
    const pad = 'x'.repeat(1800)
    const result = await probeMock({ text: 'OK' }, { config: { extraBody: { a: pad, b: SECRET.repeat(20), c: pad } } })
    expect(result.exchanges[1]!.body).toHaveLength(2000)
    expect(result.exchanges[1]!.body).not.toContain('sk-my')
  })

  test('a key that is only a few signs long is still none of a header’s business', async () => {
    const config = configOf(mock.url, { headers: { 'x-lane': '*', 'x-own': '{{key}}' } })
    mock.script('*', [{ text: 'OK' }])
    const result = await probeRoute(config, deps('abc'))
    expect(result.exchanges[1]!.headers['x-own']).toBe('[key, 3 characters]')
    mock.script('*', [{ text: 'OK' }])
    const plain = await probeRoute(configOf(mock.url), deps('abc'))
    expect(plain.exchanges[1]!.headers['authorization']).toBe('Bearer [key, 3 characters]')
  })
})

test('every code of the port has a verdict', () => {
  const verdicts: [FailureCode, string][] = [
    ['ABORTED', 'timeout'],
    ['CONTEXT_WINDOW_EXCEEDED', 'request'],
    ['UNSUPPORTED_CONTENT', 'request'],
    ['UNSUPPORTED_REASONING_EFFORT', 'request'],
    ['HTTP_418', 'request'],
    ['HTTP_402', 'quota'],
    ['HTTP_405', 'not-an-api'],
    ['NO_ADAPTER', 'unknown'],
    ['UNKNOWN', 'unknown'],
  ]
  for (const [code, verdict] of verdicts) expect(verdictOf({ code, message: 'x' })).toBe(verdict)
  expect(verdictOf({ code: 'TIMEOUT', message: 'x', transport: 'connect-timeout' })).toBe('timeout')
  expect(verdictOf({ code: 'TRANSPORT', message: 'x', transport: 'unreachable' })).toBe('unreachable')
})
