import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, mockRoute, WIRES } from '../../../e2e/mock-llm/rig.ts'
import { startMock, type Mock } from '../../../e2e/mock-llm/server.ts'
import type { Failure } from '../port.ts'
import { closeServers, connectProxy, deadAddress, httpServer, selfSigned, tcpServer } from '../servers.fixture.ts'
import type { ProviderConfig } from './config.ts'

let mock: Mock
beforeAll(async () => {
  mock = await startMock()
})
afterAll(async () => {
  await mock.close()
  await closeServers()
})

describe.each(WIRES)('%s', (wire) => {
  /** How a call ends against a server of its own. */
  const failure = async (url: string, config: Partial<ProviderConfig> = {}): Promise<Failure | undefined> => {
    const { finish } = await ask(mockRoute({ url }, wire, { config }))
    return 'failure' in finish ? finish.failure : undefined
  }

  test('a certificate that nobody vouches for is named, and is not tried again', async () => {
    const server = await selfSigned((_request, response) => void response.end('never'))
    expect(await failure(server.url)).toEqual({
      code: 'TRANSPORT',
      transport: 'tls',
      message: `127.0.0.1:${server.port} has no secure connection to offer: its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT). Trust its authority with NODE_EXTRA_CA_CERTS, or check the address.`,
    })
  })

  test('a name that nobody knows, a port where nobody listens, a server without TLS', async () => {
    expect(await failure('http://nothing.invalid')).toEqual({
      code: 'TRANSPORT',
      transport: 'dns',
      message: 'nothing.invalid cannot be found (DNS). Check the address or the network.',
    })
    const dead = await deadAddress()
    expect(await failure(dead.url)).toEqual({
      code: 'TRANSPORT',
      transport: 'refused',
      message: `Nothing listens at 127.0.0.1:${dead.port} (connection refused). Check the address and whether the server runs.`,
    })
    expect(await failure(mock.url.replace('http:', 'https:'))).toMatchObject({
      code: 'TRANSPORT',
      transport: 'tls',
      message: expect.stringContaining('it does not speak TLS here'),
    })
  })

  test('a connection that breaks before the answer and in the middle of it', async () => {
    const before = await tcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()))
    expect(await failure(before.url)).toMatchObject({
      code: 'TRANSPORT',
      transport: 'reset',
      message: `127.0.0.1:${before.port} closed the connection before it answered.`,
    })
    const middle = await httpServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n')
      setTimeout(() => request.socket.resetAndDestroy(), 30)
    })
    expect(await failure(middle.url)).toMatchObject({
      code: 'TRANSPORT',
      transport: 'reset',
      message: `127.0.0.1:${middle.port} broke off the connection in the middle of the answer.`,
    })
  })

  test('what is no HTTP is told as that', async () => {
    const server = await tcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.6\r\n')))
    expect(await failure(server.url)).toEqual({
      code: 'MALFORMED_RESPONSE',
      message: `127.0.0.1:${server.port} answered with something that is not HTTP. Check the address and its port.`,
    })
  })

  test('headers beyond what a client reads are one clear failure', async () => {
    const server = await httpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-large': 'x'.repeat(20_000) }).end('data: x\n\n')
    })
    expect(await failure(server.url)).toEqual({
      code: 'MALFORMED_RESPONSE',
      message: `127.0.0.1:${server.port} answered with more headers than a client reads (16 KB). Check the address and what stands in front of it.`,
    })
  })

  test('an HTML page under an error status is told by its title, not its markup', async () => {
    const server = await httpServer((_request, response) => {
      response.writeHead(500, { 'content-type': 'text/html' })
      response.end('<!doctype html><html><head><title>Gateway\n error</title></head><body><p>long</p></body></html>')
    })
    expect(await failure(server.url)).toMatchObject({
      code: 'SERVER',
      status: 500,
      message: expect.stringContaining('an HTML page "Gateway error"'),
    })
  })

  test('the proxy of the route carries the calls, and is named when it does not', async () => {
    const lane = `proxied-${wire}`
    mock.script(lane, [{ text: 'through' }])
    const proxy = await connectProxy({ port: Number(new URL(mock.url).port) })
    const route = mockRoute({ url: 'http://provider.invalid' }, wire, { config: { proxy: proxy.url } })
    expect((await ask(route, { lane })).blocks).toEqual([{ type: 'text', text: 'through' }])
    expect(proxy.tunnels.map(({ to }) => to)).toEqual(['provider.invalid:80'])
    const shut = await connectProxy({ status: 407 })
    const address = `http://me:proxy-password@127.0.0.1:${shut.port}`
    const refused = await failure('https://provider.invalid', { proxy: address })
    expect(refused).toMatchObject({
      code: 'TRANSPORT',
      message: expect.stringMatching(/^The proxy 127\.0\.0\.1:\d+ did not connect to provider\.invalid: it asks/),
    })
    expect(JSON.stringify(refused)).not.toContain('proxy-password')
  })

  test('a proxy that is no address is a refusal, not a crash', async () => {
    expect(await failure(mock.url, { proxy: 'nonsense' })).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(/^The proxy of this provider/),
    })
  })
})
