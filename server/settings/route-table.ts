import { isDeepStrictEqual } from 'node:util'
import type { ProviderSettings } from '../wire/models.ts'
import type { ProviderConfig } from '../model/adapters/config.ts'
import type { Route } from '../model/port.ts'
import type { Routes } from '../model/routes.ts'
import { entryOf, parseEntry, shippedSettings, type RouteEntries } from './route-entry.ts'

/** One configured provider. Without `config` nothing serves it: its entry has been broken since the start. */
export interface Managed {
  id: string
  label: string
  own: boolean
  changed: boolean
  /** Why the entry of the settings file does not count; what served before goes on. */
  problem?: string
  settings?: ProviderSettings
  config?: ProviderConfig
  /** As it would be without the options of the settings. */
  plain?: ProviderConfig
  route?: Route
}

export interface RouteTableOptions {
  routes: Routes
  shipped: readonly ProviderConfig[]
  /** Where the entries stand, for messages. */
  file: string
  toConfig(settings: ProviderSettings, base?: ProviderConfig): ProviderConfig
  makeRoute(config: ProviderConfig): Route
  warn(message: string): void
}

/** The routes that the settings speak of, kept equal to the settings: what did not change is not touched. */
export class RouteTable {
  readonly #options: RouteTableOptions
  readonly #held = new Map<string, Managed & { dispose?: () => void }>()
  readonly #warned = new Set<string>()

  constructor(options: RouteTableOptions) {
    this.#options = options
  }

  /** Shipped providers first, then own ones in the order of the file. */
  list(): Managed[] {
    return [...this.#held.values()]
  }

  get(id: string): Managed | undefined {
    return this.#held.get(id)
  }

  base(id: string): ProviderConfig | undefined {
    return this.#options.shipped.find((config) => config.id === id)
  }

  /** True for an id that somebody else registered: a demo, a replay, a plugin. */
  isForeign(id: string): boolean {
    if (id === 'demo' || id === 'replay') return true
    const route = this.#options.routes.list().find((candidate) => candidate.id === id)
    return route !== undefined && route !== this.#held.get(id)?.route
  }

  /** Takes over the entries; answers the routes that are new, each with the one that it replaces. */
  apply(entries: RouteEntries): { route: Route; before: Route | undefined }[] {
    const shipped = this.#options.shipped.map(({ id }) => id)
    const wanted = [...shipped, ...Object.keys(entries).filter((id) => !shipped.includes(id))]
    for (const [id, held] of this.#held) {
      if (wanted.includes(id)) continue
      held.dispose?.()
      this.#held.delete(id)
    }
    const made: { route: Route; before: Route | undefined }[] = []
    const order = new Map<string, Managed & { dispose?: () => void }>()
    for (const id of wanted) {
      const before = this.#held.get(id)?.route
      const next = this.#one(id, entries)
      if (!next) continue
      order.set(id, next)
      if (next.route && next.route !== before) made.push({ route: next.route, before })
    }
    this.#held.clear()
    for (const [id, held] of order) this.#held.set(id, held)
    return made
  }

  #one(id: string, entries: RouteEntries): (Managed & { dispose?: () => void }) | undefined {
    const base = this.base(id)
    const held = this.#held.get(id)
    if (this.isForeign(id)) return this.#leftOut(id, 'its id belongs to another provider')
    const written = Object.hasOwn(entries, id)
    const parsed = written ? parseEntry(id, entries[id], base) : { settings: shippedSettings(base!) }
    const own = base === undefined
    if ('settings' in parsed) {
      const { settings } = parsed
      return this.#serve({
        id,
        label: settings.label,
        own,
        changed: base ? entryOf(settings, base) !== undefined : false,
        settings,
      })
    }
    const { key, message } = parsed.fault
    const problem = `${this.#options.file}: ${['routes', id, key].filter(Boolean).join('.')}: ${message}`
    // The last good one of this run goes on; at the start, a shipped provider is as it ships.
    const settings = held?.settings ?? (base && shippedSettings(base))
    return this.#serve({ id, label: settings?.label ?? id, own, changed: !own, problem, ...(settings && { settings }) })
  }

  #serve(managed: Managed): (Managed & { dispose?: () => void }) | undefined {
    const { id, settings } = managed
    if (!settings) return managed
    const held = this.#held.get(id)
    const { routes, toConfig, makeRoute } = this.#options
    try {
      const base = this.base(id)
      const config = toConfig(settings, base)
      const configured = { ...managed, config, plain: toConfig({ ...settings, options: {} }, base) }
      if (held?.route && isDeepStrictEqual(held.config, config))
        return { ...configured, route: held.route, ...(held.dispose && { dispose: held.dispose }) }
      const route = makeRoute(config)
      // A call that runs is bound to the route it began with; only later ones meet the new one.
      held?.dispose?.()
      return { ...configured, route, dispose: routes.add(route) }
    } catch (error) {
      // One provider that cannot be made must not take the others, or the server, with it.
      const problem = (error as Error).message
      const { settings: _unusable, ...row } = managed
      return held ? { ...held, problem } : { ...row, problem }
    }
  }

  #leftOut(id: string, why: string): undefined {
    const message = `the provider ${id} is left out: ${why}`
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    this.#options.warn(message)
  }
}
