import { chmodSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LINK_MS, LoginCodes, accessToken, proofOf, storedToken } from './access.ts'

const folder = () => mkdtempSync(join(tmpdir(), 'access-'))

describe('the token', () => {
  test('HS-04 is made once, 256 bits, readable by its owner only, and made anew when damaged', () => {
    const dir = folder()
    const token = accessToken(dir)
    expect(token).toMatch(/^[0-9a-f]{64}$/)
    expect(accessToken(dir)).toBe(token)
    expect(statSync(join(dir, 'token')).mode & 0o777).toBe(0o600)
    writeFileSync(join(dir, 'token'), 'short')
    const next = accessToken(dir)
    expect(next).toMatch(/^[0-9a-f]{64}$/)
    expect(next).not.toBe(token)
    expect(storedToken(dir)).toBe(next)
    expect(readdirSync(dir)).toEqual(['token'])
  })

  test('a file that others could read is closed', () => {
    const dir = folder()
    const token = accessToken(dir)
    chmodSync(join(dir, 'token'), 0o644)
    expect(accessToken(dir)).toBe(token)
    expect(statSync(join(dir, 'token')).mode & 0o777).toBe(0o600)
  })

  test('HS-17 two servers that start at once on one folder agree on one token', () => {
    const dir = folder()
    let other = ''
    // The other one gets in between looking and writing.
    const token = accessToken(dir, undefined, (size) => {
      if (size === 32) other ||= accessToken(dir)
      return Buffer.alloc(size, 7)
    })
    expect(token).toBe(other)
    expect(readFileSync(join(dir, 'token'), 'utf8').trim()).toBe(other)
    expect(readdirSync(dir)).toEqual(['token'])
  })

  test('one that is given by environment is taken, kept off the disk, and refused when it is weak', () => {
    const dir = folder()
    expect(accessToken(dir, 'x'.repeat(32))).toBe('x'.repeat(32))
    expect(readdirSync(dir)).toEqual([])
    for (const weak of ['short', 'with blanks '.repeat(4), 'x'.repeat(257)])
      expect(() => accessToken(dir, weak), weak).toThrow('CORE_WEB_TOKEN must be')
  })
})

describe('codes of login links', () => {
  test('HS-05 a code works once', () => {
    const codes = new LoginCodes()
    const code = codes.make()
    expect(code).toMatch(/^[\w-]{24}$/)
    expect([codes.redeem(code), codes.redeem(code)]).toEqual([true, false])
    expect(codes.redeem('')).toBe(false)
  })

  test('HS-05 a code ends after a quarter of an hour', () => {
    let now = 0
    const codes = new LoginCodes(() => now)
    const [early, late] = [codes.make(), codes.make()]
    now = LINK_MS - 1
    expect(codes.redeem(early)).toBe(true)
    now = LINK_MS
    expect(codes.redeem(late)).toBe(false)
  })

  test('unused codes do not heap up: the oldest goes', () => {
    const codes = new LoginCodes()
    const made = Array.from({ length: 17 }, () => codes.make())
    expect(made.map((code) => codes.redeem(code))).toEqual([false, ...Array<boolean>(16).fill(true)])
  })
})

test('a proof holds for one token, one question and one place', () => {
  const proof = proofOf('token', 'nonce', '4173')
  expect(proof).toMatch(/^[0-9a-f]{64}$/)
  const others = [
    proofOf('other', 'nonce', '4173'),
    proofOf('token', 'other', '4173'),
    proofOf('token', 'nonce', '4174'),
  ]
  for (const other of others) expect(other).not.toBe(proof)
})
