import { readFileSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CoreError } from '../wire/errors.ts'

/** What a request header can carry: printable ASCII without blanks. */
export const KEY_FORMAT = /^[\x21-\x7e]+$/
const ENV = 'env:'

export interface CredentialsOptions {
  /** `<data>/credentials.json`; created on the first `set`, mode 0600. */
  path: string
  /** Copied once: `env:NAME` references read this copy, whatever happens to the process environment later. */
  env?: { readonly [name: string]: string | undefined }
}

/**
 * API keys by reference: the id of a stored secret, or `env:NAME`. Values leave this class for a request and for
 * redaction only; nothing echoes them.
 */
export class Credentials {
  readonly #path: string
  readonly #env: { readonly [name: string]: string | undefined }
  readonly #usedEnv = new Set<string>()
  #writes: Promise<unknown> = Promise.resolve()

  constructor({ path, env = {} }: CredentialsOptions) {
    this.#path = path
    this.#env = { ...env }
  }

  /** Read at call time, so that a new key counts from the next request on. Throws when the file is damaged. */
  async get(ref: string): Promise<string | undefined> {
    return this.#value(ref)
  }

  has(ref: string): boolean {
    return this.#value(ref) !== undefined
  }

  /** Throws CoreError `credential/invalid` for a value that no header can carry. */
  async set(id: string, value: string): Promise<void> {
    if (id === '' || id.startsWith(ENV))
      throw new CoreError('credential/invalid', `"${id}" cannot be stored: environment references are read-only.`)
    if (!KEY_FORMAT.test(value))
      throw new CoreError(
        'credential/invalid',
        'The key holds blanks, line ends or characters that no request can carry. Paste it again.',
      )
    await this.#update((stored) => ({ ...stored, [id]: value }))
  }

  async remove(id: string): Promise<void> {
    await this.#update((stored) => Object.fromEntries(Object.entries(stored).filter(([key]) => key !== id)))
  }

  /** Every value that a log or message must not show: stored ones, and those of environment references in use. */
  secrets(): string[] {
    const fromEnv = [...this.#usedEnv].map((name) => this.#env[name] ?? '')
    return [...Object.values(this.#read()), ...fromEnv].filter((value) => value !== '')
  }

  #value(ref: string): string | undefined {
    if (!ref.startsWith(ENV)) {
      const stored = this.#read()
      return Object.hasOwn(stored, ref) ? stored[ref] : undefined
    }
    const name = ref.slice(ENV.length)
    const value = this.#env[name]
    if (value) this.#usedEnv.add(name)
    return value || undefined
  }

  #read(): { [id: string]: string } {
    let text: string
    try {
      text = readFileSync(this.#path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
      throw error
    }
    return parse(text, this.#path)
  }

  /** One change after the other: two saves at once must not lose a key. */
  #update(change: (stored: { [id: string]: string }) => { [id: string]: string }): Promise<void> {
    const next = this.#writes.then(() => this.#write(change(this.#read())))
    this.#writes = next.catch(() => undefined) // the caller of this write hears of it; later writes still run
    return next
  }

  async #write(stored: { [id: string]: string }): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
    const draft = `${this.#path}.${process.pid}.tmp`
    await rm(draft, { force: true })
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(stored, null, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, this.#path)
  }
}

function parse(text: string, path: string): { [id: string]: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined // reported below, without the text: it may hold half a key
  }
  const valid =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((entry) => typeof entry === 'string')
  if (valid) return value as { [id: string]: string }
  throw new CoreError(
    'credential/invalid',
    `${path} is damaged: it must hold one JSON object of texts. Repair or delete it.`,
  )
}
