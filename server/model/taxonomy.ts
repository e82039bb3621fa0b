import { maxHeaderSize } from 'node:http'
import { networkFailure } from './network.ts'
import { ModelError, type Failure, type FailureCode } from './port.ts'

export interface ClassifyContext {
  signal?: AbortSignal
  /** Set when our own deadline ended the request. */
  watchdog?: 'first-byte' | 'idle'
  /** Status of the HTTP response, when one came; after a 2xx any status in the error itself is the library's guess. */
  httpStatus?: number
  headers?: Headers
  requestId?: string
  /** `host:port` that was dialled, and that of the proxy in between, for the words of a network failure. */
  host?: string
  proxy?: string
  secrets?: readonly string[]
  /** Milliseconds since the epoch, for `retry-after` dates. */
  now?: () => number
}

const MESSAGE_LIMIT = 300
/** What is read of a longer text: patterns run over it, and a provider may send any amount. */
const READ_LIMIT = 4000
const CONTEXT_WORDS =
  /context[ _-]?(length|window)|maximum (context|prompt)|too many (input )?tokens|(prompt|input)( token count)?( is)? too long|exceeds? the (maximum|model'?s?) .{0,40}(tokens|context)|input token count/i
const QUOTA_WORDS =
  /insufficient[ _](quota|balance|credit|funds)|exceeded your (current )?quota|billing|out of credits|credit balance/i
const OVERLOAD_WORDS = /overloaded|over capacity|service unavailable|temporarily unavailable/i
const RATE_WORDS = /rate[ _-]?limit|too many requests|resource[ _]exhausted/i
const AUTH_WORDS = /authentication|unauthori[sz]ed|invalid (x-)?api[ _-]?key|permission[ _]denied|permission_error/i
const MODEL_WORDS = /model[ _]not[ _]found|not_found_error|model .{0,80}does not exist/i
const REQUEST_WORDS = /invalid[ _](request|argument|prompt)|bad request/i
const TIMEOUT_CODES = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
])
const TRANSPORT_CODES =
  /^(E(CONN|HOST|NET|PIPE|NOTFOUND|AI_|PROTO|ADDRNOTAVAIL)|UND_ERR_(SOCKET|CLOSED|DESTROYED|REQ|RES|ABORT|INFO|PRX)|ERR_(SSL|TLS|STREAM)|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|HPE_)/
const OVERFLOW = /^(UND_ERR_HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW)$/
const MALFORMED_NAMES =
  /HTTPParserError|JSONParseError|TypeValidationError|InvalidResponseDataError|NoContentGeneratedError|EmptyResponseBodyError|SyntaxError/
const REQUEST_NAMES = /InvalidArgumentError|InvalidPromptError|NoSuchModelError/

/**
 * Any thrown value or error part as a Failure (models spec 1.4). Order of truth: abort, our deadline, refusals of our
 * own, then the HTTP status, socket codes, and the wording. The library's error object goes no further (LP-06).
 */
export function classify(error: unknown, context: ClassifyContext = {}): Failure {
  const chain = causeChain(error)
  const text = chain.map(textOf).filter(Boolean).join(' | ')
  const own = chain.find((link): link is ModelError => link instanceof ModelError)
  const base = (code: FailureCode, message = text): Failure => describe(code, message, context)
  if (context.signal?.aborted) return base('ABORTED', 'The call was stopped.')
  if (context.watchdog) return base('TIMEOUT', WATCHDOG_TEXT[context.watchdog])
  if (own) return { ...own.failure, message: tidy(own.failure.message, context.secrets) }
  const claimed = chain.map(statusOf).find((status) => status !== undefined)
  const status = context.httpStatus ?? claimed
  if (status !== undefined && status >= 300) {
    const headers = context.headers ?? headersOf(chain)
    const wait = retryAfterMs(headers, context.now)
    return {
      ...base(codeOfStatus(status, text)),
      status,
      ...(wait !== undefined && { providerRetryAfterMs: wait }),
    }
  }
  const code = codeOfCause(chain, text, claimed)
  if (code === 'MALFORMED_RESPONSE') return base(code, unreadable(chain, context.host) ?? text)
  if (code !== 'TRANSPORT' && code !== 'TIMEOUT') return base(code)
  const { host, proxy, httpStatus } = context
  const network = networkFailure(chain, {
    ...(host !== undefined && { host }),
    ...(proxy !== undefined && { proxy }),
    answering: httpStatus !== undefined,
  })
  if (!network) return base(code)
  return { ...base(code, network.message), ...(network.transport && { transport: network.transport }) }
}

