import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ModelError } from './port.ts'
import { classify, retryAfterMs, tidy } from './taxonomy.ts'

const api = (statusCode: number, message = 'no', extra: object = {}) =>
  Object.assign(new Error(message), { name: 'AI_APICallError', statusCode, ...extra })
const codeOf = (error: unknown, context = {}) => classify(error, context).code

describe('codes by status', () => {
  test.each([
    [401, 'x', 'AUTH'],
    [403, 'x', 'AUTH'],
    [404, 'x', 'UNKNOWN_MODEL'],
    [429, 'x', 'RATE_LIMIT'],
    [429, 'You exceeded your current quota', 'QUOTA'],
    [402, 'Insufficient Balance', 'QUOTA'],
    [402, 'x', 'HTTP_402'],
    [418, 'x', 'HTTP_418'],
    [500, 'x', 'SERVER'],
    [529, 'x', 'SERVER'],
    [400, 'x', 'INVALID_REQUEST'],
    [400, 'billing address field is malformed', 'INVALID_REQUEST'],
    [422, 'x', 'INVALID_REQUEST'],
    [400, "This model's maximum context length is 8192 tokens", 'CONTEXT_WINDOW_EXCEEDED'],
    [413, 'prompt is too long: 210000 tokens > 200000 maximum', 'CONTEXT_WINDOW_EXCEEDED'],
  ])('%i %s is %s', (status, message, code) => {
    const failure = classify(api(status, message))
    expect(failure.code).toBe(code)
    expect(failure.status).toBe(status)
  })
})

describe('codes by cause and wording', () => {
  const cause = (code: string) => new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) })
  test.each([
    [cause('UND_ERR_HEADERS_TIMEOUT'), 'TIMEOUT'],
    [cause('UND_ERR_CONNECT_TIMEOUT'), 'TIMEOUT'],
    [cause('ETIMEDOUT'), 'TIMEOUT'],
    [cause('ECONNREFUSED'), 'TRANSPORT'],
    [cause('ENOTFOUND'), 'TRANSPORT'],
    [cause('EPIPE'), 'TRANSPORT'],
    [new TypeError('terminated'), 'TRANSPORT'],
    [Object.assign(new Error('x'), { name: 'AI_JSONParseError' }), 'MALFORMED_RESPONSE'],
    [Object.assign(new Error('x'), { name: 'AI_TypeValidationError' }), 'MALFORMED_RESPONSE'],
    [Object.assign(new Error('x'), { name: 'AI_InvalidArgumentError' }), 'INVALID_REQUEST'],
    [new Error('Response stream ended without a finish reason.'), 'STREAM_CLOSED'],
    [{ message: 'Overloaded', type: 'overloaded_error' }, 'SERVER'],
    [{ error: { message: 'Rate limit reached' } }, 'RATE_LIMIT'],
    [{ message: 'insufficient_quota' }, 'QUOTA'],
    [{ code: 503, message: 'x' }, 'SERVER'],
    ['something odd', 'SERVER'],
    [new Error('a bug of ours'), 'UNKNOWN'],
    [new ModelError({ code: 'MISSING_CREDENTIAL', message: 'no key' }), 'MISSING_CREDENTIAL'],
  ])('%s is %s', (error, code) => expect(codeOf(error)).toBe(code))
})

test('LT-15 a status that the library made up after a 200 does not decide', () => {
  expect(codeOf(api(500, 'maximum context length exceeded'), { httpStatus: 200 })).toBe('CONTEXT_WINDOW_EXCEEDED')
  expect(codeOf(api(529, 'unlabelled'), { httpStatus: 200 })).toBe('SERVER')
})

test('LT-16 an aborted signal decides, whatever the error looks like; then our own deadline', () => {
  const signal = AbortSignal.abort()
  for (const error of [new DOMException('x', 'AbortError'), api(500), 'user', undefined])
    expect(codeOf(error, { signal, watchdog: 'idle' })).toBe('ABORTED')
  expect(codeOf(api(500), { watchdog: 'idle' })).toBe('TIMEOUT')
})

test('LP-06 the failure holds its own fields only, no prompt, no key, at most 300 characters', () => {
  const error = api(400, `bad key sk-live-1234567890abcdefgh ${'x'.repeat(500)}`, {
    requestBodyValues: { messages: ['the whole prompt'] },
    url: 'https://example.test/?key=hidden-key',
    responseHeaders: { 'x-request-id': 'r1' },
  })
  const failure = classify(error, { secrets: ['hidden-key'], requestId: 'r1' })
  expect(Object.keys(failure).sort()).toEqual(['code', 'message', 'requestId', 'status'])
  expect(failure.message.length).toBeLessThanOrEqual(300)
  expect(JSON.stringify(failure)).not.toMatch(/whole prompt|sk-live|hidden-key/)
  expect(tidy('token=abcd1234 Authorization: Bearer abcdefghijkl', ['abcd1234'])).toBe(
    'token=*** Authorization: Bearer ***',
  )
})

