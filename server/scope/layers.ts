import type { ScopeKey, Scopes } from './scope.ts'

/** One registration and the layer it stands in (`null` = global). */
export interface Entry<T> {
  name: string
  value: T
  scope: ScopeKey | null
}

/** What one scope sees: named entries nearest first won, entries that lost to a nearer one, and all nameless ones. */
export interface View<T> {
  named: Map<string, Entry<T>>
  shadowed: Entry<T>[]
  anonymous: T[]
}

export type ChangeObserver = (scope: ScopeKey | null) => void

interface Layer<T> {
  named: Map<string, Entry<T>>
  anonymous: Set<{ value: T }>
}

/** Registrations by scope: names shadow along the parent chain, nameless contributions merge (P-02, P-03). */
export class Layers<T> {
  #scopes: Scopes
  #label: string
  #global: Layer<T> = { named: new Map(), anonymous: new Set() }
  #layers = new WeakMap<ScopeKey, Layer<T>>()
  #observers = new Set<ChangeObserver>()
  #report: (error: unknown) => void

  /** `label` names the kind in errors; `report` hears of observers that threw where nothing can be rolled back. */
  constructor(scopes: Scopes, label: string, report: (error: unknown) => void = () => {}) {
    this.#scopes = scopes
    this.#label = label
    this.#report = report
  }

  /** Throws on a name taken in the same layer, and when an observer refuses; both leave nothing behind (P-04). */
  add(scope: ScopeKey | null, name: string, value: T): () => void {
    const { named } = this.#layer(scope)
    if (named.has(name)) throw new Error(`${this.#label} "${name}" is already registered in this scope`)
    const entry = { name, value, scope }
    return this.#enter(
      scope,
      () => named.set(name, entry),
      () => named.get(name) === entry && named.delete(name),
    )
  }

  addAnonymous(scope: ScopeKey | null, value: T): () => void {
    const { anonymous } = this.#layer(scope)
    const entry = { value }
    return this.#enter(
      scope,
      () => anonymous.add(entry),
      () => anonymous.delete(entry),
    )
  }

  view(scope: ScopeKey | null): View<T> {
    const view: View<T> = { named: new Map(), shadowed: [], anonymous: [] }
    for (const key of scope ? this.#scopes.chain(scope) : []) collect(view, this.#layers.get(key))
    collect(view, this.#global)
    return view
  }

  /** `observer` runs after every change with the layer that changed; one that throws vetoes a registration. */
  observe(observer: ChangeObserver): () => void {
    this.#observers.add(observer)
    return () => this.#observers.delete(observer)
  }

  /** Tells observers that what `scope` sees has changed without a registration: its parent link moved. Contains throws (H-10). */
  changed(scope: ScopeKey | null): void {
    for (const observer of this.#observers) this.#contained(observer, scope)
  }

  #enter(scope: ScopeKey | null, add: () => unknown, remove: () => boolean): () => void {
    add()
    const told: ChangeObserver[] = []
    try {
      for (const observer of this.#observers) {
        told.push(observer)
        observer(scope)
      }
    } catch (error) {
      remove()
      for (const observer of told.slice(0, -1)) this.#contained(observer, scope)
      throw error
    }
    return () => {
      if (remove()) this.changed(scope)
    }
  }

  #contained(observer: ChangeObserver, scope: ScopeKey | null): void {
    try {
      observer(scope)
    } catch (error) {
      this.#report(error)
    }
  }

  #layer(scope: ScopeKey | null): Layer<T> {
    if (!scope) return this.#global
    const known = this.#layers.get(scope)
    if (known) return known
    const layer: Layer<T> = { named: new Map(), anonymous: new Set() }
    this.#layers.set(scope, layer)
    return layer
  }
}

function collect<T>(view: View<T>, layer: Layer<T> | undefined): void {
  if (!layer) return
  for (const entry of layer.named.values()) {
    if (view.named.has(entry.name)) view.shadowed.push(entry)
    else view.named.set(entry.name, entry)
  }
  for (const { value } of layer.anonymous) view.anonymous.push(value)
}

/** Order by code unit, the same on every machine and locale. */
export const byCodeUnit = (a: string, b: string): number => {
  if (a === b) return 0
  return a < b ? -1 : 1
}
