import type { ModelView } from '../wire/views.ts'
import type { Route } from '../model/port.ts'
import { modelView } from './model-view.ts'
import { within } from './within.ts'

export interface Listed {
  models: ModelView[]
  problem?: string
  /** Nothing listens at its address. */
  refused?: true
}

/** What each route answered last when it was asked for its models. */
export class ModelLists {
  readonly #limitMs: number
  readonly #changed: () => void
  readonly #listed = new WeakMap<Route, Listed>()
  readonly #asking = new WeakMap<Route, Promise<void>>()
  /** Asked over the network, and only when somebody looks: a host without a tab starts no connection. */
  readonly #waiting = new Set<Route>()

  /** A route that has not answered after `limitMs` is shown without models; a late list is still taken. */
  constructor(limitMs: number, changed: () => void) {
    this.#limitMs = limitMs
    this.#changed = changed
  }

  of(route: Route): Listed {
    return this.#listed.get(route) ?? { models: [] }
  }

  /** Neither asked nor waiting to be. */
  isNew(route: Route): boolean {
    return !this.#listed.has(route) && !this.#asking.has(route) && !this.#waiting.has(route)
  }

  later(route: Route): void {
    this.#waiting.add(route)
  }

  /** Somebody looks: what waited is asked. */
  look(): void {
    for (const route of this.#waiting) void this.ask(route)
  }

  /** The route that took the place of another shows that one's list until it has its own. */
  follow(route: Route, before: Route, discovers: boolean): void {
    const listed = this.#listed.get(before)
    if (listed) this.#listed.set(route, { models: listed.models })
    const waited = this.#waiting.delete(before)
    if (discovers && waited) this.later(route)
    else void this.ask(route)
  }

  /** Never rejects, and ends by itself; whoever asks meanwhile joins. */
  ask(route: Route): Promise<void> {
    this.#waiting.delete(route)
    const running = this.#asking.get(route)
    if (running) return running
    const list = (listed: Listed): void => {
      this.#listed.set(route, listed)
      this.#changed()
    }
    const answer = (async () => {
      try {
        const models = (await route.models()).map(modelView)
        const failure = route.problem?.()
        const refused = failure?.transport === 'refused'
        list({ models, ...(failure && { problem: failure.message }), ...(refused && { refused }) })
      } catch (error) {
        list({ models: [], problem: (error as Error).message })
      }
    })()
    const asking = within(answer, this.#limitMs).then((inTime) => {
      this.#asking.delete(route)
      if (inTime) return
      const { models } = this.of(route)
      list({ models, problem: `${route.label} did not list its models within ${this.#limitMs / 1000} s.` })
    })
    this.#asking.set(route, asking)
    return asking
  }
}
