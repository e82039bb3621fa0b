import { never } from '../wire/never.ts'
import type { Failure } from './port.ts'

export type TransportKind = NonNullable<Failure['transport']>

export interface Dialled {
  host?: string
  /** `host:port` of the proxy in between, without its password. */
  proxy?: string
  /** An answer had begun. */
  answering?: boolean
}

const DNS = /^(ENOTFOUND|EAI_)/
const TLS = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_SSL|ERR_TLS|EPROTO$|HOSTNAME_MISMATCH|UND_ERR_PRX_TLS)/
const UNREACHABLE = /^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/
const RESET = /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE)$/
/** undici's wording for a proxy that answers CONNECT with anything but 200. */
const REFUSED_TUNNEL = /Proxy response \((\d+)\)/

/** What kind of failure of the network an error is, and what to say of it; undefined where the socket tells nothing. */
export function networkFailure(
  chain: readonly unknown[],
  dialled: Dialled,
): { transport?: TransportKind; message: string } | undefined {
  const links = chain.flatMap((link) => [link, ...inner(link)])
  const tunnel = links.map((link) => REFUSED_TUNNEL.exec(text(link, 'message') ?? '')).find(Boolean)
  if (tunnel) return refusedTunnel(Number(tunnel[1]), dialled)
  for (const link of links) {
    const code = text(link, 'code')
    const transport = code === undefined ? undefined : kindOf(code, link)
    if (transport) return { transport, message: words(transport, { link, code: code!, dialled }) }
  }
  const cut = links.some((link) => /^terminated$|other side closed|socket hang up/i.test(String(text(link, 'message'))))
  return cut ? { transport: 'reset', message: broken(dialled) } : undefined
}

function kindOf(code: string, link: unknown): TransportKind | undefined {
  if (DNS.test(code)) return 'dns'
  if (TLS.test(code)) return 'tls'
  if (code === 'ECONNREFUSED') return 'refused'
  if (UNREACHABLE.test(code)) return 'unreachable'
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || (code === 'ETIMEDOUT' && text(link, 'syscall') !== 'read'))
    return 'connect-timeout'
  return RESET.test(code) ? 'reset' : undefined
}

function words(
  transport: TransportKind,
  { link, code, dialled }: { link: unknown; code: string; dialled: Dialled },
): string {
  const { who, advice } = party(link, dialled)
  const first = who.replace(/^the proxy/, 'The proxy')
  switch (transport) {
    case 'dns':
      return `${first} cannot be found (DNS). Check the address${advice} or the network.`
    case 'tls':
      return `${first} has no secure connection to offer: ${reason(code)} (${code}). ${tlsAdvice(code)}`
    case 'refused':
      return `Nothing listens at ${who} (connection refused). Check the address${advice} and whether the server runs.`
    case 'unreachable':
      return `${first} cannot be reached from this machine (${code}). Check the network${advice}.`
    case 'connect-timeout':
      return `${first} did not take the connection in time. Check the address${advice}, the network and firewalls.`
    case 'reset':
      return broken(dialled)
    default:
      return never(transport)
  }
}

const broken = ({ host = 'The provider', proxy, answering }: Dialled): string =>
  answering
    ? `${host} broke off the connection in the middle of the answer.`
    : `${host} closed the connection before it answered${proxy ? ` (through the proxy ${proxy})` : ''}.`

function refusedTunnel(status: number, { host = 'the provider', proxy }: Dialled) {
  const why = status === 407 ? 'it asks for a user and a password (407)' : `it answered with status ${status}`
  return {
    message: `The proxy${proxy ? ` ${proxy}` : ''} did not connect to ${host}: ${why}. Check the proxy of this provider or the proxy variables.`,
  }
}

/** Whose fault it is: the address in the error is the proxy's when the proxy was dialled. */
function party(link: unknown, { host, proxy }: Dialled): { who: string; advice: string } {
  const who = host ?? 'The provider'
  if (proxy === undefined) return { who, advice: '' }
  const [name, port] = split(proxy)
  const at = text(link, 'hostname') ?? text(link, 'host') ?? text(link, 'address')
  const atPort = field(link, 'port')
  const dialled = at === name || (atPort !== undefined && String(atPort) === port && split(who)[1] !== port)
  return dialled || String(text(link, 'message')).includes(proxy)
    ? { who: `the proxy ${proxy}`, advice: ' of the proxy' }
    : { who, advice: '' }
}

function split(authority: string): [name: string, port: string] {
  const at = authority.lastIndexOf(':')
  return [authority.slice(0, at), authority.slice(at + 1)]
}

const REASONS: readonly [RegExp, string][] = [
  [/EXPIRED/, 'its certificate has expired'],
  [/SELF_SIGNED/, 'its certificate is self-signed'],
  [/ALTNAME|HOSTNAME/, 'its certificate is for another name'],
  [/^(UNABLE_TO_|CERT_)/, 'its certificate cannot be verified'],
  [/WRONG_VERSION|PACKET_LENGTH|EPROTO|HTTP_REQUEST/, 'it does not speak TLS here'],
]
const reason = (code: string): string => REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? 'TLS failed'

const tlsAdvice = (code: string): string =>
  /WRONG_VERSION|PACKET_LENGTH|EPROTO|HTTP_REQUEST/.test(code)
    ? 'Check whether the address should begin with http://.'
    : 'Trust its authority with NODE_EXTRA_CA_CERTS, or check the address.'

const inner = (link: unknown): unknown[] => {
  const errors = field(link, 'errors')
  return Array.isArray(errors) ? errors : []
}

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as { [key: string]: unknown })[key] : undefined

function text(value: unknown, key: string): string | undefined {
  const found = field(value, key)
  return typeof found === 'string' ? found : undefined
}
