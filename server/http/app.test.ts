import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { CoreError } from '../wire/errors.ts'
import type { GlobalState } from '../wire/views.ts'
import type { Sessions } from '../session/sessions.ts'
import type { Providers } from '../settings/providers.ts'
import type { SessionSettings } from '../settings/session-settings.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import { createApp, type App, type AppOptions } from './app.ts'
import { LoginCodes, cookieValue } from './access.ts'

const TOKEN = 'b'.repeat(64)
const SECRET = 'only for those who logged in'
const open: App[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.server.close()))
})

interface Answer {
  status: number
  body: string
  headers: { [name: string]: string | string[] | undefined }
}
interface Ask {
  method?: string
  headers?: { [name: string]: string }
  body?: string
}

const LIBRARY = {
  source: async (preset: string) => ({ preset, own: true, file: '/x.yml', text: SECRET, digest: 'd', versions: [] }),
  version: async () => SECRET,
  vocabulary: async () => ({ rows: [{ name: SECRET }] }),
}

async function serve(options: Partial<AppOptions> = {}) {
  const webRoot = realpathSync(mkdtempSync(join(tmpdir(), 'web-')))
  mkdirSync(join(webRoot, '.vite'))
  writeFileSync(join(webRoot, '.vite/manifest.json'), '{"dot":"file"}')
  writeFileSync(join(webRoot, 'index.html'), '<html><title>page</title></html>')
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'outside-')))
  writeFileSync(join(outside, 'secret.txt'), SECRET)
  symlinkSync(outside, join(webRoot, 'link'))
  const sessions = {
    feeds: { add: () => () => {} },
    list: async () => ({ rows: [], note: SECRET }),
    search: async () => {
      throw new Error('the index has ended')
    },
    presetUsage: async (preset: string) => ({ preset, generations: [] }),
    page: async (id: string) => {
      throw new CoreError(id === 'torn' ? 'session/corrupt' : 'session/not-found', `no ${id}`)
    },
  }
  const reported: unknown[] = []
  const app = await createApp({
    sessions: sessions as unknown as Sessions,
    workspaces: {} as Workspaces,
    providers: {} as Providers,
    sessionSettings: {} as SessionSettings,
    policies: {} as AppOptions['policies'],
    asks: {} as AppOptions['asks'],
    shells: {} as AppOptions['shells'],
    global: () => ({ host: SECRET }) as unknown as GlobalState,
    presetDocument: async () => ({ agentPreset: 'x', content: SECRET }),
    presetContents: async (id) => ({
      sections: [],
      contexts: [],
      tools: [],
      services: [id],
      tokens: { prompt: 1, tools: 2 },
    }),
    library: LIBRARY as unknown as AppOptions['library'],
    presets: { saveDefault: async () => {}, defaultId: () => 'x' },
    secrets: () => [],
    token: TOKEN,
    codes: new LoginCodes(),
    links: () => ['http://127.0.0.1/#code=x'],
    place: () => '1',
    allowHosts: [],
    trustProxy: false,
    cookieName: () => 'core-web-1',
    basePath: '/',
    webRoot,
    version: '0',
    report: (error) => reported.push(error),
    ...options,
  })
  open.push(app)
  await app.server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.server.address() as AddressInfo
  /** The path goes out as it stands: no client tidies it up. */
  const ask = (path: string, { method = 'GET', headers = {}, body }: Ask = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
        let text = ''
        response.on('data', (data: Buffer) => (text += data.toString()))
        response.on('end', () => resolve({ status: response.statusCode!, body: text, headers: response.headers }))
      })
      request.on('error', reject)
      request.end(body)
    })
  return { app, ask, reported }
}

const below = (base: string, path: string) =>
  path.startsWith('http') ? path.replace('localhost/', `localhost${base}`) : base.slice(0, -1) + path

const bearer = { authorization: `Bearer ${TOKEN}` }

describe('without the token', () => {
  const spellings = [
    '/api/state',
    '/api/state/',
    '/%61pi/state',
    '/%61%70%69/sessions',
    '/a%70i/presets/x/document',
    '/ap%69/openapi.json',
    '//api/state',
    '/api//state',
    '/./api/state',
    '/x/../api/state',
    '/x/..%2fapi/state',
    '/%2e%2e/api/state',
    '/%2Fapi/state',
    '/api%2fstate',
    '/api/state?x=1',
    '/api/state#x',
    '/api/state;x',
    '/%61pi/state%3f',
    '/API/state',
    'http://localhost/api/state',
  ]
  for (const basePath of ['/', '/agents/'])
    test.each(spellings)(`no spelling of a path reads a document below ${basePath}: %s`, async (path) => {
      const { ask } = await serve({ basePath })
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        const answer = await ask(below(basePath, path), { method })
        expect(answer.body).not.toContain(SECRET)
        expect(answer.body).not.toContain('"openapi"')
        if (answer.status === 200) expect(answer.headers['content-type']).toContain('text/html')
      }
    })

  test('the documents of presets need the token too', async () => {
    const { ask } = await serve()
    for (const path of ['x/source', 'x/source/v', 'x/export', 'x/usage', 'vocabulary']) {
      const { status, body } = await ask(`/api/presets/${path}`)
      expect([status, body.includes(SECRET)], path).toEqual([401, false])
    }
  })

  test('what is not there below /api needs the token too', async () => {
    const { ask } = await serve()
    for (const path of ['/api', '/api/nothing', '/api/sessions/x/nothing'])
      expect((await ask(path)).status, path).toBe(401)
    expect((await ask('/api/nothing', { headers: bearer })).status).toBe(404)
  })

  test('an upgrade gets no further than a request, however it is spelled', async () => {
    const { ask } = await serve()
    const upgrade = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'sec-websocket-version': '13',
    }
    for (const path of ['/api/socket', '/%61pi/socket', '/', '/assets/x', '/healthz'])
      expect((await ask(path, { headers: upgrade })).status, path).toBeGreaterThanOrEqual(401)
  })

  test('a path outside the base is nobody’s, also one that begins like it', async () => {
    const { ask } = await serve({ basePath: '/agents/' })
    for (const path of ['/', '/agentsX', '/agentsX/api/state', '/api/state', '/agent']) {
      const answer = await ask(path, { headers: bearer })
      expect([answer.status, JSON.parse(answer.body)], path).toMatchObject([
        404,
        { error: { code: 'gateway/not-found' } },
      ])
    }
    expect((await ask('/agents')).body).toContain('<title>page')
    expect((await ask('/agents/s/abc')).body).toContain('<title>page')
  })
})

