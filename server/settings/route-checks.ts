import type { ProviderSettings, RouteOptions } from '../wire/models.ts'

/** What is wrong with a route's settings: the key inside the entry, and a sentence with the next step. */
export interface Fault {
  key: string
  message: string
}

/** Carry a key by convention. A literal in one of them would stand readable in the settings file and on the screen. */
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'api-key',
  'cookie',
  'proxy-authorization',
  'x-goog-api-key',
])
/** Belong to the connection; the HTTP client sets or refuses them. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** RFC 9110, 5.6.2: the characters of a token. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Printable Latin-1 and tabs, what a header field carries; no blanks at the ends. */
const HEADER_VALUE = /^(?![\t ])[\t\x20-\x7e\xa0-\xff]*(?<![\t ])$/

/** The first thing of these settings that no request could be made of, or that would show a secret. */
export function routeFault({ baseURL, options }: Pick<ProviderSettings, 'baseURL' | 'options'>): Fault | undefined {
  return (
    baseURLFault(baseURL) ??
    headersFault(options.headers) ??
    proxyFault(options.proxy) ??
    retryFault(options.retry) ??
    effortsFault(options.efforts) ??
    modelsFault(options.models)
  )
}

function baseURLFault(text: string): Fault | undefined {
  const fault = (why: string): Fault => ({ key: 'baseURL', message: `The base URL ${why}` })
  if (!URL.canParse(text)) return fault('is not an address. Enter it whole, like https://api.example.com/v1.')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return fault('must begin with https:// or http://.')
  if (url.username || url.password) return fault('must not contain a user name or password. Store the key instead.')
  if (url.search || url.hash) return fault('must end with a path: paths of the API are put behind it.')
  return undefined
}

function headersFault(headers: RouteOptions['headers'] = {}): Fault | undefined {
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    // Never the value: it may be a secret that was put into the wrong place.
    const fault = (why: string): Fault => ({ key: `options.headers.${name}`, message: `The header ${name} ${why}` })
    if (!HEADER_NAME.test(name)) return fault('has a name that no request can carry. Use letters, digits and hyphens.')
    if (seen.has(lower)) return fault('is there twice. Names are the same in upper and lower case.')
    seen.add(lower)
    if (CONNECTION_HEADERS.has(lower)) return fault('is set by the connection itself. Leave it out.')
    if (!HEADER_VALUE.test(value))
      return fault('has a value that no request can carry. Leave out line ends, outer blanks and special characters.')
    if (SECRET_HEADERS.has(lower) && !value.includes('{{key}}'))
      return fault(
        'holds a secret in plain text. Store it as the key of this provider, and write {{key}} in its place.',
      )
  }
  return undefined
}

function proxyFault(proxy: string | undefined): Fault | undefined {
  if (proxy === undefined || proxy === 'none') return undefined
  const fault = (why: string): Fault => ({ key: 'options.proxy', message: `The proxy ${why}` })
  if (!URL.canParse(proxy))
    return fault('is not an address. Enter it whole, like http://proxy.example.com:3128, or "none".')
  const url = new URL(proxy)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return fault('must begin with http:// or https://.')
  if (url.username || url.password)
    return fault('must not contain a password. Set HTTPS_PROXY in the environment of the server instead.')
  if (url.pathname !== '/' || url.search || url.hash) return fault('must end with its port.')
  return undefined
}

function retryFault(retry: RouteOptions['retry']): Fault | undefined {
  if (!retry) return undefined
  const { mode, baseMs, capMs } = retry
  if (baseMs !== undefined && capMs !== undefined && capMs < baseMs)
    return {
      key: 'options.retry.capMs',
      message: 'The longest wait of the retries must not be shorter than the first.',
    }
  if (mode === 'always' && baseMs === 0)
    return { key: 'options.retry.baseMs', message: 'Retries of every failure need a wait: enter at least 1 ms.' }
  return undefined
}

function effortsFault(efforts: RouteOptions['efforts'] = []): Fault | undefined {
  const key = 'options.efforts'
  const ids = efforts.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) return { key, message: `The effort ${twice} is there twice.` }
  if (efforts.filter((effort) => effort.default).length > 1)
    return { key, message: 'More than one effort is the default. Mark one of them.' }
  return undefined
}

function modelsFault(models: RouteOptions['models'] = []): Fault | undefined {
  const twice = models.find((id, index) => models.indexOf(id) !== index)
  return twice === undefined ? undefined : { key: 'options.models', message: `The model ${twice} is there twice.` }
}
