import type { CallConfig } from '../wire/messages.ts'
import { ModelError, type PreparedCall, type Route } from './port.ts'

/** The model routes of this host, by id, in order of registration. */
export class Routes {
  readonly #routes = new Map<string, Route>()
  readonly #observers = new Set<() => void>()
  #decorate: ((route: Route) => Route) | undefined

  /** Undone by the returned disposer. An id that is taken throws: two adapters under one name would be a silent swap. */
  add(route: Route): () => void {
    if (this.#routes.has(route.id)) throw new Error(`model route "${route.id}" is already registered`)
    this.#routes.set(route.id, route)
    this.#changed()
    return () => {
      if (this.#routes.get(route.id) !== route) return
      this.#routes.delete(route.id)
      this.#changed()
    }
  }

  /** Puts every route, present and to come, behind `decorate` (a recorder, for one). One at a time; undone by the disposer. */
  decorate(decorate: (route: Route) => Route): () => void {
    if (this.#decorate) throw new Error('model routes are already decorated')
    this.#decorate = decorate
    return () => (this.#decorate = undefined)
  }

  get(id: string): Route | undefined {
    const route = this.#routes.get(id)
    return route && this.#decorate ? this.#decorate(route) : route
  }

  list(): Route[] {
    return [...this.#routes.values()]
  }

  /** Called after every registration and removal, until disposed. */
  observe(listener: () => void): () => void {
    this.#observers.add(listener)
    return () => this.#observers.delete(listener)
  }

  /** Binds one call to one generation of its route's configuration (LP-01). Throws ModelError. */
  async prepare(config: CallConfig, signal?: AbortSignal): Promise<PreparedCall> {
    const route = this.get(config.provider)
    if (route) return route.prepare(config, signal)
    const known = this.list().map(({ id }) => id)
    throw new ModelError({
      code: 'NO_ADAPTER',
      message: `No model provider "${config.provider}" is configured (known: ${known.join(', ') || 'none'}). Choose a model or add the provider in Settings > Models.`,
    })
  }

  #changed(): void {
    for (const observer of this.#observers) observer()
  }
}
