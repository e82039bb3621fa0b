import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { networkFailure } from './network.ts'
import { classify } from './taxonomy.ts'

const coded = (code: string, extra: object = {}) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(`connect ${code}`), { code, ...extra }) })
const told = (error: unknown, context: object = {}) => classify(error, { host: 'api.example.com', ...context })

describe('what kind of network failure it was', () => {
  test.each([
    ['ENOTFOUND', 'TRANSPORT', 'dns'],
    ['EAI_AGAIN', 'TRANSPORT', 'dns'],
    ['EAI_FAIL', 'TRANSPORT', 'dns'],
    ['CERT_HAS_EXPIRED', 'TRANSPORT', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'TRANSPORT', 'tls'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'TRANSPORT', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'TRANSPORT', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'TRANSPORT', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'TRANSPORT', 'tls'],
    ['HOSTNAME_MISMATCH', 'TRANSPORT', 'tls'],
    ['EPROTO', 'TRANSPORT', 'tls'],
    ['ECONNREFUSED', 'TRANSPORT', 'refused'],
    ['ECONNRESET', 'TRANSPORT', 'reset'],
    ['ECONNABORTED', 'TRANSPORT', 'reset'],
    ['EPIPE', 'TRANSPORT', 'reset'],
    ['UND_ERR_SOCKET', 'TRANSPORT', 'reset'],
    ['EHOSTUNREACH', 'TRANSPORT', 'unreachable'],
    ['ENETUNREACH', 'TRANSPORT', 'unreachable'],
    ['EHOSTDOWN', 'TRANSPORT', 'unreachable'],
    ['EADDRNOTAVAIL', 'TRANSPORT', 'unreachable'],
    ['UND_ERR_CONNECT_TIMEOUT', 'TIMEOUT', 'connect-timeout'],
    ['ETIMEDOUT', 'TIMEOUT', 'connect-timeout'],
  ])('%s is %s, %s', (code, expected, transport) => {
    expect(told(coded(code))).toMatchObject({ code: expected, transport })
  })

  test.each(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])('%s is a wait, not a kind of connection', (code) => {
    expect(told(coded(code))).not.toHaveProperty('transport')
  })

  test('a read that times out is no connection that was never made', () => {
    expect(told(coded('ETIMEDOUT', { syscall: 'read' }))).toMatchObject({ code: 'TIMEOUT' })
    expect(told(coded('ETIMEDOUT', { syscall: 'read' }))).not.toHaveProperty('transport')
    expect(told(coded('ETIMEDOUT', { syscall: 'connect' }))).toMatchObject({ transport: 'connect-timeout' })
  })

  test.each(['terminated', 'other side closed', 'socket hang up'])('"%s" is a reset', (message) => {
    expect(told(new TypeError(message))).toMatchObject({ code: 'TRANSPORT', transport: 'reset' })
  })

  test('of several addresses that were tried, the first with a reason tells it', () => {
    const cause = Object.assign(new AggregateError([Object.assign(new Error('a'), { code: 'ECONNREFUSED' })], 'all'), {
      code: 'ECONNREFUSED',
    })
    expect(told(new TypeError('fetch failed', { cause }))).toMatchObject({ transport: 'refused' })
    expect(networkFailure([{ errors: [{ code: 'ENETUNREACH' }] }], {})).toMatchObject({ transport: 'unreachable' })
  })

  test('words of a failure of the provider are none of the network', () => {
    for (const error of [
      new Error('a bug'),
      { message: 'Overloaded' },
      { code: 'rate_limit_exceeded', message: 'slow' },
      'x',
      null,
    ])
      expect(networkFailure([error], { host: 'x' })).toBeUndefined()
    expect(told(Object.assign(new Error('no'), { statusCode: 503, cause: { code: 'ECONNRESET' } }))).toEqual({
      code: 'SERVER',
      message: expect.any(String),
      status: 503,
    })
  })
})

