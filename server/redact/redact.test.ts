import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Redactor } from './redact.ts'
import { guardStream } from './stderr.ts'

const KEY = 'gsk_live/9f8e+7d=6c'

describe('known values', () => {
  const redactor = new Redactor(() => [KEY, 'short', `${KEY}-longer`])
  test.each([
    `failed with ${KEY}!`,
    JSON.stringify({ key: KEY }),
    `GET /v1?x=${encodeURIComponent(KEY)}`,
    `${KEY}${KEY}`,
    `${KEY}-longer`,
  ])('HS-09 a key goes in every form it is written in: %s', (text) => {
    const shown = redactor.text(text)
    expect(shown).toContain('[redacted]')
    expect(shown).not.toContain(KEY)
    expect(shown).not.toContain(encodeURIComponent(KEY))
    expect(shown).not.toContain('-longer')
  })
  test('a value too short to be a secret blacks nothing out', () => {
    expect(redactor.text('in short')).toBe('in short')
  })
  test('HS-09 whatever the key and the text around it, it is gone', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8 }), fc.string(), fc.string(), (key, before, after) => {
        fc.pre(!'[redacted]'.includes(key))
        expect(new Redactor(() => [key]).text(before + key + after)).not.toContain(key)
      }),
    )
  })
  test('a source that fails costs only its own values', () => {
    const torn = new Redactor(
      () => {
        throw new Error('damaged')
      },
      () => [KEY],
    )
    expect(torn.text(`${KEY} Bearer abcdefghijklmnop`)).toBe('[redacted] Bearer [redacted]')
  })
  test('keys that come later are known from then on', () => {
    const later = new Redactor()
    later.know(() => [KEY])
    expect(later.text(KEY)).toBe('[redacted]')
  })
})

describe('shapes', () => {
  const redactor = new Redactor()
  test.each([
    ['Authorization: Bearer abcdef0123456789', 'Authorization: [redacted]'],
    ['authorization: Basic dXNlcjpwYXNzd29yZA==', 'authorization: [redacted]'],
    ['"authorization":"Bearer abcdef0123456789"', '"authorization":"[redacted]"'],
    ['Cookie: core-web-4173=0123456789abcdef; a=b', 'Cookie: [redacted]'],
    ['set-cookie: sid=0123456789abcdef; HttpOnly; Path=/', 'set-cookie: [redacted]'],
    ["'x-api-key', '0123456789abcdef'", "'x-api-key', '[redacted]'"],
    ['sent Bearer abcdef0123456789 to it', 'sent Bearer [redacted] to it'],
    [
      'sec-websocket-protocol: core-web, bearer.abcdef0123456789',
      'sec-websocket-protocol: core-web, bearer.[redacted]',
    ],
    ['sk-ant-api03-AAAAbbbbCCCCdddd', 'sk-[redacted]'],
    ['GET /x?a=1&token=abc&b=2', 'GET /x?a=1&token=[redacted]&b=2'],
    ['http://localhost:4173/#token=abc', 'http://localhost:4173/#token=[redacted]'],
    ['http://localhost:4173/#code=abc', 'http://localhost:4173/#code=[redacted]'],
  ])('HS-09 %s', (text, shown) => {
    expect(redactor.text(text)).toBe(shown)
    expect(redactor.text(shown)).toBe(shown)
  })
  test.each([
    'type Cookie = string',
    'the authorization failed',
    'cookie: yes',
    'a bearer of news',
    'task-based',
    'sk-8',
  ])('ordinary text stays: %s', (text) => expect(redactor.text(text)).toBe(text))
})

test('HS-09 in a JSON value only texts change, and whole values under the names of headers', () => {
  const redactor = new Redactor(() => [KEY])
  const value = { n: 1, deep: [{ text: `x ${KEY}`, ok: true, none: null }], headers: { Cookie: 'a=b', accept: '*/*' } }
  expect(redactor.value(value)).toEqual({
    n: 1,
    deep: [{ text: 'x [redacted]', ok: true, none: null }],
    headers: { Cookie: '[redacted]', accept: '*/*' },
  })
  expect(redactor.count).toBe(2)
})

test('HS-09 a guarded stream writes texts and bytes redacted, and other bytes as they are', () => {
  const written: (string | Uint8Array)[] = []
  const stream = { write: (chunk: string | Uint8Array) => written.push(chunk) > 0 } as unknown as NodeJS.WriteStream
  const release = guardStream(stream, new Redactor(() => [KEY]))
  stream.write(`a ${KEY}\n`)
  stream.write(Buffer.from([0xff, 0x00, 0xc3, 0xa4]))
  stream.write(Buffer.from(KEY))
  release()
  stream.write(KEY)
  expect(written).toEqual(['a [redacted]\n', Buffer.from([0xff, 0x00, 0xc3, 0xa4]), Buffer.from('[redacted]'), KEY])
})
