import { mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { addresses, bindWarnings, listen, refuseOpenBind, type Bind } from './listen.ts'

const bind = (more: Partial<Bind> = {}): Bind => ({
  host: '127.0.0.1',
  port: 0,
  auth: true,
  allowHost: [],
  basePath: '/',
  owner: () => undefined,
  ...more,
})

function app() {
  const server = fastify()
  onTestFinished(() => server.close())
  return server
}

test.each([
  [{ host: '0.0.0.0' }, '--allow-host'],
  [{ host: '::' }, '--allow-host'],
  [{ host: '127.0.0.2' }, '--allow-host'],
  [{ host: '192.168.1.5', allowHost: ['box.lan'], auth: false }, '--no-auth'],
] as const)('HS-01 %j is refused', (more, word) => {
  expect(() => refuseOpenBind(bind(more))).toThrow(word)
})

test.each([{}, { host: '::1' }, { auth: false }, { socket: '/run/x' }, { host: '0.0.0.0', allowHost: ['box.lan'] }])(
  'HS-01 %j may listen',
  (more) => expect(() => refuseOpenBind(bind(more))).not.toThrow(),
)

test('HS-01 a wide bind and a missing login are pointed out, loopback with a login is not', () => {
  expect(bindWarnings(bind())).toEqual([])
  expect(bindWarnings(bind({ host: '0.0.0.0', allowHost: ['a'] }))).toMatchObject([
    expect.stringContaining('without TLS'),
  ])
  expect(bindWarnings(bind({ auth: false, allowHost: ['a'] }))).toMatchObject([expect.stringContaining('its proxy')])
})

test('the addresses of a person: loopback first, the public ones, and none that only the bind knows', () => {
  expect(addresses(bind({ allowHost: ['https://a.example'] }), 80)).toEqual([
    'http://127.0.0.1:80/',
    'https://a.example/',
  ])
  expect(addresses(bind({ host: '::1', basePath: '/x/' }), 80)).toEqual(['http://[::1]:80/x/'])
  expect(addresses(bind({ host: '0.0.0.0', allowHost: ['localhost:4173', 'box'] }), 80)).toEqual([
    'http://localhost:4173/',
    'http://box:80/',
  ])
  expect(addresses(bind({ socket: '/s', allowHost: ['https://a.example'] }), 0)).toEqual(['https://a.example/'])
  expect(addresses(bind({ socket: '/s' }), 0)).toEqual([])
})

test('HS-01 a unix socket is open to its owner alone; a dead one is replaced, a living one and a file are not', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'listen-'))
  const socket = join(dir, 's')
  // What a killed server leaves behind.
  const dead = createServer().listen(socket)
  await once(dead, 'listening')
  const file = join(dir, 'file')
  writeFileSync(file, 'mine')
  await expect(listen(app(), bind({ socket }))).rejects.toThrow('in use by another server')
  dead.close()
  await once(dead, 'close')
  const living = app()
  await listen(living, bind({ socket }))
  expect(statSync(socket).mode & 0o777).toBe(0o600)
  await expect(listen(app(), bind({ socket: file }))).rejects.toThrow('is no socket')
})