describe('files', () => {
  test.each([
    '/../package.json',
    '/%2e%2e/package.json',
    '/..%2f..%2fetc/passwd',
    '/assets/..%2f..%2findex.ts',
    '/%00',
    '/%zz',
  ])('nothing beside the built page is served: %s', async (path) => {
    const { ask } = await serve()
    const { status, body } = await ask(path)
    expect(status === 200 ? body : '').not.toMatch(/"dependencies"|root:/)
    if (status >= 400) expect(JSON.parse(body)).toMatchObject({ error: { code: expect.stringMatching(/^gateway\//) } })
  })

  test('dot files and links that lead out of the folder are not served', async () => {
    const { ask } = await serve()
    expect((await ask('/.vite/manifest.json')).body).not.toContain('dot')
    expect((await ask('/link/secret.txt')).body).not.toContain(SECRET)
  })
})

describe('errors', () => {
  test('B02 the code of a refusal reaches the client, and an unexpected one is told to the operator', async () => {
    const { ask, reported } = await serve()
    const errorOf = async (path: string) => {
      const { status, body } = await ask(path, { headers: bearer })
      return [status, (JSON.parse(body) as { error: { code: string } }).error.code]
    }
    expect(await errorOf('/api/sessions/gone/events')).toEqual([404, 'session/not-found'])
    expect(await errorOf('/api/sessions/torn/events')).toEqual([409, 'session/corrupt'])
    expect(await errorOf('/api/sessions/a%2fb/events')).toEqual([400, 'gateway/bad-request'])
    expect(await errorOf('/api/nothing')).toEqual([404, 'gateway/not-found'])
    expect(reported).toEqual([])
    expect(await errorOf('/api/search?q=x')).toEqual([500, 'gateway/internal'])
    expect(reported).toMatchObject([{ message: 'the index has ended' }])
  })
})

describe('login', () => {
  const login = (token: string, headers: { [name: string]: string } = {}) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ token }),
  })

  test('the cookie is closed to scripts and other sites, and to plain HTTP when the proxy speaks TLS', async () => {
    const direct = await serve({ basePath: '/agents/' })
    const plain = String((await direct.ask('/agents/api/login', login(TOKEN))).headers['set-cookie'])
    for (const flag of ['HttpOnly', 'SameSite=Strict', 'Path=/agents']) expect(plain).toContain(flag)
    expect(plain).not.toContain('Secure')
    expect(plain).toContain(cookieValue(TOKEN))
    const proxied = await serve({ trustProxy: true })
    const tls = login(TOKEN, { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.1' })
    expect(String((await proxied.ask('/api/login', tls)).headers['set-cookie'])).toContain('Secure')
  })

  test('behind a proxy tries are counted by the address that the proxy saw, not by one the client made up', async () => {
    const { ask } = await serve({ trustProxy: true })
    const tries: number[] = []
    for (let index = 0; index < 11; index++)
      tries.push((await ask('/api/login', login('no', { 'x-forwarded-for': `10.0.0.${index}, 203.0.113.9` }))).status)
    expect(tries).toEqual([...Array.from({ length: 10 }, () => 401), 429])
    const other = await ask('/api/login', login('no', { 'x-forwarded-for': '203.0.113.10' }))
    expect(other.status).toBe(401)
  })

  test('without a proxy the header counts for nothing', async () => {
    const { ask } = await serve()
    const tries: number[] = []
    for (let index = 0; index < 11; index++)
      tries.push((await ask('/api/login', login('no', { 'x-forwarded-for': `10.0.0.${index}` }))).status)
    expect(tries.at(-1)).toBe(429)
  })
})

describe('presets', () => {
  test('a document is downloaded whole, under a file name that no id can break', async () => {
    const { ask } = await serve()
    const { body, headers } = await ask('/api/presets/a%22%0d%0a%2Fb%20%E4%BD%A0/export', { headers: bearer })
    expect(body).toBe(SECRET)
    expect(headers['content-type']).toBe('application/yaml; charset=utf-8')
    expect(headers['content-disposition']).toBe(
      `attachment; filename="a____b__.yml"; filename*=UTF-8''a%22%0D%0A%2Fb%20%E4%BD%A0.yml`,
    )
  })

  test('source, an earlier text, who uses it, and the vocabulary are answered', async () => {
    const { ask } = await serve()
    const read = async (path: string): Promise<unknown> =>
      JSON.parse((await ask(`/api/presets/${path}`, { headers: bearer })).body)
    expect(await read('x/source')).toMatchObject({ preset: 'x', text: SECRET, versions: [] })
    expect(await read('x/source/1-a')).toEqual({ text: SECRET })
    expect(await read('x/usage')).toEqual({ preset: 'x', generations: [] })
    expect(await read('x/contents')).toMatchObject({ services: ['x'], tokens: { prompt: 1, tools: 2 } })
    expect(await read('vocabulary')).toEqual({ rows: [{ name: SECRET }] })
  })
})
