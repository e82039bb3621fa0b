import { CoreError } from '../wire/errors.ts'
import type { ProviderView } from '../wire/views.ts'
import { KEY_FORMAT, type Credentials } from '../credential/credentials.ts'
import type { ProviderConfig } from '../model/adapters/config.ts'
import type { StateStore } from '../workspace/state.ts'

const DATES = 'key-dates'
/** Shorter secrets are words of their own. */
const TELLING = 8

type Dates = { [provider: string]: number }

/** The keys of providers, and since when they are stored. Dates stand beside the file of keys, so that this stays a plain list of secrets. */
export class ProviderKeys {
  readonly #credentials: Credentials
  readonly #state: StateStore
  readonly #now: () => number

  constructor(credentials: Credentials, state: StateStore, now: () => number = Date.now) {
    this.#credentials = credentials
    this.#state = state
    this.#now = now
  }

  /** Throws CoreError `credential/invalid`, which does not repeat the key. */
  async set(provider: string, key: string): Promise<void> {
    if (!KEY_FORMAT.test(key))
      throw new CoreError(
        'credential/invalid',
        'The key holds blanks or characters that no HTTP header can carry. Paste it again without line ends.',
        { provider },
      )
    await this.#credentials.set(provider, key)
    this.#date(provider, this.#now())
  }

  async remove(provider: string): Promise<void> {
    await this.#credentials.remove(provider)
    this.#date(provider, undefined)
  }

  /** Throws when the file of keys is damaged. */
  view(provider: string, config: ProviderConfig | undefined): Pick<ProviderView, 'key' | 'keyStored'> {
    if (config && !config.apiKeyRef) return { key: 'none-needed' }
    if (this.#credentials.has(provider)) {
      const dates = (this.#state.get(DATES) as Dates | undefined) ?? {}
      return { key: 'stored', ...(Object.hasOwn(dates, provider) && { keyStored: dates[provider]! }) }
    }
    return { key: config?.apiKeyRef && this.#credentials.has(config.apiKeyRef) ? 'environment' : 'missing' }
  }

  /** A stored key has no business in a file that is shown and shared. */
  occursIn(value: unknown): boolean {
    const text = JSON.stringify(value)
    return this.#secrets().some((secret) => text.includes(JSON.stringify(secret).slice(1, -1)))
  }

  #secrets(): string[] {
    try {
      return this.#credentials.secrets().filter((secret) => secret.length >= TELLING)
    } catch {
      return [] // a damaged file of keys is told in the rows
    }
  }

  #date(provider: string, at: number | undefined): void {
    this.#state.update<Dates>(DATES, (dates = {}) => {
      const { [provider]: _old, ...others } = dates
      return at === undefined ? others : { ...others, [provider]: at }
    })
  }
}
