import { describe, expect, test } from 'vitest'
import { cookieValue } from './access.ts'
import { Fence, type FenceRequest } from './fence.ts'

const TOKEN = 'a'.repeat(64)
const COOKIE = `core-web-4711=${cookieValue(TOKEN)}`

const fence = (options: Partial<Fence['options']> = {}) =>
  new Fence({ token: TOKEN, allowHosts: [], trustProxy: false, cookieName: () => 'core-web-4711', ...options })

const request = (headers: FenceRequest['headers'], rest: Partial<FenceRequest> = {}): FenceRequest => ({
  method: 'GET',
  path: '/api/state',
  upgrade: false,
  ...rest,
  headers: { host: 'localhost:4711', ...headers },
})

describe('Host', () => {
  const known = ['localhost', 'localhost:4711', '127.0.0.1:4711', '[::1]:4711', 'LOCALHOST:4711']
  const foreign = [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.nip.io:4711',
    '0.0.0.0:4711',
    '192.168.1.5:4711',
    '',
    'localhost:4711@evil.example',
  ]
  test.each(known)('HS-02 answers for %s', (host) => {
    expect(fence().check(request({ host, cookie: COOKIE }))).toBeUndefined()
  })
  test.each(foreign)('HS-02 refuses %s with 421', (host) => {
    expect(fence().check(request({ host, cookie: COOKIE }))?.status).toBe(421)
  })
  test('a listed name is answered, with and without port', () => {
    const wide = fence({ allowHosts: ['box.lan', 'https://agents.example'] })
    for (const host of ['box.lan:4711', 'box.lan', 'agents.example'])
      expect(wide.check(request({ host, cookie: COOKIE }))).toBeUndefined()
    expect(wide.check(request({ host: 'other.lan', cookie: COOKIE }))?.status).toBe(421)
  })
})

describe('a proxy that tells the public host', () => {
  const told = { host: '127.0.0.1:4711', 'x-forwarded-host': 'agents.example', 'x-forwarded-proto': 'https' }
  const origin = 'https://agents.example'
  test('HS-16 with --trust-proxy Origin is compared with it; without, the header is nothing', () => {
    const trusting = fence({ allowHosts: ['agents.example'], trustProxy: true })
    expect(trusting.check(request({ ...told, origin, cookie: COOKIE }))).toBeUndefined()
    expect(trusting.check(request({ ...told, origin: 'https://evil.example', cookie: COOKIE }))?.status).toBe(403)
    const wary = fence({ allowHosts: ['agents.example'] })
    expect(wary.check(request({ ...told, origin, cookie: COOKIE }))?.status).toBe(403)
  })
  test('HS-16 what a client put in front of it counts for nothing, and both names must be known', () => {
    const trusting = fence({ allowHosts: ['agents.example'], trustProxy: true })
    const forged = { ...told, 'x-forwarded-host': 'evil.example, agents.example', 'x-forwarded-proto': 'http, https' }
    expect(trusting.check(request({ ...forged, origin, cookie: COOKIE }))).toBeUndefined()
    for (const names of [
      { 'x-forwarded-host': 'evil.example', origin: 'https://evil.example' },
      { host: 'evil.example', origin: 'http://evil.example', 'x-forwarded-proto': 'http' },
      { host: 'evil.example', 'x-forwarded-host': 'localhost:4711', origin: 'http://evil.example' },
    ])
      expect(trusting.check(request({ ...told, ...names, cookie: COOKIE }))?.status).toBe(421)
  })
})

describe('Origin', () => {
  const foreign = [
    'null',
    'http://evil.example',
    'http://localhost:4000',
    'https://localhost:4711',
    'http://127.0.0.1:4711',
    'http://localhost',
    'file://',
    'http://localhost:4711.evil.example',
  ]
  test.each(foreign)('HS-03 refuses %s on HTTP and upgrade alike', (origin) => {
    for (const upgrade of [false, true])
      expect(fence().check(request({ origin, cookie: COOKIE }, { upgrade }))?.status).toBe(403)
  })
  test('its own origin is let in; a socket by cookie must name one', () => {
    expect(
      fence().check(request({ origin: 'http://localhost:4711', cookie: COOKIE }, { upgrade: true })),
    ).toBeUndefined()
    expect(fence().check(request({ cookie: COOKIE }, { upgrade: true }))?.status).toBe(403)
  })
  test('a client that proves the token itself may open a socket without one', () => {
    expect(
      fence().check(request({ 'sec-websocket-protocol': `core-web, bearer.${TOKEN}` }, { upgrade: true })),
    ).toBeUndefined()
  })
  test('behind a proxy the public origin is compared, not the inner host', () => {
    const proxied = fence({ allowHosts: ['https://agents.example'] })
    expect(proxied.check(request({ origin: 'https://agents.example', cookie: COOKIE }))).toBeUndefined()
    expect(proxied.check(request({ origin: 'http://agents.example', cookie: COOKIE }))?.status).toBe(403)
  })
})

test('requests of other sites are refused before the token is looked at; a link may open the page', () => {
  for (const site of ['cross-site', 'same-site'])
    expect(fence().check(request({ 'sec-fetch-site': site, cookie: COOKIE }))?.status).toBe(403)
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  expect(fence().check(request(link, { path: '/s/abc' }))).toBeUndefined()
  expect(fence().check(request(link, { path: '/api/state' }))?.status).toBe(403)
  expect(fence().check(request({ ...link, 'sec-fetch-dest': 'iframe' }, { path: '/' }))?.status).toBe(403)
})

describe('token', () => {
  test('a cookie of another port, a wrong token and none at all are 401', () => {
    for (const headers of [
      {},
      { cookie: `core-web-9999=${cookieValue(TOKEN)}` },
      { authorization: 'Bearer nope' },
      { cookie: `core-web-4711=${TOKEN}` },
    ])
      expect(fence().check(request(headers))?.status).toBe(401)
  })
  test('cookie and bearer are let in', () => {
    expect(fence().check(request({ cookie: `a=b; ${COOKIE}` }))).toBeUndefined()
    expect(fence().check(request({ authorization: `Bearer ${TOKEN}` }))).toBeUndefined()
  })
  test('without it only the page, its assets, the health check and the login answer', () => {
    const open: [string, string][] = [
      ['GET', '/'],
      ['GET', '/s/x'],
      ['GET', '/assets/a.js'],
      ['GET', '/healthz'],
      ['POST', '/api/login'],
    ]
    for (const [method, path] of open) expect(fence().check(request({}, { method, path })), path).toBeUndefined()
    const shut: [string, string][] = [
      ['GET', '/api/login'],
      ['GET', '/api/state'],
      ['POST', '/'],
      ['DELETE', '/api/login'],
      ['GET', '/api'],
    ]
    for (const [method, path] of shut) expect(fence().check(request({}, { method, path }))?.status, path).toBe(401)
  })
  test('without authentication Host and Origin still hold', () => {
    const open = fence({ token: undefined })
    expect(open.check(request({}))).toBeUndefined()
    expect(open.check(request({ host: 'evil.example' }))?.status).toBe(421)
    expect(open.check(request({ origin: 'http://evil.example' }, { upgrade: true }))?.status).toBe(403)
  })
})
