import { cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, codeOf, post, upgrade } from './ask.ts'
import { Client } from './client.ts'
import { ROOT, startHost, type TestHost } from './host.ts'
import { runServer, startServer } from './process.ts'
import { startProxy } from './proxy.ts'

const INDEX = '<!doctype html><html lang="en"><head><script src="./assets/app-abc.js"></script></head></html>\n'
const SCRIPT = `console.log(${JSON.stringify('x'.repeat(2000))})\n`

/** Row files and presets of the product, with a page of our own: its bytes are known. */
function rootWithPage(folder: string): string {
  const root = join(folder, 'root')
  const web = join(root, 'dist/web')
  mkdirSync(join(web, 'assets'), { recursive: true })
  for (const name of ['core-web.cordis.yml', 'presets']) cpSync(join(ROOT, name), join(root, name), { recursive: true })
  writeFileSync(join(web, 'index.html'), INDEX)
  writeFileSync(join(web, 'assets/app-abc.js'), SCRIPT)
  writeFileSync(join(web, 'assets/app-abc.js.br'), brotliCompressSync(SCRIPT))
  writeFileSync(join(web, 'assets/app-abc.js.gz'), gzipSync(SCRIPT))
  writeFileSync(join(web, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(root, 'secret.txt'), 'SECRET')
  return root
}

let folder: string
let host: TestHost
let origin: string
let socketUrl: string
let cookie: string
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-http-')))
  host = await startHost({ rootDir: rootWithPage(folder) })
  origin = new URL(host.base).origin
  socketUrl = `${host.base.replace('http', 'ws')}api/socket`
  const login = await post(host.base, '/api/login', { token: host.token })
  cookie = login.headers['set-cookie']![0]!.split(';')[0]!
})
afterAll(async () => {
  await host.remove()
  await rm(folder, { recursive: true, force: true })
})