test('the wait a provider asks for: milliseconds, seconds, date', () => {
  const now = () => Date.parse('2026-01-01T00:00:00Z')
  const wait = (headers: { [name: string]: string }) => retryAfterMs(new Headers(headers), now)
  expect(wait({ 'retry-after-ms': '1500', 'retry-after': '9' })).toBe(1500)
  expect(wait({ 'retry-after': '2' })).toBe(2000)
  expect(wait({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' })).toBe(30_000)
  expect(wait({ 'retry-after': 'soon' })).toBeUndefined()
  expect(classify(api(429, 'x', { responseHeaders: { 'retry-after': '3' } })).providerRetryAfterMs).toBe(3000)
})

test('what the error and its body both say stands once in the message', () => {
  const error = Object.assign(new Error('invalid x-api-key'), {
    statusCode: 401,
    data: { error: { type: 'authentication_error', message: 'invalid x-api-key' } },
  })
  expect(classify(error).message).toBe('invalid x-api-key · authentication_error')
})

describe('each wording by itself', () => {
  test.each([
    ['context_length_exceeded', 'CONTEXT_WINDOW_EXCEEDED'],
    ['the context window is full', 'CONTEXT_WINDOW_EXCEEDED'],
    ['maximum prompt size', 'CONTEXT_WINDOW_EXCEEDED'],
    ['too many tokens', 'CONTEXT_WINDOW_EXCEEDED'],
    ['too many input tokens', 'CONTEXT_WINDOW_EXCEEDED'],
    ['prompt is too long', 'CONTEXT_WINDOW_EXCEEDED'],
    ['input too long', 'CONTEXT_WINDOW_EXCEEDED'],
    ["exceeds the model's limit of tokens", 'CONTEXT_WINDOW_EXCEEDED'],
    ['The input token count (5) is over', 'CONTEXT_WINDOW_EXCEEDED'],
    ['insufficient_quota', 'QUOTA'],
    ['Insufficient credit', 'QUOTA'],
    ['insufficient funds', 'QUOTA'],
    ['exceeded your quota', 'QUOTA'],
    ['see billing', 'QUOTA'],
    ['out of credits', 'QUOTA'],
    ['Your credit balance is too low', 'QUOTA'],
    ['overloaded_error', 'SERVER'],
    ['we are over capacity', 'SERVER'],
    ['temporarily unavailable', 'SERVER'],
    ['service unavailable', 'SERVER'],
    ['rate_limit_exceeded', 'RATE_LIMIT'],
    ['ratelimit', 'RATE_LIMIT'],
    ['Too many requests', 'RATE_LIMIT'],
    ['RESOURCE_EXHAUSTED', 'RATE_LIMIT'],
    ['authentication failed', 'AUTH'],
    ['unauthorised', 'AUTH'],
    ['unauthorized', 'AUTH'],
    ['invalid x-api-key', 'AUTH'],
    ['Invalid API key', 'AUTH'],
    ['PERMISSION_DENIED', 'AUTH'],
    ['permission_error', 'AUTH'],
    ['model_not_found', 'UNKNOWN_MODEL'],
    ['not_found_error', 'UNKNOWN_MODEL'],
    ['the model `x` does not exist', 'UNKNOWN_MODEL'],
    ['invalid_request', 'INVALID_REQUEST'],
    ['INVALID_ARGUMENT', 'INVALID_REQUEST'],
    ['bad request', 'INVALID_REQUEST'],
    ['something else', 'SERVER'],
  ])('%s is %s', (message, code) => {
    expect(classify({ message })).toEqual({ code, message })
  })

  test('of several wordings the more telling one decides', () => {
    expect(codeOf({ message: 'invalid request: maximum context length; rate limit' })).toBe('CONTEXT_WINDOW_EXCEEDED')
    expect(codeOf({ message: 'rate limit: out of credits' })).toBe('QUOTA')
    expect(codeOf({ message: 'overloaded, too many requests' })).toBe('SERVER')
    expect(codeOf({ message: 'too many requests: authentication' })).toBe('RATE_LIMIT')
    expect(codeOf({ message: 'authentication: model_not_found' })).toBe('AUTH')
    expect(codeOf({ message: 'bad request: model_not_found' })).toBe('UNKNOWN_MODEL')
  })
})

describe('the order of truth', () => {
  const reset = { cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }) }
  const own = new ModelError({ code: 'EMPTY_RESPONSE', message: 'ours', status: 200 })

  test('stop, deadline, our own refusal, status, socket, names, wording', () => {
    const wrapped = api(429, 'overloaded', { cause: own })
    const signal = AbortSignal.abort()
    expect(classify(wrapped, { signal, watchdog: 'idle' })).toEqual({
      code: 'ABORTED',
      message: 'The call was stopped.',
    })
    expect(classify(wrapped, { watchdog: 'idle' })).toEqual({
      code: 'TIMEOUT',
      message: 'The provider stopped sending in the middle of the answer.',
    })
    expect(classify(wrapped, { watchdog: 'first-byte' }).message).toBe('The provider sent no first byte in time.')
    expect(classify(wrapped)).toEqual({ code: 'EMPTY_RESPONSE', message: 'ours', status: 200 })
    expect(codeOf(api(429, 'overloaded', reset))).toBe('RATE_LIMIT')
    expect(codeOf(Object.assign(new Error('overloaded'), reset))).toBe('TRANSPORT')
    expect(codeOf(Object.assign(new Error('overloaded'), { name: 'AI_JSONParseError' }))).toBe('MALFORMED_RESPONSE')
    expect(codeOf(new Error('overloaded'))).toBe('SERVER')
  })

  test('a signal that is not stopped decides nothing', () => {
    expect(codeOf(api(401), { signal: new AbortController().signal })).toBe('AUTH')
  })

  test('the status of the answer beats the one that the error claims', () => {
    expect(classify(api(500), { httpStatus: 404 })).toMatchObject({ code: 'UNKNOWN_MODEL', status: 404 })
    expect(classify(api(401, 'x'), { httpStatus: 200 })).toEqual({ code: 'AUTH', message: 'x' })
    expect(classify(api(299, 'x'), {})).toEqual({ code: 'UNKNOWN', message: 'x' })
    expect(classify(api(300, 'x'), {})).toMatchObject({ code: 'HTTP_300', status: 300 })
    expect(codeOf(api(600, 'x'))).toBe('UNKNOWN')
    expect(codeOf({ error: { code: 401, message: 'x' } })).toBe('AUTH')
    expect(codeOf({ status: 403, message: 'x' })).toBe('AUTH')
  })

  test.each([
    [499, 'x', 'HTTP_499'],
    [502, 'x', 'SERVER'],
    [404, 'insufficient balance', 'QUOTA'],
    [403, 'billing is not active', 'QUOTA'],
    [413, 'x', 'INVALID_REQUEST'],
    [422, 'prompt is too long', 'CONTEXT_WINDOW_EXCEEDED'],
    [429, 'prompt is too long', 'RATE_LIMIT'],
    [500, 'prompt is too long', 'SERVER'],
  ])('%i with "%s" is %s', (status, message, code) => expect(codeOf(api(status, message))).toBe(code))

  test.each([
    ['AI_LoadAPIKeyError', 'MISSING_CREDENTIAL'],
    ['AI_UnsupportedFunctionalityError', 'UNSUPPORTED_CONTENT'],
    ['AI_InvalidResponseDataError', 'MALFORMED_RESPONSE'],
    ['AI_NoContentGeneratedError', 'MALFORMED_RESPONSE'],
    ['AI_EmptyResponseBodyError', 'MALFORMED_RESPONSE'],
    ['SyntaxError', 'MALFORMED_RESPONSE'],
    ['HTTPParserError', 'MALFORMED_RESPONSE'],
    ['AI_InvalidPromptError', 'INVALID_REQUEST'],
    ['AI_NoSuchModelError', 'INVALID_REQUEST'],
  ])('an error named %s is %s', (name, code) => {
    expect(codeOf(Object.assign(new Error('x'), { name }))).toBe(code)
    expect(codeOf(new Error('outer', { cause: Object.assign(new Error('x'), { name }) }))).toBe(code)
  })

  test.each(['UND_ERR_HEADERS_OVERFLOW', 'HPE_HEADER_OVERFLOW'])('%s tells of headers', (code) => {
    const error = new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) })
    expect(classify(error, { host: 'a.example.com' })).toEqual({
      code: 'MALFORMED_RESPONSE',
      message: expect.stringMatching(/^a\.example\.com answered with more headers than a client reads \(16 KB\)/),
    })
  })

  test('a failed fetch without a reason is the network; a bug is not', () => {
    expect(codeOf(new TypeError('fetch failed'))).toBe('TRANSPORT')
    expect(codeOf(new TypeError('x is not a function'))).toBe('UNKNOWN')
    expect(codeOf(new Error('fetch failed'))).toBe('UNKNOWN')
    expect(classify(undefined)).toEqual({ code: 'SERVER', message: 'SERVER' })
    expect(classify(new Error('<br>'))).toEqual({ code: 'UNKNOWN', message: 'UNKNOWN' })
  })
})

