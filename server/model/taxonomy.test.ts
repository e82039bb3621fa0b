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