describe('the fence on the live server', () => {
  const bearer = () => ({ authorization: `Bearer ${host.token}` })
  const port = () => new URL(host.base).port

  test.each([
    ['its own', (p: string) => `127.0.0.1:${p}`, 200],
    ['localhost', (p: string) => `localhost:${p}`, 200],
    ['the IPv6 loopback', (p: string) => `[::1]:${p}`, 200],
    ['another port of loopback', () => '127.0.0.1:1', 200],
    ['a rebinding name', (p: string) => `evil.example:${p}`, 421],
    ['a name that begins like loopback', (p: string) => `127.0.0.1.evil.example:${p}`, 421],
    ['a name that ends like loopback', (p: string) => `xlocalhost:${p}`, 421],
    ['another loopback address', (p: string) => `127.0.0.2:${p}`, 421],
    ['any address', (p: string) => `0.0.0.0:${p}`, 421],
    ['a user before the name', (p: string) => `a@127.0.0.1:${p}`, 421],
    ['none', () => '', 421],
    ['two', (p: string) => `127.0.0.1:${p}, evil.example`, 421],
  ])('HS-02 B75 Host: %s', async (_name, value, status) => {
    const answer = await ask(host.base, '/api/state', { headers: { ...bearer(), host: value(port()) } })
    expect(answer.status).toBe(status)
  })

  test.each([
    ['its own', () => origin, 200, 101],
    ['none', () => undefined, 200, 403],
    ['null', () => 'null', 403, 403],
    ['another port', () => 'http://127.0.0.1:1', 403, 403],
    ['another scheme', () => origin.replace('http:', 'https:'), 403, 403],
    ['another name of loopback', () => `http://localhost:${port()}`, 403, 403],
    ['another site', () => 'https://evil.example', 403, 403],
    ['its own with a path', () => `${origin}/x`, 403, 403],
  ])('HS-03 HS-06 Origin by cookie: %s', async (_name, value, status, upgraded) => {
    const given = value()
    const headers = { cookie, ...(given !== undefined && { origin: given }) }
    expect((await ask(host.base, '/api/state', { headers })).status).toBe(status)
    expect(await upgrade(socketUrl, headers)).toBe(upgraded)
  })

  test('HS-04 without a token there is the shell, the login and a sign of life, and nothing else', async () => {
    const open = ['/', '/session/some-id', '/assets/app-abc.js', '/healthz']
    for (const path of open) expect([path, (await ask(host.base, path)).status]).toEqual([path, 200])
    for (const path of [
      '/api/state',
      '/api/sessions',
      '/api/search?q=x',
      '/api/openapi.json',
      '/api/nothing',
      '/api',
    ]) {
      const answer = await ask(host.base, path)
      expect([path, answer.status, codeOf(answer)]).toEqual([path, 401, 'gateway/unauthorized'])
    }
    expect(await upgrade(socketUrl, { origin })).toBe(401)
    expect(await upgrade(socketUrl, { origin }, ['core-web', 'bearer.wrong'])).toBe(401)
    expect(await upgrade(socketUrl, {}, ['core-web', `bearer.${host.token}`])).toBe(101)
  })

  test('HS-06 a refused upgrade leaves no connection behind, even of a client that does not hang up', async () => {
    const { server } = host.host.service('web')!.app.server
    const count = () => promisify(server.getConnections.bind(server))()
    const before = await count()
    const { hostname, host: authority } = new URL(host.base)
    const raw = connect(Number(port()), hostname)
    const gone = once(raw, 'close')
    raw.write(`GET /api/socket HTTP/1.1\r\nHost: ${authority}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`)
    raw.write('Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n')
    let text = ''
    raw.on('data', (data: Buffer) => (text += data.toString()))
    await gone
    expect(text).toMatch(/^HTTP\/1\.1 403 /)
    await expect.poll(count).toBeLessThanOrEqual(before)
  })

  test('HS-04 a token in the query opens nothing: it would stand in logs', async () => {
    expect((await ask(host.base, `/api/state?token=${host.token}`)).status).toBe(401)
    expect(await upgrade(`${socketUrl}?token=${host.token}`, { origin })).toBe(401)
  })

  test('HS-03 requests from another site are refused even with the cookie; a link from there may open the page', async () => {
    const from = (site: string, more = {}) => ({ headers: { cookie, 'sec-fetch-site': site, ...more } })
    expect((await ask(host.base, '/api/state', from('cross-site'))).status).toBe(403)
    expect((await ask(host.base, '/api/state', from('same-site'))).status).toBe(403)
    expect((await ask(host.base, '/api/state', from('same-origin'))).status).toBe(200)
    const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect((await ask(host.base, '/', from('cross-site', navigation))).status).toBe(200)
    expect((await ask(host.base, '/api/state', from('cross-site', navigation))).status).toBe(403)
  })

  test('HS-07 CSRF: a POST that is no JSON is refused before anything is read, and no answer carries CORS headers', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '']) {
      const headers = { cookie, origin, ...(type && { 'content-type': type }) }
      const body = JSON.stringify({ token: host.token })
      const answer = await ask(host.base, '/api/login', { method: 'POST', headers, body })
      expect([type, answer.status]).toEqual([type, 415])
      expect(answer.headers['set-cookie']).toBeUndefined()
    }
    const preflight = await ask(host.base, '/api/login', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(403)
    const answers = [preflight, await ask(host.base, '/', { headers: { origin } })]
    for (const { headers } of answers)
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('HS-04 the cookie is HttpOnly, Strict, of this path and this port, and is not the token', async () => {
    const { headers } = await post(host.base, '/api/login', { token: host.token })
    const text = headers['set-cookie']![0]!
    expect(text).toMatch(new RegExp(`^core-web-${port()}=[0-9a-f]{64}; `))
    for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/']) expect(text).toContain(part)
    expect(text).not.toContain('Secure')
    expect(text).not.toContain(host.token)
    const [, value] = cookie.split('=')
    expect((await ask(host.base, '/api/state', { headers: { cookie: `core-web-1=${value}` } })).status).toBe(401)
    expect((await ask(host.base, '/api/state', { headers: { authorization: `Bearer ${value}` } })).status).toBe(401)
  })

  test('HS-08 every answer carries the policy, and nothing may frame or sniff it', async () => {
    const answers = [await ask(host.base, '/'), await ask(host.base, '/api/state'), await ask(host.base, '/nothing.js')]
    for (const { headers } of answers) {
      expect(headers['content-security-policy']).toBe(
        "default-src 'none';script-src 'self';style-src 'self' 'unsafe-inline';img-src 'self' data: blob:;font-src 'self';" +
          "connect-src 'self';worker-src 'self';manifest-src 'self';base-uri 'none';form-action 'self';frame-ancestors 'none'",
      )
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['referrer-policy']).toBe('no-referrer')
      expect(headers['cross-origin-opener-policy']).toBe('same-origin')
      expect(headers['cross-origin-resource-policy']).toBe('same-origin')
    }
  })
})

