import type { IncomingHttpHeaders } from 'node:http'
import type { ErrorCode } from '../wire/errors.ts'
import { cookieValue, sameSecret } from './access.ts'

export interface Refusal {
  status: 401 | 403 | 421
  code: ErrorCode
  message: string
}

export interface FenceOptions {
  /** The access token; undefined only with `--no-auth` on a loopback address. */
  token: string | undefined
  /** Names, `name:port` or whole origins that reach this server through a proxy or a wider bind. */
  allowHosts: readonly string[]
  /** Believe `x-forwarded-proto` and `x-forwarded-host` for what Origin is compared with. */
  trustProxy: boolean
  /** Port-specific, since cookies ignore ports. */
  cookieName: () => string
}

export interface FenceRequest {
  method: string
  /** Pattern of the route that answers, or the path where none does; below the base path, without query. */
  path: string
  headers: IncomingHttpHeaders
  upgrade: boolean
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
const OPEN_POSTS = new Set(['/api/login'])

export function cookieOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  for (const part of (headers.cookie ?? '').split(';')) {
    const cut = part.indexOf('=')
    if (cut > 0 && part.slice(0, cut).trim() === name) return part.slice(cut + 1).trim()
  }
  return undefined
}

/** What stands further left in a forwarded header is the client's own claim. */
const lastOf = (value: string | string[] | undefined): string | undefined =>
  value === undefined ? undefined : String(value).split(',').at(-1)!.trim()

const nameOf = (authority: string) => authority.replace(/:\d+$/, '').toLowerCase()

/**
 * One check for HTTP and upgrade, in this order: Host, Origin, Sec-Fetch-Site, then the token.
 * A loopback address is no identity; a web page in the user's own browser is the attacker here.
 */
export class Fence {
  readonly options: FenceOptions
  readonly #hosts = new Set<string>()
  readonly #origins = new Set<string>()

  constructor(options: FenceOptions) {
    this.options = options
    for (const entry of options.allowHosts) {
      if (!entry.includes('://')) {
        this.#hosts.add(entry.toLowerCase())
        continue
      }
      const url = new URL(entry)
      this.#origins.add(url.origin)
      this.#hosts.add(url.host.toLowerCase())
    }
  }

  check(request: FenceRequest): Refusal | undefined {
    return this.#host(request) ?? this.#origin(request) ?? this.#site(request) ?? this.#auth(request)
  }

  /** A page that got here under a name of its own could invent the forwarded one, so both must be known. */
  #host({ headers }: FenceRequest): Refusal | undefined {
    const host = (headers.host ?? '').toLowerCase()
    const unknown = [host, this.#publicHost(headers)].find((name) => !this.#knownHost(name))
    if (unknown === undefined) return undefined
    return {
      status: 421,
      code: 'gateway/forbidden',
      message: `This server does not answer for the host "${unknown}". Start it with --allow-host ${nameOf(unknown) || 'NAME'} to reach it by that name.`,
    }
  }

  /** The host that the visitor asked for. */
  #publicHost(headers: IncomingHttpHeaders): string {
    const forwarded = this.options.trustProxy ? lastOf(headers['x-forwarded-host']) : undefined
    return (forwarded ?? headers.host ?? '').toLowerCase()
  }

  #knownHost(host: string): boolean {
    if (!/^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:\d{1,5})?$/.test(host)) return false
    return LOOPBACK.has(nameOf(host)) || this.#hosts.has(host) || this.#hosts.has(nameOf(host))
  }

  #origin({ headers, method, path, upgrade }: FenceRequest): Refusal | undefined {
    const origin = headers.origin
    // The page's own files are public and alike for everyone, and browsers send Origin with its scripts: behind a proxy that
    // this server was not told of they have to arrive, or nobody could say what is wrong. What they ask for is judged.
    if (!upgrade && (method === 'GET' || method === 'HEAD') && isPageFile(path)) return undefined
    const foreign = (text: string): Refusal => ({ status: 403, code: 'gateway/forbidden', message: text })
    if (origin === undefined) {
      // A browser always sends Origin with a WebSocket; only clients that prove the token themselves may leave it out.
      const needsOrigin = upgrade && this.options.token !== undefined && !this.#bearer(headers)
      return needsOrigin ? foreign('A socket opened by cookie must carry an Origin header.') : undefined
    }
    if (this.#origins.has(origin)) return undefined
    const host = this.#publicHost(headers)
    const schemes = this.#schemes(headers, host)
    if (schemes.some((scheme) => origin.toLowerCase() === `${scheme}://${host}`)) return undefined
    return foreign(
      `Pages of ${origin} may not use this server. Start it with --allow-host ${origin === 'null' ? 'ORIGIN' : origin} if that page is yours.`,
    )
  }

  #schemes(headers: IncomingHttpHeaders, host: string): string[] {
    const forwarded = this.options.trustProxy ? lastOf(headers['x-forwarded-proto']) : undefined
    if (forwarded !== undefined) return [forwarded]
    return LOOPBACK.has(nameOf(host)) ? ['http'] : ['http', 'https']
  }

  #site({ headers, method, path, upgrade }: FenceRequest): Refusal | undefined {
    const site = headers['sec-fetch-site']
    if (site !== 'cross-site' && site !== 'same-site') return undefined
    // A link from elsewhere may open the page itself: it is static, and the Strict cookie does not travel with it.
    const navigation =
      method === 'GET' && !upgrade && headers['sec-fetch-mode'] === 'navigate' && !path.startsWith('/api/')
    if (navigation && headers['sec-fetch-dest'] === 'document') return undefined
    return { status: 403, code: 'gateway/forbidden', message: 'Requests from other sites are refused.' }
  }

  #auth(request: FenceRequest): Refusal | undefined {
    if (this.options.token === undefined || this.#isOpen(request)) return undefined
    if (this.authenticated(request.headers)) return undefined
    return {
      status: 401,
      code: 'gateway/unauthorized',
      message:
        'Log in first: open the link that the server printed at start (`npm run login` prints a new one), or paste the token from its data folder.',
    }
  }

  #isOpen({ method, path, upgrade }: FenceRequest): boolean {
    if (upgrade) return false
    if (method === 'POST') return OPEN_POSTS.has(path)
    if (method !== 'GET' && method !== 'HEAD') return false
    return path === '/healthz' || !path.startsWith('/api')
  }

  authenticated(headers: IncomingHttpHeaders): boolean {
    const token = this.options.token
    if (token === undefined) return true
    const bearer = this.#bearer(headers)
    if (bearer !== undefined) return sameSecret(bearer, token)
    const cookie = cookieOf(headers, this.options.cookieName())
    return cookie !== undefined && sameSecret(cookie, cookieValue(token))
  }

  #bearer(headers: IncomingHttpHeaders): string | undefined {
    const authorization = headers.authorization
    if (authorization?.startsWith('Bearer ')) return authorization.slice(7)
    const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((entry) => entry.trim())
    return offered.find((entry) => entry.startsWith('bearer.'))?.slice(7)
  }
}

const isPageFile = (path: string): boolean => path !== '/healthz' && !/^\/api(\/|$)/.test(path)