/** Answers that the client's parser gave up on. */
function unreadable(chain: readonly unknown[], host = 'The provider'): string | undefined {
  if (chain.some((link) => OVERFLOW.test(codeOf(link) ?? '')))
    return `${host} answered with more headers than a client reads (${maxHeaderSize / 1024} KB). Check the address and what stands in front of it.`
  if (chain.some((link) => link instanceof Error && link.name === 'HTTPParserError'))
    return `${host} answered with something that is not HTTP. Check the address and its port.`
  return undefined
}

const WATCHDOG_TEXT = {
  'first-byte': 'The provider sent no first byte in time.',
  idle: 'The provider stopped sending in the middle of the answer.',
}

function codeOfStatus(status: number, text: string): FailureCode {
  if (status !== 400 && QUOTA_WORDS.test(text)) return 'QUOTA'
  if (status === 401 || status === 403) return 'AUTH'
  if (status === 429) return 'RATE_LIMIT'
  if (status === 404) return 'UNKNOWN_MODEL'
  if (status >= 500) return 'SERVER'
  if (status === 400 || status === 413 || status === 422)
    return CONTEXT_WORDS.test(text) ? 'CONTEXT_WINDOW_EXCEEDED' : 'INVALID_REQUEST'
  return `HTTP_${status}`
}

function codeOfCause(chain: readonly unknown[], text: string, claimed: number | undefined): FailureCode {
  const codes = chain.map(codeOf).filter((code) => code !== undefined)
  const names = chain.map((link) => (link instanceof Error ? link.name : '')).join(' ')
  if (codes.some((code) => TIMEOUT_CODES.has(code))) return 'TIMEOUT'
  if (codes.some((code) => OVERFLOW.test(code))) return 'MALFORMED_RESPONSE'
  if (codes.some((code) => TRANSPORT_CODES.test(code)) || /^terminated$|other side closed|socket hang up/i.test(text))
    return 'TRANSPORT'
  if (/ended without a finish reason/i.test(text)) return 'STREAM_CLOSED'
  if (/LoadAPIKeyError/.test(names)) return 'MISSING_CREDENTIAL'
  if (/UnsupportedFunctionality/.test(names)) return 'UNSUPPORTED_CONTENT'
  if (MALFORMED_NAMES.test(names)) return 'MALFORMED_RESPONSE'
  if (REQUEST_NAMES.test(names)) return 'INVALID_REQUEST'
  return codeOfWords(text) ?? (claimed === undefined ? remainder(chain) : codeOfStatus(claimed, text))
}

/** Errors inside a stream that began with 200: only the wording is left. */
function codeOfWords(text: string): FailureCode | undefined {
  if (CONTEXT_WORDS.test(text)) return 'CONTEXT_WINDOW_EXCEEDED'
  if (QUOTA_WORDS.test(text)) return 'QUOTA'
  if (OVERLOAD_WORDS.test(text)) return 'SERVER'
  if (RATE_WORDS.test(text)) return 'RATE_LIMIT'
  if (AUTH_WORDS.test(text)) return 'AUTH'
  if (MODEL_WORDS.test(text)) return 'UNKNOWN_MODEL'
  if (REQUEST_WORDS.test(text)) return 'INVALID_REQUEST'
  return undefined
}

