import type { ProbeVerdict } from '../wire/models.ts'
import { never } from '../wire/never.ts'
import type { ProviderConfig } from './adapters/config.ts'
import type { Failure } from './port.ts'

const MODEL_WORDS = /model/i

/** `list`: why the same address gave no list of models. */
export function verdictOf(failure: Failure, list?: Failure): ProbeVerdict {
  if (failure.transport) return transportVerdict(failure.transport)
  switch (failure.code) {
    case 'MISSING_CREDENTIAL':
      return 'no-key'
    case 'INVALID_CREDENTIAL':
      return 'bad-key'
    case 'TIMEOUT':
    case 'ABORTED':
      return 'timeout'
    case 'TRANSPORT':
      return 'unreachable'
    case 'AUTH':
      return 'auth'
    case 'QUOTA':
      return 'quota'
    case 'RATE_LIMIT':
      return 'rate-limit'
    case 'UNKNOWN_MODEL':
      return failure.status !== undefined && isNoApi(failure, list) ? 'not-an-api' : 'model'
    case 'MALFORMED_RESPONSE':
    case 'HTTP_405':
      return 'not-an-api'
    case 'HTTP_402':
      return 'quota'
    case 'SERVER':
    case 'STREAM_CLOSED':
    case 'EMPTY_RESPONSE':
      return 'server'
    case 'UNKNOWN':
    case 'NO_ADAPTER':
      return 'unknown'
    default:
      return 'request'
  }
}

/** A wrong path answers 404 for everything, and speaks of no model. */
const isNoApi = (failure: Failure, list: Failure | undefined): boolean =>
  !MODEL_WORDS.test(failure.message) || (list?.status === 404 && /HTML page/.test(failure.message))

function transportVerdict(transport: NonNullable<Failure['transport']>): ProbeVerdict {
  switch (transport) {
    case 'dns':
    case 'tls':
    case 'refused':
    case 'unreachable':
      return transport
    case 'connect-timeout':
      return 'timeout'
    case 'reset':
      return 'server'
    default:
      return never(transport)
  }
}

interface Told {
  failure?: Failure | undefined
  model?: string | undefined
  limitMs: number
}

/** A sentence that names the provider, then the next step. */
export function advice(config: ProviderConfig, verdict: ProbeVerdict, { failure, model, limitMs }: Told): string {
  const { label, baseURL } = config
  const said = failure?.message ?? ''
  switch (verdict) {
    case 'works':
      return `${label} answered${model === undefined ? '' : ` with ${model}`}.`
    case 'no-key':
    case 'bad-key':
      return said
    case 'dns':
    case 'tls':
    case 'refused':
      return `${label}: ${said}`
    case 'unreachable':
      return `${label} cannot be reached: ${said}`
    case 'timeout':
      return failure?.transport
        ? `${label}: ${said}`
        : `${label} did not answer within ${limitMs / 1000} s. Check the network, or whether the server is still loading its model.`
    case 'auth':
      return `${label} refused the key${because(said)} Enter the key again, and check that it may use ${model ?? 'this model'}.`
    case 'quota':
      return `${label} refuses for want of credit or quota${because(said)} Check the balance and limits of the account.`
    case 'rate-limit':
      return `${label} takes no more requests for now${because(said)} Wait a little, then test again.`
    case 'model':
      return model === undefined
        ? `${label} lists no model. Load one there, or enter the id of a model to test with.`
        : `${label} does not know the model ${model}${because(said)} Choose another model or check its id.`
    case 'not-an-api':
      return `${label} answers at ${baseURL}, but not as such an API${because(said)} Check the address, up to and including the version part, and the kind of API.`
    case 'request':
      return `${label} did not take the request${because(said)} Check the options of this provider.`
    case 'server':
      return `${label} failed on its side${because(said)} Try again later.`
    case 'unknown':
      return `The test of ${label} failed${because(said)} Look at what was asked and answered.`
    default:
      return never(verdict)
  }
}

const because = (said: string): string => (said === '' ? '.' : `: ${/[.!?…]$/.test(said) ? said : `${said}.`}`)
