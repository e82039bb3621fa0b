import type { StateStore } from '../workspace/state.ts'

const KEY = 'recent-models'
const MOST = 8

type Pick = { provider: string; model: string }

/** What a person picked lately, for the top of the picker. Kept beside the logs: a pick is a fact of its session, this is a convenience. */
export class RecentModels {
  readonly #state: StateStore
  readonly #warn: (message: string) => void

  constructor(state: StateStore, warn: (message: string) => void) {
    this.#state = state
    this.#warn = warn
  }

  list(): Pick[] {
    try {
      return (this.#state.get(KEY) as Pick[] | undefined) ?? []
    } catch {
      return [] // the list of providers must not fail with a convenience; a pick that cannot be kept is warned of
    }
  }

  /** Never throws: a pick stands whether or not it is remembered here. Answers whether the list changed. */
  add({ provider, model }: Pick): boolean {
    try {
      const [first] = this.list()
      if (first?.provider === provider && first.model === model) return false
      this.#state.update<Pick[]>(KEY, (picks = []) => {
        const others = picks.filter((pick) => pick.provider !== provider || pick.model !== model)
        return [{ provider, model }, ...others].slice(0, MOST)
      })
      return true
    } catch (error) {
      this.#warn(`the recent models were not saved: ${(error as Error).message}`)
      return false
    }
  }
}