test('HS-11 guessing at the login is slowed down with a sentence, and only the login', async () => {
  const own = await startHost()
  const tries = []
  for (let round = 0; round < 12; round++) tries.push(await post(own.base, '/api/login', { token: 'guess' }))
  expect(tries.slice(0, 10).map(({ status }) => status)).toEqual(Array<number>(10).fill(401))
  expect(tries.slice(10).map(codeOf)).toEqual(['gateway/too-many-requests', 'gateway/too-many-requests'])
  expect((await own.get('api/state')).status).toBe(200)
  await own.remove()
})

describe('the page', () => {
  const asset = (encoding: string) => ask(host.base, '/assets/app-abc.js', { headers: { 'accept-encoding': encoding } })

  test('hashed assets come compressed as the browser can read them, for ever', async () => {
    const br = await asset('gzip, deflate, br')
    expect(br.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(br.body).toString()).toBe(SCRIPT)
    const gz = await asset('gzip')
    expect(gz.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(gz.body).toString()).toBe(SCRIPT)
    const plain = await asset('identity')
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(plain.body.toString()).toBe(SCRIPT)
    for (const { headers } of [br, gz, plain]) {
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(headers['content-type']).toMatch(/^(text|application)\/javascript/)
      expect(headers['vary']?.toLowerCase()).toContain('accept-encoding')
    }
  })

  test('the shell is never cached, is told its base, and answers every place of the page', async () => {
    for (const path of ['/', '/index.html', '/session/01a22e94', '/settings/models?tab=x']) {
      const answer = await ask(host.base, path)
      expect([path, answer.status, answer.headers['cache-control']]).toEqual([path, 200, 'no-cache'])
      expect(answer.body.toString()).toContain('<html data-base="/"')
      expect(answer.body.toString()).toContain('src="/assets/app-abc.js"')
    }
    const br = await ask(host.base, '/', { headers: { 'accept-encoding': 'br' } })
    expect(brotliDecompressSync(br.body).toString()).toContain('data-base')
    expect((await ask(host.base, '/favicon.svg')).headers['cache-control']).toBe('no-cache')
  })

  test('what does not exist is not the page: assets, the API, other methods', async () => {
    const headers = { authorization: `Bearer ${host.token}` }
    for (const path of ['/assets/app-gone.js', '/api/nothing', '/api/']) {
      const answer = await ask(host.base, path, { headers })
      expect([path, answer.status, codeOf(answer)]).toEqual([path, 404, 'gateway/not-found'])
    }
    expect((await ask(host.base, '/session/x', { method: 'DELETE', headers })).status).toBe(404)
  })

  test.each([
    '/../secret.txt',
    '/../../secret.txt',
    '/assets/../../../secret.txt',
    '/assets/..%2f..%2f..%2fsecret.txt',
    '/assets/%2e%2e/%2e%2e/%2e%2e/secret.txt',
    '/%2e%2e/%2e%2e/secret.txt',
    '/%2e%2e%2f%2e%2e%2fsecret.txt',
    '/..%2f..%2fsecret.txt',
    '/..%5c..%5csecret.txt',
    '/..\\..\\secret.txt',
    '/%252e%252e%252fsecret.txt',
    '/%252e%252e/%252e%252e/secret.txt',
    '/....//....//secret.txt',
    '/..;/..;/secret.txt',
    '/.%2e/.%2e/secret.txt',
    '/%c0%ae%c0%ae/%c0%ae%c0%ae/secret.txt',
    '/%uff0e%uff0e/secret.txt',
    '/assets/%00/../../../secret.txt',
    '/secret.txt%00.js',
    '/%00',
    '//etc/passwd',
    '///etc/passwd',
    '/%2fetc%2fpasswd',
    '/file:///etc/passwd',
    '/C:%5cWindows%5cwin.ini',
    '/\\\\host\\share\\secret.txt',
    '/assets/app-abc.js/../../../../secret.txt',
    '/assets//../..//../secret.txt',
    '/./.././../secret.txt',
    '/dist/web/../../secret.txt',
    '/api/sessions/..%2f..%2fsecret.txt/events',
    '/api/presets/..%2f..%2fsecret.txt/document',
  ])('HS-13 path %j leads nowhere outside', async (path) => {
    const answer = await ask(host.base, path, { headers: { authorization: `Bearer ${host.token}` } })
    expect(answer.body.toString()).not.toMatch(/SECRET|root:/)
    const shell = answer.status === 200 && answer.body.toString().includes('data-base')
    expect(shell || [400, 403, 404, 414].includes(answer.status)).toBe(true)
  })
})

