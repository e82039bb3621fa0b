import type { WireFamily } from '../../wire/messages.ts'
import { never } from '../../wire/never.ts'
import { directFetch } from '../dispatch.ts'
import { ModelError, type Failure } from '../port.ts'
import { classify } from '../taxonomy.ts'
import { targetOf } from '../transport.ts'
import type { EndpointList } from './cards.ts'
import type { ProviderConfig, ProviderDeps } from './config.ts'
import { callHeaders, refuseKeylessHeader } from './headers.ts'
import { readKey } from './key.ts'
import { readModels } from './model-list.ts'

const DISCOVERY_MS = 5000
const MAX_BYTES = 2 * 1024 * 1024

export type Discovery = { list: EndpointList } | { failure?: Failure }

/**
 * The models that the endpoint says it has, within 5 s and 2 MB. Never rejects. A failure that a missing key explains is
 * left out: an endpoint that wants one has said nothing new, and one that needs none may answer without.
 */
export async function discover(
  config: ProviderConfig,
  deps: ProviderDeps,
  { signal, limitMs = DISCOVERY_MS }: { signal?: AbortSignal; limitMs?: number } = {},
): Promise<Discovery> {
  let key: string | undefined
  let keyProblem: Failure | undefined
  try {
    key = await readKey(config, deps)
    refuseKeylessHeader(config)
  } catch (error) {
    keyProblem = classify(error)
    if (keyProblem.code !== 'MISSING_CREDENTIAL') return { failure: keyProblem }
  }
  const answer = await ask(config, deps, { key, signal, limitMs })
  return 'failure' in answer && keyProblem ? {} : answer
}

interface Asking {
  key: string | undefined
  signal: AbortSignal | undefined
  limitMs: number
}

async function ask(config: ProviderConfig, deps: ProviderDeps, { key, signal, limitMs }: Asking): Promise<Discovery> {
  const { url, headers, keyHeader } = listRequest(config.wire, config.baseURL.replace(/\/+$/, ''), key)
  const deadline = AbortSignal.timeout(limitMs)
  const own = callHeaders({ config, apiKey: key }, { sessionId: 'models', lane: 'models' }, [keyHeader])
  const all = new Headers({ ...headers, ...own.headers })
  for (const name of own.dropHeaders) all.delete(name)
  for (const [name, value] of Object.entries(own.setHeaders)) all.set(name, value)
  let response: Response | undefined
  try {
    const send = deps.fetch ?? directFetch(config.proxy)
    response = await send(url, { headers: all, signal: signal ? AbortSignal.any([signal, deadline]) : deadline })
    const body = await bounded(response)
    if (!response.ok)
      throw Object.assign(new Error(`The list of models was refused (${response.status}).`), refusal(body))
    const models = readModels(config.wire, parsed(body, response))
    const date = new Date((deps.now ?? Date.now)()).toISOString().slice(0, 10)
    return { list: { models, figures: { source: url, date } } }
  } catch (error) {
    const secrets = [...(deps.credentials.secrets?.() ?? []), ...(key ? [key] : [])]
    const late = deadline.aborted && !signal?.aborted
    const failure = classify(error, {
      ...(signal && { signal }),
      ...targetOf(url, config.proxy),
      ...(late && { watchdog: response ? 'idle' : 'first-byte' }),
      ...(response && { httpStatus: response.status, headers: response.headers }),
      ...(deps.now && { now: deps.now }),
      secrets,
    })
    return {
      failure: late
        ? { ...failure, message: `${config.label} did not list its models within ${limitMs / 1000} s.` }
        : failure,
    }
  }
}

function listRequest(wire: WireFamily, base: string, key: string | undefined) {
  const accept = { accept: 'application/json' }
  const keyed = (name: string, value: string) => ({ ...accept, ...(key !== undefined && { [name]: value }) })
  switch (wire) {
    case 'chat':
    case 'responses':
      return { url: `${base}/models`, keyHeader: 'authorization', headers: keyed('authorization', `Bearer ${key}`) }
    case 'messages': {
      const headers = { ...keyed('x-api-key', key ?? ''), 'anthropic-version': '2023-06-01' }
      return { url: `${base}/models?limit=1000`, keyHeader: 'x-api-key', headers }
    }
    case 'gemini': {
      const headers = keyed('x-goog-api-key', key ?? '')
      return { url: `${base}/models?pageSize=1000`, keyHeader: 'x-goog-api-key', headers }
    }
    default:
      return never(wire)
  }
}

/** The body of an answer, read no further than the bound. */
async function bounded(response: Response): Promise<string> {
  if (!response.body) return ''
  const decoder = new TextDecoder()
  let bytes = 0
  let text = ''
  for await (const chunk of response.body) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES)
      throw new ModelError({
        code: 'MALFORMED_RESPONSE',
        message: `The list of models is larger than ${MAX_BYTES / 1024 / 1024} MB. Name the models yourself in Settings > Models.`,
      })
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parsed(body: string, response: Response): unknown {
  try {
    return JSON.parse(body)
  } catch {
    const type = response.headers.get('content-type') ?? 'no content type'
    const message = `Expected a list of models, got ${type}: ${body.trim().slice(0, 120) || 'an empty body'}`
    throw new ModelError({ code: 'MALFORMED_RESPONSE', message })
  }
}

/** What the taxonomy reads of an error body. */
function refusal(body: string): object {
  try {
    const data = JSON.parse(body) as unknown
    return typeof data === 'object' && data !== null ? { data } : { responseBody: body }
  } catch {
    return { responseBody: body }
  }
}