/** A plain object is an error the provider put into its stream; an Error without any mark is a bug on our side. */
function remainder(chain: readonly unknown[]): FailureCode {
  const first = chain[0]
  if (first instanceof TypeError && /fetch failed|terminated/i.test(first.message)) return 'TRANSPORT'
  return first instanceof Error ? 'UNKNOWN' : 'SERVER'
}

function describe(code: FailureCode, message: string, context: ClassifyContext): Failure {
  return {
    code,
    message: tidy(message, context.secrets) || code,
    ...(context.requestId !== undefined && { requestId: context.requestId }),
  }
}

/** One line of at most 300 characters without markup, known secrets and anything shaped like a key. */
export function tidy(message: string, secrets: readonly string[] = []): string {
  let text = message
  for (const secret of secrets) if (secret.length >= 4) text = text.replaceAll(secret, '***')
  text = text
    .slice(0, READ_LIMIT)
    .replace(/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 ***')
    .replace(/\b(sk|pk|rk|key|xai|gsk|AIza)[-_A-Za-z0-9]{16,}/g, '***')
    .replace(/<[!/?a-z][^>]*>/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return text.length > MESSAGE_LIMIT ? `${text.slice(0, MESSAGE_LIMIT - 1)}…` : text
}

/** Milliseconds the provider asks for: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date. */
export function retryAfterMs(headers: Headers | undefined, now: () => number = Date.now): number | undefined {
  const exact = headers?.get('retry-after-ms')
  if (exact && Number.isFinite(Number(exact)) && Number(exact) >= 0) return Number(exact)
  const value = headers?.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000)
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now())
}

function causeChain(error: unknown): unknown[] {
  const chain: unknown[] = []
  let link = error
  while (link !== undefined && link !== null && chain.length < 8 && !chain.includes(link)) {
    chain.push(link)
    link = typeof link === 'object' ? field(link, 'cause') : undefined
  }
  return chain
}

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as { [key: string]: unknown })[key] : undefined

function statusOf(link: unknown): number | undefined {
  for (const key of ['statusCode', 'status', 'code']) {
    const value = field(link, key)
    if (typeof value === 'number' && value >= 300 && value < 600) return value
  }
  const inner = field(link, 'error')
  return inner === undefined ? undefined : statusOf(inner)
}

function codeOf(link: unknown): string | undefined {
  const code = field(link, 'code')
  return typeof code === 'string' ? code : undefined
}

function headersOf(chain: readonly unknown[]): Headers | undefined {
  const found = chain.map((link) => field(link, 'responseHeaders')).find((value) => typeof value === 'object' && value)
  return found ? new Headers(found) : undefined
}

/** Wording of one link: its message, the vendor's type and code, and the message inside an error body. */
function textOf(link: unknown): string {
  if (typeof link === 'string') return link
  const parts = ['message', 'type', 'code', 'status'].map((key) => field(link, key))
  const inner = field(link, 'error') ?? field(field(link, 'data'), 'error')
  const own = parts.filter((part) => typeof part === 'string' && part !== 'error')
  const nested = inner !== undefined && inner !== null ? textOf(inner) : bodyText(field(link, 'responseBody'))
  // What an error and its body both say is said once.
  return [...new Set([...own, ...nested.split(' · ')])].filter(Boolean).join(' · ')
}

/** A page made for a browser is told by its title: its markup says nothing. */
function bodyText(body: unknown): string {
  if (typeof body !== 'string') return ''
  if (!/^\s*<(!doctype|html|head|body)\b/i.test(body)) return body.slice(0, 2000)
  const title = /<(title|h1)\b[^>]*>([^<]{1,200})</i.exec(body)?.[2]?.replaceAll(/\s+/g, ' ').trim()
  return title ? `an HTML page "${title}"` : 'an HTML page'
}
