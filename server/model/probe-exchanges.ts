import type { ProbeExchange } from '../wire/models.ts'
import type { ProviderConfig, ProviderDeps } from './adapters/config.ts'
import { directFetch } from './dispatch.ts'
import { SECRET_HEADERS, type Fetch } from './transport.ts'

const MAX_BODY = 2000
/** Shorter texts would be found in ordinary words. */
const TELLING = 4

/** The requests of one connection test, as a person may see them and pass them on: no secret is in any of them. */
export class ExchangeLog {
  readonly secrets: string[]
  readonly #send: Fetch
  readonly #now: () => number
  readonly #keyed: ReadonlySet<string>
  readonly #exchanges: ProbeExchange[] = []
  #started = 0
  #open = false

  constructor(config: ProviderConfig, deps: ProviderDeps, now: () => number) {
    const known = deps.credentials.secrets?.() ?? []
    this.secrets = [...known, ...passwords(config.proxy), ...passwords(config.baseURL)]
    this.#send = deps.fetch ?? directFetch(config.proxy)
    this.#now = now
    const named = Object.entries(config.headers ?? {}).filter(([, value]) => value.includes('{{key}}'))
    this.#keyed = new Set([...SECRET_HEADERS, ...named.map(([name]) => name.toLowerCase())])
  }

  learn(key: string | undefined): void {
    if (key !== undefined) this.secrets.push(key)
  }

  readonly fetch: Fetch = async (url, init = {}) => {
    this.#started = this.#now()
    this.#open = true
    const { method = 'GET', body } = init
    const exchange: ProbeExchange = {
      method,
      url: this.scrub(url instanceof Request ? url.url : String(url)),
      headers: Object.fromEntries(
        [...new Headers(init.headers)].map(([name, value]) => [name, this.#header(name, value)]),
      ),
      // Cut after the secrets are out: half a key is half too much.
      ...(typeof body === 'string' && { body: this.scrub(body).slice(0, MAX_BODY) }),
      ms: 0,
      got: '',
    }
    this.#exchanges.push(exchange)
    const response = await this.#send(url, init)
    exchange.status = response.status
    return response
  }

  /** The latest exchange is over, with this to show for it. */
  end(got: string): void {
    const exchange = this.#exchanges.at(-1)
    if (!exchange || !this.#open) return
    this.#open = false
    exchange.ms = Math.max(0, this.#now() - this.#started)
    exchange.got = this.scrub(got).replaceAll(/\s+/g, ' ').slice(0, 500)
  }

  done(): ProbeExchange[] {
    this.end('no answer')
    return this.#exchanges
  }

  scrub(text: string): string {
    let clean = text
    const spellings = this.secrets.flatMap((secret) => [secret, encodeURIComponent(secret)])
    for (const secret of spellings.sort((a, b) => b.length - a.length))
      if (secret.length >= TELLING) clean = clean.replaceAll(secret, marked(secret))
    return clean
  }

  /** A header that carries a key shows the word before it and no more, whoever put it there. */
  #header(name: string, value: string): string {
    const clean = this.scrub(value)
    if (!this.#keyed.has(name) || clean !== value) return clean
    const [, scheme = '', secret = ''] = /^([A-Za-z]+ )?(.*)$/s.exec(value) ?? []
    return secret === '' ? value : `${scheme}${marked(secret)}`
  }
}

const marked = (secret: string): string => `[key, ${secret.length} characters]`

function passwords(address: string | undefined): string[] {
  if (address === undefined || !URL.canParse(address)) return []
  const { password } = new URL(address)
  return password === '' ? [] : [password, decoded(password)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a lone percent sign is part of the password
  }
}
