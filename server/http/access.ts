import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmodSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const TOKEN = /^[0-9a-f]{64}$/
/** What a person may set by CORE_WEB_TOKEN: as hard to guess as 128 bits of hex at least. */
const GIVEN = /^[\x21-\x7e]{32,256}$/

type Random = (size: number) => Buffer

/**
 * The access token of a data folder: the one given by environment, else the one in the file `token`, else a new one (256
 * bits, hex, mode 0600). Two servers that start at once agree on one. Throws when the given one is too weak.
 */
export function accessToken(dataDir: string, given?: string, random: Random = randomBytes): string {
  if (given !== undefined && given !== '') {
    if (GIVEN.test(given)) return given
    throw new Error(
      'CORE_WEB_TOKEN must be 32 to 256 printable characters without blanks. `openssl rand -hex 32` makes one.',
    )
  }
  const file = join(dataDir, 'token')
  const known = storedToken(dataDir)
  if (known !== undefined) return known
  const draft = `${file}.${process.pid}.${random(4).toString('hex')}.tmp`
  const token = random(32).toString('hex')
  writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, file)
    return token
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const other = storedToken(dataDir)
    if (other !== undefined) return other
    // What is there is no token: damaged, or from elsewhere.
    renameSync(draft, file)
    return token
  } finally {
    rmSync(draft, { force: true })
  }
}

/** The token in the file, which only its owner may read from now on; undefined when there is none or it is damaged. */
export function storedToken(dataDir: string): string | undefined {
  const file = join(dataDir, 'token')
  try {
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
    const text = readFileSync(file, 'utf8').trim()
    return TOKEN.test(text) ? text : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The cookie proves the token without being it, so a leaked cookie jar does not open API clients. */
export const cookieValue = (token: string): string => createHash('sha256').update(`cookie:${token}`).digest('hex')

export function sameSecret(given: string, expected: string): boolean {
  const a = createHash('sha256').update(given).digest()
  const b = createHash('sha256').update(expected).digest()
  return timingSafeEqual(a, b)
}

/**
 * A server's answer to a question of whoever holds the same token: it holds it too, and it is the one that listens there
 * (`place`: port or socket), not somebody who passes the question on.
 */
export const proofOf = (token: string, nonce: string, place: string): string =>
  createHmac('sha256', token).update(`core-web\n${place}\n${nonce}`).digest('hex')

/** Milliseconds for which a login link works. */
export const LINK_MS = 15 * 60_000
/** Links that wait to be used; a further one ends the oldest. */
const MAX_LINKS = 16

/** One-time codes: what a printed link carries instead of the token. They are kept as digests, in memory only. */
export class LoginCodes {
  readonly #random: Random
  readonly #now: () => number
  /** Digest of the code to the time at which it ends, in the order of making. */
  readonly #open = new Map<string, number>()

  constructor(now: () => number = Date.now, random: Random = randomBytes) {
    this.#now = now
    this.#random = random
  }

  make(): string {
    const code = this.#random(18).toString('base64url')
    this.#open.set(digest(code), this.#now() + LINK_MS)
    for (const key of this.#open.keys()) {
      if (this.#open.size <= MAX_LINKS) break
      this.#open.delete(key)
    }
    return code
  }

  /** True once for each code, within its time. */
  redeem(code: string): boolean {
    const key = digest(code)
    const until = this.#open.get(key)
    this.#open.delete(key)
    return until !== undefined && this.#now() < until
  }
}

const digest = (code: string): string => createHash('sha256').update(code).digest('base64')