test('the OpenAPI document lists the documents of the server and names its version', async () => {
  const document = (await (await host.get('api/openapi.json')).json()) as {
    openapi: string
    info: { version: string }
    paths: Record<string, Record<string, { summary?: string }>>
  }
  expect(document.openapi).toBe('3.1.0')
  expect(Object.keys(document.paths).sort()).toEqual([
    '/api/access',
    '/api/login',
    '/api/login-link',
    '/api/presets/vocabulary',
    '/api/presets/{preset}/contents',
    '/api/presets/{preset}/document',
    '/api/presets/{preset}/export',
    '/api/presets/{preset}/source',
    '/api/presets/{preset}/source/{version}',
    '/api/presets/{preset}/usage',
    '/api/search',
    '/api/sessions',
    '/api/sessions/{id}/events',
    '/api/sessions/{id}/export',
    '/api/sessions/{id}/requests',
    '/api/sessions/{id}/requests/{turn}/{step}',
    '/api/state',
    '/api/usage',
    '/api/usage.csv',
    '/healthz',
  ])
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, route] of Object.entries(methods))
      expect([path, method, route.summary]).not.toContain(undefined)
})

describe('behind a reverse proxy, at a path below its root', () => {
  let proxied: TestHost
  let proxy: Awaited<ReturnType<typeof startProxy>>
  const outside = 'agents.example'
  beforeAll(async () => {
    const args = ['--base-path', '/agents/', '--allow-host', `https://${outside}`, '--trust-proxy']
    proxied = await startHost({ rootDir: join(folder, 'root'), args })
    proxy = await startProxy(new URL(proxied.base).origin, { proto: 'https' })
  })
  afterAll(async () => {
    await proxy.close()
    await proxied.remove()
  })

  test('HS-16 B72 page, login, documents and socket work under the public name', async () => {
    const headers = { host: outside, origin: `https://${outside}` }
    const page = await ask(proxy.origin, '/agents/', { headers })
    expect(page.body.toString()).toContain('data-base="/agents/"')
    expect(page.body.toString()).toContain('src="/agents/assets/app-abc.js"')
    expect((await ask(proxy.origin, '/agents/assets/app-abc.js', { headers })).body.toString()).toBe(SCRIPT)
    const login = await post(proxy.origin, '/agents/api/login', { token: proxied.token }, headers)
    const set = login.headers['set-cookie']![0]!
    expect(set).toContain('Path=/agents')
    expect(set).toContain('Secure')
    const own = { ...headers, cookie: set.split(';')[0]! }
    expect((await ask(proxy.origin, '/agents/api/state', { headers: own })).status).toBe(200)
    const url = `${proxy.origin.replace('http', 'ws')}/agents/api/socket`
    expect(await upgrade(url, own)).toBe(101)
    expect(await upgrade(url, { ...own, origin: 'https://evil.example' })).toBe(403)
    expect(await upgrade(url, { host: outside, origin: own.origin })).toBe(401)
  })

  test('B72 a tab works through it: commands and events', async () => {
    const socket = `${proxy.origin}/agents/#token=${proxied.token}`
    const client = await Client.connect(socket)
    const workspace = await proxied.workspace(client)
    const { session } = await client.command('session.create', { workspace, preset: 'minimal' })
    expect((await client.attach(session)).t).toBe('snapshot')
    await client.close()
  })

  test('below its base path there is no other place, and other names are refused with the flag that allows them', async () => {
    expect((await ask(proxy.origin, '/api/state', { headers: { host: outside } })).status).not.toBe(200)
    expect((await ask(proxy.origin, '/', { headers: { host: outside } })).status).toBe(404)
    const other = await ask(proxy.origin, '/agents/', { headers: { host: 'other.example' } })
    expect(other.status).toBe(421)
    expect(other.body.toString()).toContain('--allow-host other.example')
  })
})

