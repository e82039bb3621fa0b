import { expect, test } from 'vitest'
import { sentenceOf, waysOf, wordsOf } from './failures.ts'

const error = (code: string, transport?: 'dns' | 'tls') => ({ code, message: 'm', ...(transport && { transport }) })

test('the kind of a broken connection is told, and every code of the taxonomy has a sentence', () => {
  expect(sentenceOf(error('TRANSPORT', 'dns'))).toBe('error.dns')
  expect(wordsOf(error('TIMEOUT', 'tls'))).toBe('why.tls')
  const codes = [
    'AUTH',
    'QUOTA',
    'RATE_LIMIT',
    'UNKNOWN_MODEL',
    'SERVER',
    'TIMEOUT',
    'TRANSPORT',
    'CONTEXT_WINDOW_EXCEEDED',
    'INVALID_REQUEST',
    'STREAM_CLOSED',
    'MALFORMED_RESPONSE',
    'EMPTY_RESPONSE',
    'MISSING_CREDENTIAL',
    'INVALID_CREDENTIAL',
    'UNSUPPORTED_CONTENT',
    'UNSUPPORTED_REASONING_EFFORT',
    'NO_ADAPTER',
    'CONTENT_FILTER',
    'BUDGET_EXCEEDED',
  ]
  expect(codes.filter((code) => sentenceOf(error(code)) === undefined)).toEqual([])
})

test('a code that nobody knows has no sentence of its own and still a way out', () => {
  expect(sentenceOf(error('HTTP_418'))).toBeUndefined()
  expect(waysOf(error('HTTP_418'))).toContain('again')
})