describe('what a person reads', () => {
  test.each([
    ['ENOTFOUND', 'api.example.com cannot be found (DNS). Check the address or the network.'],
    [
      'ECONNREFUSED',
      'Nothing listens at api.example.com (connection refused). Check the address and whether the server runs.',
    ],
    ['EHOSTUNREACH', 'api.example.com cannot be reached from this machine (EHOSTUNREACH). Check the network.'],
    [
      'UND_ERR_CONNECT_TIMEOUT',
      'api.example.com did not take the connection in time. Check the address, the network and firewalls.',
    ],
    ['ECONNRESET', 'api.example.com closed the connection before it answered.'],
    [
      'CERT_HAS_EXPIRED',
      'api.example.com has no secure connection to offer: its certificate has expired (CERT_HAS_EXPIRED). Trust its authority with NODE_EXTRA_CA_CERTS, or check the address.',
    ],
    [
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'api.example.com has no secure connection to offer: it does not speak TLS here (ERR_SSL_WRONG_VERSION_NUMBER). Check whether the address should begin with http://.',
    ],
  ])('%s: %s', (code, message) => {
    expect(told(coded(code)).message).toBe(message)
  })

  test.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'its certificate is self-signed'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
    ['UNABLE_TO_GET_ISSUER_CERT', 'its certificate cannot be verified'],
    ['CERT_REVOKED', 'its certificate cannot be verified'],
    ['EPROTO', 'it does not speak TLS here'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'TLS failed'],
  ])('%s: %s', (code, reason) => {
    expect(told(coded(code)).message).toContain(`: ${reason} (${code}).`)
  })

  test('a connection that breaks in the middle of an answer says so; without a name the provider is meant', () => {
    expect(told(coded('ECONNRESET'), { httpStatus: 200 }).message).toBe(
      'api.example.com broke off the connection in the middle of the answer.',
    )
    expect(classify(coded('ENOTFOUND')).message).toMatch(/^The provider cannot be found/)
    expect(classify(coded('ECONNRESET')).message).toBe('The provider closed the connection before it answered.')
  })

  test('with a proxy in between, the party whose address failed is named', () => {
    const proxy = 'proxy.local:3128'
    const at = (extra: object) => told(coded('ECONNREFUSED', extra), { proxy }).message
    expect(at({ address: '10.0.0.9', port: 3128 })).toContain('at the proxy proxy.local:3128')
    expect(at({ address: '10.0.0.8', port: 443 })).toContain('at api.example.com')
    expect(told(coded('ENOTFOUND', { hostname: 'proxy.local' }), { proxy }).message).toMatch(
      /^The proxy proxy.local:3128 /,
    )
    expect(told(coded('ENOTFOUND', { hostname: 'api.example.com' }), { proxy }).message).toMatch(/^api.example.com /)
    expect(told(coded('ECONNREFUSED', { port: 3128 }), { proxy, host: 'localhost:3128' }).message).toContain(
      'localhost:3128',
    )
    const refused = Object.assign(new Error('Proxy response (407) !== 200 when HTTP Tunneling'), {
      code: 'UND_ERR_ABORTED',
    })
    expect(told(refused).message).toMatch(/^The proxy did not connect to api.example.com: it asks for a user/)
  })
})

test('property: any chain of causes gives one bounded sentence and never throws', () => {
  const link = fc.record(
    {
      code: fc.oneof(fc.string(), fc.constantFrom('ENOTFOUND', 'ECONNRESET', 'CERT_X', 'ETIMEDOUT'), fc.integer()),
      message: fc.oneof(fc.string(), fc.constant('Proxy response (500)')),
      errors: fc.array(fc.anything(), { maxLength: 2 }),
      hostname: fc.string(),
      port: fc.nat(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(link, { maxLength: 4 }), fc.option(fc.string(), { nil: undefined }), (links, proxy) => {
      const error = links.reduceRight<object | undefined>(
        (cause, part) => ({ ...part, ...(cause && { cause }) }),
        undefined,
      )
      const failure = classify(error, { host: 'h', ...(proxy !== undefined && { proxy }) })
      expect(failure.message.length).toBeLessThanOrEqual(300)
      expect(failure.message).not.toBe('')
    }),
    { numRuns: 300 },
  )
})