describe('starting', () => {
  test('HS-15 B78 a port that is taken is named in one sentence with the way out, and nothing stays behind', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    const { code, output } = await runServer({ dataDir: join(folder, 'taken'), args: ['--port', String(port)] })
    taken.close()
    expect(code).toBe(1)
    expect(output.trim()).toMatch(
      new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is already in use by .*\\(pid ${process.pid}\\)\\. .*--port 0`),
    )
    expect(output).not.toContain('    at ')
  })

  test.each([
    ['a wide bind without named hosts', ['--host', '0.0.0.0'], /--allow-host/],
    ['no login beyond loopback', ['--host', '0.0.0.0', '--no-auth', '--allow-host', 'a.example'], /--no-auth/],
  ])('HS-01 B75 %s is refused with a sentence', async (_name, args, message) => {
    const { code, output } = await runServer({ dataDir: join(folder, 'wide'), args })
    expect(code).toBe(1)
    expect(output).toMatch(message)
    expect(output).not.toContain('    at ')
  })

  test('HS-18 a stop signal ends the server in order, with code 0', async () => {
    const server = await startServer({ dataDir: join(folder, 'stopped') })
    expect(await server.stop()).toBe(0)
    expect(server.output()).not.toMatch(/error/i)
  })
})

describe('two servers on one data folder', () => {
  test('HS-17 B21 B23 the second reads what the first writes, and refuses to write with a sentence', async () => {
    const dataDir = join(folder, 'shared')
    const first = await startServer({ dataDir })
    const one = await first.connect()
    const { session } = await one.command('session.create', {
      preset: 'minimal',
      selection: { provider: 'demo', model: 'scripted' },
      prompt: 'begin',
    })
    await one.attach(session)
    await one.event(session, 'tool/result')

    const second = await startServer({ dataDir })
    const two = await second.connect()
    const view = await two.attach(session)
    if (view.t !== 'snapshot') throw new Error(view.t)
    expect(view.writer).toMatchObject({ kind: 'elsewhere', pid: first.child.pid })
    const refusal = two.command('session.prompt', { session, text: 'mine' })
    await expect(refusal).rejects.toMatchObject({ code: 'session/writer-held' })
    await expect(refusal).rejects.toThrow(new RegExp(`${first.child.pid}`))
    // It goes on showing what the owner writes.
    await two.turnEnd(session, 1)
    expect(two.events(session).map(({ seq }) => seq)).toEqual(two.events(session).map((_event, index) => index))

    await one.close()
    await first.kill()
    const { message } = await two.command('session.prompt', { session, text: 'now mine' })
    await two.event(session, 'user/message', ({ data }) => data.message.id === message)
    await two.close()
    await second.stop()
  }, 90_000)
})
