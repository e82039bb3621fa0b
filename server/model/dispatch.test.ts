import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { directFetch, proxyOf } from './dispatch.ts'
import { ModelError } from './port.ts'
import { closeServers, connectProxy, deadAddress, httpServer } from './servers.fixture.ts'
import { classify } from './taxonomy.ts'
import { targetOf, wireFetch } from './transport.ts'

afterAll(closeServers)
afterEach(() => vi.unstubAllEnvs())

const stream = () =>
  httpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: hi\n\n')
  })
const post = (proxy: string, url: string) => wireFetch({ proxy }).fetch(url, { method: 'POST', body: '{}' })
const failureOf = async (proxy: string, url: string) =>
  post(proxy, url).then(
    () => undefined,
    (error: unknown) => classify(error, targetOf(url, proxy)),
  )

test('a route goes through its own proxy, tunnelled, with the user and password that stand in its address', async () => {
  const proxy = await connectProxy(await stream())
  const response = await post(`http://me:p%40ss@127.0.0.1:${proxy.port}`, 'http://provider.invalid/v1')
  expect(await response.text()).toBe('data: hi\n\n')
  expect(proxy.tunnels).toEqual([
    { to: 'provider.invalid:80', authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}` },
  ])
})

test('`none` goes past the proxy of the environment', async () => {
  const [target, proxy] = [await stream(), await connectProxy({ status: 403 })]
  for (const name of ['HTTP_PROXY', 'http_proxy']) vi.stubEnv(name, proxy.url)
  for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, undefined)
  expect(await (await post('none', `${target.url}/v1`)).text()).toBe('data: hi\n\n')
  expect(proxy.tunnels).toEqual([])
})

test.each([
  [407, 'it asks for a user and a password (407)'],
  [403, 'it answered with status 403'],
  [502, 'it answered with status 502'],
])('a proxy that answers %i is named, without its password', async (status, why) => {
  const proxy = await connectProxy({ status })
  const failure = await failureOf(`http://me:secret@127.0.0.1:${proxy.port}`, 'https://api.example.com/v1')
  expect(failure).toEqual({
    code: 'TRANSPORT',
    message: `The proxy 127.0.0.1:${proxy.port} did not connect to api.example.com: ${why}. Check the proxy of this provider or the proxy variables.`,
  })
})

test('a proxy that is down, has no name, or hangs up is what is named, not the provider', async () => {
  const dead = await deadAddress()
  expect(await failureOf(`http://me:secret@127.0.0.1:${dead.port}`, 'https://api.example.com/v1')).toEqual({
    code: 'TRANSPORT',
    transport: 'refused',
    message: `Nothing listens at the proxy 127.0.0.1:${dead.port} (connection refused). Check the address of the proxy and whether the server runs.`,
  })
  expect(await failureOf('http://me:secret@proxy.invalid:3128', 'https://api.example.com/v1')).toEqual({
    code: 'TRANSPORT',
    transport: 'dns',
    message: 'The proxy proxy.invalid:3128 cannot be found (DNS). Check the address of the proxy or the network.',
  })
  const rude = await connectProxy(dead)
  expect(await failureOf(rude.url, 'https://api.example.com/v1')).toMatchObject({
    code: 'TRANSPORT',
    transport: 'reset',
    message: expect.stringContaining(`(through the proxy 127.0.0.1:${rude.port})`),
  })
})

test.each(['not an address', 'ftp://me:secret@host:1', ''])(
  'the proxy %j is refused in words, every time',
  async (proxy) => {
    for (let n = 0; n < 2; n++) {
      const error = await directFetch(proxy)('http://127.0.0.1/').catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ModelError)
      expect(error).toMatchObject({
        failure: {
          code: 'INVALID_REQUEST',
          message: expect.stringMatching(/^The proxy of this provider is no address/),
        },
      })
      expect(JSON.stringify(error) + String(error)).not.toContain('secret')
    }
  },
)

test('which proxy may stand in between: of the route, else of the environment by scheme', () => {
  const env = { HTTP_PROXY: 'http://a:1', https_proxy: 'https://u:p@b', HTTPS_PROXY: 'http://never:2' }
  expect(proxyOf('http://x/', undefined, env)).toBe('a:1')
  expect(proxyOf('https://x/', undefined, env)).toBe('b:443')
  expect(proxyOf('https://x/', undefined, { HTTP_PROXY: 'http://a' })).toBe('a:80')
  expect(proxyOf('https://x/', 'http://c:3', env)).toBe('c:3')
  expect(proxyOf('https://x/', 'none', env)).toBeUndefined()
  expect(proxyOf('http://x/', undefined, {})).toBeUndefined()
  expect(proxyOf('http://x/', 'no address', env)).toBeUndefined()
  expect(proxyOf('http://x/', undefined, { http_proxy: 'http://lower:4', HTTP_PROXY: 'http://upper:5' })).toBe(
    'lower:4',
  )
})