test('what a provider asks to wait stands only where a status stands', () => {
  const headers = new Headers({ 'retry-after': '4' })
  expect(classify(api(503), { headers })).toMatchObject({ providerRetryAfterMs: 4000 })
  expect(classify({ message: 'overloaded' }, { headers, httpStatus: 200 })).not.toHaveProperty('providerRetryAfterMs')
  const wait = (value: string) =>
    retryAfterMs(new Headers({ 'retry-after': value }), () => Date.parse('2026-01-01T00:00:00Z'))
  expect(wait('0')).toBe(0)
  expect(wait(' 1.5 ')).toBe(1500)
  expect(wait('Thu, 01 Jan 2025 00:00:00 GMT')).toBe(0)
  expect(wait('')).toBeUndefined()
  expect(retryAfterMs(new Headers({ 'retry-after-ms': '-5', 'retry-after': '1' }))).toBe(1000)
  expect(retryAfterMs(new Headers({ 'retry-after-ms': 'x' }))).toBeUndefined()
  expect(retryAfterMs(new Headers({ 'retry-after-ms': '0' }))).toBe(0)
  expect(retryAfterMs(undefined)).toBeUndefined()
  expect(
    classify(api(429, 'x', { responseHeaders: { 'retry-after': 'Thu, 01 Jan 2026 00:00:02 GMT' } }), {
      now: () => Date.parse('2026-01-01T00:00:00Z'),
    }).providerRetryAfterMs,
  ).toBe(2000)
})

