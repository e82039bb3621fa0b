import type { StateStore } from '../workspace/state.ts'
import type { RouteEntries } from './route-entry.ts'

const KEY = 'providers'

/** A provider of a person's own as earlier versions kept it in the state table. */
type OldProvider = {
  id: string
  label: string
  wire: 'chat' | 'responses' | 'messages' | 'gemini'
  baseURL: string
  keyless: boolean
  /** Absent: the endpoint is asked for its list. */
  models?: string[]
}

/** Own providers that have not been moved to the settings file yet. */
export class OldProviders {
  readonly #state: StateStore

  constructor(state: StateStore) {
    this.#state = state
  }

  entries(): RouteEntries {
    return Object.fromEntries(
      this.#rows().map(({ id, label, wire, baseURL, keyless, models = [] }) => [
        id,
        {
          label,
          wire,
          baseURL,
          key: keyless ? 'none' : 'stored',
          ...(models.length > 0 && { options: { models } }),
        },
      ]),
    )
  }

  /** Only once they stand in the file. */
  forget(ids: readonly string[]): void {
    if (!this.#rows().some(({ id }) => ids.includes(id))) return
    this.#state.update<OldProvider[]>(KEY, (rows = []) => rows.filter(({ id }) => !ids.includes(id)))
  }

  #rows(): OldProvider[] {
    return (this.#state.get(KEY) as OldProvider[] | undefined) ?? []
  }
}
