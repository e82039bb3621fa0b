import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { ask, post, upgrade } from '../ask.ts'
import { Client } from '../client.ts'
import { ROOT, startHost, type TestHost } from '../host.ts'
import { startProxy, type ProxyHeaders } from '../proxy.ts'

const NAME = 'agents.example'
const PUBLIC = `https://${NAME}`

let host: TestHost | undefined
afterEach(async () => {
  await host?.remove()
  host = undefined
})

async function behind(args: string[], told: ProxyHeaders) {
  host = await startHost({ args })
  const proxy = await startProxy(new URL(host.base).origin, told)
  onTestFinished(() => proxy.close())
  return { host, proxy, path: new URL(host.base).pathname }
}

/** What a browser at the public address does: page, login, document, socket. */
async function visit(origin: string, path: string, token: string) {
  const headers = { host: NAME, origin: PUBLIC }
  const login = await post(origin, `${path}api/login`, { token }, headers)
  const set = login.headers['set-cookie']?.[0] ?? ''
  const own = { ...headers, cookie: set.split(';')[0]! }
  const socket = await upgrade(`${origin.replace('http', 'ws')}${path}api/socket`, own)
  return { login: login.status, set, socket, access: (await post(origin, `${path}api/access`, {}, own)).status }
}

describe('HS-16', () => {
  test.each<[string, string[], ProxyHeaders]>([
    ['the Host as the visitor sent it', ['--allow-host', PUBLIC], {}],
    ['its own Host, the public origin named', ['--allow-host', PUBLIC], { host: 'inner' }],
    [
      'its own Host and the public one told',
      ['--allow-host', NAME, '--trust-proxy'],
      { host: 'inner', proto: 'https', forwardedHost: NAME },
    ],
    ['the scheme told', ['--allow-host', NAME, '--trust-proxy'], { proto: 'https' }],
    ['a path below its root', ['--allow-host', PUBLIC, '--base-path', '/agents/'], {}],
  ])('HS-16 B72 page and socket work behind a proxy that passes on %s', async (_name, args, told) => {
    const { host, proxy, path } = await behind(args, told)
    const seen = await visit(proxy.origin, path, host.token)
    expect(seen).toMatchObject({ login: 200, socket: 101, access: 200 })
    for (const flag of ['Secure', 'HttpOnly', 'SameSite=Strict']) expect(seen.set).toContain(flag)
    const refused = { host: NAME, origin: 'https://evil.example', cookie: seen.set.split(';')[0]! }
    expect(await upgrade(`${proxy.origin.replace('http', 'ws')}${path}api/socket`, refused)).toBe(403)
  })

  test('HS-16 B72 a host or origin that is not named is a 421 or 403 with the flag to set, never an empty page', async () => {
    const { host, proxy } = await behind([], {})
    const page = await ask(proxy.origin, '/', { headers: { host: NAME, accept: 'text/html,*/*' } })
    expect(page.status).toBe(421)
    expect(page.headers['content-type']).toContain('text/html')
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    expect(page.body.toString()).toContain(`--allow-host ${NAME}`)
    const evil = await ask(proxy.origin, '/', { headers: { host: '<script>alert(1)</script>', accept: 'text/html' } })
    expect(evil.body.toString()).not.toContain('<script>')
    const api = await ask(proxy.origin, '/api/state', { headers: { host: NAME } })
    expect([api.status, JSON.parse(api.body.toString())]).toMatchObject([421, { error: { code: 'gateway/forbidden' } }])
    const inner = new URL(host.base).host
    const access = await post(proxy.origin, '/api/access', {}, { host: inner, origin: PUBLIC })
    expect(access.status).toBe(403)
    expect(access.body.toString()).toContain(`--allow-host ${PUBLIC}`)
  })

  test('HS-16 without --trust-proxy no forwarded header changes anything', async () => {
    const { host, proxy } = await behind(['--allow-host', NAME], { host: 'inner', proto: 'https', forwardedHost: NAME })
    expect((await visit(proxy.origin, '/', host.token)).login).toBe(403)
  })
})

const nginx = (() => {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

/** The block of the documentation, so that what people copy is what is tested. */
function documented(listen: number, target: number): string {
  const text = readFileSync(join(ROOT, 'docs/reverse-proxy.md'), 'utf8')
  const block = /```nginx\n([\s\S]*?)```/.exec(text)![1]!
  return block
    .replace(/listen .*;/, `listen 127.0.0.1:${listen};`)
    .replace(/^\s*ssl_.*$/gm, '')
    .replace('127.0.0.1:4173', `127.0.0.1:${target}`)
}

test('HS-16 the documented nginx block names what the server needs', () => {
  const block = documented(1, 2)
  for (const part of [
    'proxy_http_version 1.1',
    'Upgrade $http_upgrade',
    'proxy_set_header Host $host',
    'proxy_pass http://127.0.0.1:2',
  ])
    expect(block).toContain(part)
})

async function behindNginx(): Promise<void> {
  host = await startHost({ args: ['--allow-host', PUBLIC, '--trust-proxy', '--base-path', '/agents/'] })
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as AddressInfo
  free.close()
  await once(free, 'close')
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'core-web-nginx-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const http = `access_log off; ${documented(port, Number(new URL(host.base).port))}`
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log stderr; events {}\nhttp { ${http} }\n`,
  )
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
  onTestFinished(() => void child.kill())
  const origin = `http://127.0.0.1:${port}`
  await expect
    .poll(() =>
      fetch(`${origin}/agents/healthz`, { headers: { host: NAME } }).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    .toBe(true)
  expect(await visit(origin, '/agents/', host.token)).toMatchObject({ socket: 101, access: 200 })
  const client = await Client.connect(`${origin}/agents/#token=${host.token}`)
  await client.close()
}

// The Node proxy above speaks the same headers. A run that counts skipped tests as failures (CI) is not told of a program
// that this project does not install.
// oxlint-disable-next-line vitest/no-conditional-tests -- see above
if (nginx || process.env['CI'] !== 'true')
  test.skipIf(!nginx)(
    `HS-16 the documented nginx block works${nginx ? '' : ': nginx is not installed here'}`,
    behindNginx,
  )