test('a page under an error status is told by its title', () => {
  const page = (responseBody: string) => classify(api(502, 'Bad Gateway', { responseBody })).message
  expect(page('<!DOCTYPE html><html><head><title>\n Down \n for now</title></head></html>')).toBe(
    'Bad Gateway · an HTML page "Down for now"',
  )
  expect(page('<html><body><h1 class="a">Oops</h1></body></html>')).toBe('Bad Gateway · an HTML page "Oops"')
  expect(page('  <body>nothing</body>')).toBe('Bad Gateway · an HTML page')
  expect(page('plain words')).toBe('Bad Gateway · plain words')
})

test('a message is one line of 300 characters, cut with a mark, and read no further than it must', () => {
  expect(tidy('x'.repeat(300))).toHaveLength(300)
  expect(tidy('x'.repeat(301))).toBe(`${'x'.repeat(299)}…`)
  expect(tidy('a\n b\t<p class="c">d</p>')).toBe('a b d')
  expect(tidy('1 < 2 and 3 > 2')).toBe('1 < 2 and 3 > 2')
  const started = performance.now()
  tidy('<a'.repeat(1_000_000))
  expect(performance.now() - started).toBeLessThan(2000)
})

test.each([
  ['Bearer abcdefgh', 'Bearer ***'],
  ['basic QWxhZGRpbjpvcGVu', 'basic ***'],
  ['Bearer short', 'Bearer short'],
  ['sk-1234567890abcdef', '***'],
  ['AIzaSyA1234567890abcdef', '***'],
  ['gsk_1234567890abcdef12', '***'],
  ['sk-short', 'sk-short'],
  ['task-force-of-many-words', 'task-force-of-many-words'],
])('%s is told as %s', (text, told) => expect(tidy(text)).toBe(told))

test('a secret of a few signs is no secret that could be taken out of words', () => {
  expect(tidy('abc abcd', ['abc'])).toBe('abc abcd')
  expect(tidy('abc abcd', ['abcd'])).toBe('abc ***')
})

test('property: whatever is thrown becomes a failure of ours, without a secret, and never throws', () => {
  const thrown = fc.oneof(
    fc.anything(),
    fc.record({ message: fc.string(), statusCode: fc.integer(), cause: fc.anything(), responseBody: fc.string() }),
    fc.string().map((message) => new Error(message)),
  )
  fc.assert(
    fc.property(thrown, fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined }), (error, httpStatus) => {
      const failure = classify(error, { ...(httpStatus !== undefined && { httpStatus }) })
      expect(failure.message.length).toBeGreaterThan(0)
      expect(failure.message.length).toBeLessThanOrEqual(300)
      if (httpStatus !== undefined && httpStatus >= 300) expect(failure.status).toBe(httpStatus)
      if (httpStatus === 429) expect(['RATE_LIMIT', 'QUOTA']).toContain(failure.code)
    }),
    { numRuns: 500 },
  )
})
