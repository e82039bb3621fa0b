import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { mapEvents } from './sse-gate.ts'
import { stripSecrets, wireFetch, type Fetch } from './transport.ts'

const encoder = new TextEncoder()

/** A body in the given pieces, one per read. */
const bodyOf = (pieces: readonly Uint8Array<ArrayBuffer>[]): ReadableStream<Uint8Array<ArrayBuffer>> => {
  let next = 0
  return new ReadableStream({
    pull(controller) {
      const piece = pieces[next++]
      if (piece) controller.enqueue(piece)
      else controller.close()
    },
  })
}
const answering = (pieces: readonly string[], type: string, status = 200): Fetch => {
  const bytes = pieces.map((piece) => encoder.encode(piece))
  return async () => new Response(bodyOf(bytes), { status, headers: { 'content-type': type } })
}
const read = async (pieces: readonly string[], type: string): Promise<string> => {
  const { fetch } = wireFetch({ fetch: answering(pieces, type) })
  return (await fetch('http://x.invalid/v1', { method: 'POST', body: '{}' })).text()
}
const malformed = (message: RegExp) => ({
  failure: { code: 'MALFORMED_RESPONSE', message: expect.stringMatching(message) },
})

test('LT-13 an event stream passes under a wrong type, whole, however its head is cut', async () => {
  for (const pieces of [
    ['data: {"a":1}\n\n', 'data: 2\n\n'],
    ['\uFEFF', '\n', ': hi\n\n', 'data: x\n\n'],
    ['event: a\ndata: b\n\n'],
    ['id: 1\n\n'],
    ['d', 'at', 'a: 1\n\n'],
  ])
    expect(await read(pieces, 'text/plain')).toBe(pieces.join('').replace('\uFEFF', ''))
})

test('LT-13 anything else under status 200 is MALFORMED_RESPONSE with its first words', async () => {
  await expect(read(['<html>', '<h1>Sign in</h1>'], 'text/html')).rejects.toMatchObject(malformed(/text\/html: <html>/))
  await expect(read(['{"error":"no stream"}'], 'application/json')).rejects.toMatchObject(malformed(/no stream/))
  await expect(read(['x'.repeat(5000)], '')).rejects.toMatchObject(
    malformed(/^Expected an event stream, got no content type: x{300}$/),
  )
  await expect(read([], 'text/html')).rejects.toMatchObject(malformed(/empty body/))
  await expect(read([], 'text/event-stream')).rejects.toMatchObject(malformed(/empty body/))
})

test('an error answer keeps its body, an empty one too', async () => {
  for (const text of ['{"error":{"message":"no"}}', '']) {
    const { fetch, facts } = wireFetch({ fetch: answering(text === '' ? [] : [text], 'application/json', 429) })
    const response = await fetch('http://x.invalid/v1', { method: 'POST', body: '{}' })
    expect(await response.text()).toBe(text)
    expect(facts.status).toBe(429)
  }
})

test('B64 the deadlines hold although the provider ignores the abort', async () => {
  const silent: Fetch = async () =>
    new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } })
  const { fetch, facts } = wireFetch({ fetch: silent, firstByteMs: 30 })
  await expect(fetch('http://x.invalid/v1').then((response) => response.text())).rejects.toThrow(/first-byte/)
  expect(facts.watchdog).toBe('first-byte')
})

test('LT-17 events are rewritten or dropped wherever the bytes are cut', async () => {
  const stream =
    'event: a\ndata: {"keep":"é🙂"}\n\n: ping\n\ndata: {"drop":1}\r\n\r\ndata: {"change":1}\n\ndata: [DONE]\n\n'
  const expected = 'event: a\ndata: {"keep":"é🙂"}\n\n: ping\n\ndata: {"changed":2}\n\ndata: [DONE]\n\n'
  const bytes = encoder.encode(stream)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 8 }), async (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const pieces = at.slice(1).map((to, index) => bytes.slice(at[index], to))
      const mapped = mapEvents(bodyOf(pieces), (data, text) => {
        const event = data as { drop?: number; change?: number }
        if (event.drop) return null
        return event.change ? '{"changed":2}' : text
      })
      expect(await new Response(mapped as ReadableStream<Uint8Array<ArrayBuffer>>).text()).toBe(expected)
    }),
    { numRuns: 100 },
  )
})

test('no capture holds a secret header', () => {
  const names = [
    'Authorization',
    'x-api-key',
    'x-goog-api-key',
    'api-key',
    'cookie',
    'set-cookie',
    'proxy-authorization',
  ]
  const headers = new Headers([...names.map((name) => [name, 'secret'] as [string, string]), ['x-lane', 'main']])
  expect(stripSecrets(headers)).toEqual({ 'x-lane': 'main' })
})

test('requests go through the proxy of the environment, tunnelled, and past it for NO_PROXY', async () => {
  const target = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: hi\n\n')
  })
  const tunnels: string[] = []
  const proxy = createServer().on('connect', (request, socket) => {
    tunnels.push(request.url!)
    const { port } = target.address() as AddressInfo
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
  })
  const listen = (server: typeof target) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await Promise.all([listen(target), listen(proxy)])
  vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
  vi.stubEnv('http_proxy', undefined)
  vi.stubEnv('no_proxy', undefined)
  vi.stubEnv('NO_PROXY', '127.0.0.1')
  const { port } = target.address() as AddressInfo
  const ask = async (host: string) =>
    (await wireFetch().fetch(`http://${host}:${port}/`, { method: 'POST', body: '{}' })).text()
  expect(await ask('provider.invalid')).toBe('data: hi\n\n')
  expect(await ask('127.0.0.1')).toBe('data: hi\n\n')
  expect(tunnels).toEqual([`provider.invalid:${port}`])
  vi.unstubAllEnvs()
  for (const server of [target, proxy]) server.close().closeAllConnections()
})
