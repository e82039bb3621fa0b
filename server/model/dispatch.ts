import { ModelError } from './port.ts'
import type { Fetch } from './transport.ts'

const CONNECT_MS = 30_000
const COMMON = {
  headersTimeout: 0,
  bodyTimeout: 0,
  proxyTunnel: true,
  allowH2: false,
  connectTimeout: CONNECT_MS,
} as const
const senders = new Map<string | undefined, Promise<Fetch>>()

/**
 * undici's own fetch with its own agent: the global fetch gives up after 300 s without a byte, refuses foreign
 * dispatchers and ignores the proxy variables. `proxyTunnel` keeps the timeouts through a proxy; HTTP/2 stays off, so
 * that one lost connection ends one stream only. `proxy` is an address, `none`, or absent for what the environment says
 * at the first call. One agent per setting for the life of the process: none is closed under a call, and idle sockets end
 * by themselves. The first call rejects ModelError INVALID_REQUEST for an address that no agent takes.
 */
export const directFetch =
  (proxy?: string): Fetch =>
  async (url, init) => {
    if (!senders.has(proxy)) senders.set(proxy, sender(proxy))
    return (await senders.get(proxy)!)(url, init)
  }

async function sender(proxy: string | undefined): Promise<Fetch> {
  const { fetch, Agent, EnvHttpProxyAgent, ProxyAgent } = await import('undici')
  const agent = () => {
    const connect = { timeout: CONNECT_MS }
    if (proxy === undefined) return new EnvHttpProxyAgent({ ...COMMON, connect })
    if (proxy === 'none') return new Agent({ ...COMMON, connect })
    return new ProxyAgent({ ...COMMON, uri: proxy })
  }
  const dispatcher = contained(agent)
  // The package's own Request and Response types differ from the global ones in name only.
  const send = fetch as unknown as (url: string | URL | Request, init: object) => Promise<Response>
  return (target, options) => send(target, { ...options, dispatcher })
}

function contained<T>(make: () => T): T {
  try {
    return make()
  } catch {
    // The address may hold a password, and the library's error repeats it.
    throw new ModelError({
      code: 'INVALID_REQUEST',
      message: 'The proxy of this provider is no address that can be used. Write it as http://host:port, or "none".',
    })
  }
}

/** `host:port` of the proxy that a request to `url` may take, without its user and password; undefined when it goes directly. */
export function proxyOf(url: string, setting: string | undefined, env = process.env): string | undefined {
  if (setting === 'none') return undefined
  const http = env['http_proxy'] ?? env['HTTP_PROXY']
  const https = env['https_proxy'] ?? env['HTTPS_PROXY']
  const address = setting ?? (url.startsWith('https:') ? https || http : http)
  if (!address || !URL.canParse(address)) return undefined
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}
