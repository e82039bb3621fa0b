import type { ScopeKey, Scopes } from './scope.ts'

/** A hook's shape: `result` is what a waterfall or serial gives back, absent for plain announcements. */
export interface HookShape {
  event: object
  result?: unknown
}

export type Listener<H extends HookShape> = (
  event: H['event'],
  next: () => Promise<NonNullable<H['result']>>,
) => H['result'] | void | Promise<H['result'] | void>

interface Row {
  scope: ScopeKey | null
  fn: Listener<HookShape>
}

/**
 * Scope-aware listeners by hook name. A listener hears its own scope and every scope below; an unscoped one hears all (P-02).
 * Earlier listeners wrap later ones; `prepend` puts one outermost.
 */
export class Listeners<Map_ extends { [K in keyof Map_]: HookShape }> {
  #scopes: Scopes
  #rows = new Map<keyof Map_, Row[]>()
  #report: (error: unknown, hook: string) => void

  /** `report` hears of announcement listeners that threw; their failure reaches nobody else. */
  constructor(scopes: Scopes, report: (error: unknown, hook: string) => void = () => {}) {
    this.#scopes = scopes
    this.#report = report
  }

  on<K extends keyof Map_>(
    scope: ScopeKey | null,
    name: K,
    fn: NoInfer<Listener<Map_[K]>>,
    options: { prepend?: boolean } = {},
  ): () => void {
    const row: Row = { scope, fn: fn as unknown as Listener<HookShape> }
    const rows = this.#rows.get(name) ?? []
    // Replaced, never mutated: a dispatch under way keeps the list it began with.
    this.#rows.set(name, options.prepend ? [row, ...rows] : [...rows, row])
    return () =>
      void this.#rows.set(
        name,
        this.#rows.get(name)!.filter((other) => other !== row),
      )
  }

  has(name: keyof Map_): boolean {
    return Boolean(this.#rows.get(name)?.length)
  }

  /** Each listener wraps `next`; one that never calls it vetoes what lies inside. A second call of `next` throws. */
  async waterfall<K extends keyof Map_>(
    name: K,
    scope: ScopeKey,
    event: Map_[K]['event'],
    inner: () => NonNullable<Map_[K]['result']> | Promise<NonNullable<Map_[K]['result']>>,
  ): Promise<NonNullable<Map_[K]['result']>> {
    const listeners = this.#heard(name, scope)
    if (!listeners.length) return inner()
    const enter = async (index: number): Promise<NonNullable<Map_[K]['result']>> => {
      const listener = listeners[index]
      if (!listener) return inner()
      let entered = false
      const next = () => {
        if (entered) throw new Error(`a listener of ${String(name)} called next twice`)
        entered = true
        return enter(index + 1)
      }
      return (await listener(event, next)) as NonNullable<Map_[K]['result']>
    }
    return enter(0)
  }

  /** Awaits each listener in order; the first value that is not undefined stops the rest and is returned. */
  async serial<K extends keyof Map_>(
    name: K,
    scope: ScopeKey,
    event: Map_[K]['event'],
  ): Promise<Map_[K]['result'] | undefined> {
    for (const listener of this.#heard(name, scope)) {
      const value = await listener(event, noNext)
      if (value !== undefined) return value
    }
    return undefined
  }

  /** Synchronous announcement, not awaited; every listener's failure is contained. */
  emit<K extends keyof Map_>(name: K, scope: ScopeKey, event: Map_[K]['event']): void {
    const rows = this.#rows.get(name)
    if (!rows) return
    for (const row of rows) {
      if (row.scope && !this.#scopes.covers(row.scope, scope)) continue
      try {
        const pending = row.fn(event, noNext)
        if (pending instanceof Promise) pending.catch((error: unknown) => this.#report(error, String(name)))
      } catch (error) {
        this.#report(error, String(name))
      }
    }
  }

  #heard(name: keyof Map_, scope: ScopeKey): Listener<HookShape>[] {
    const rows = this.#rows.get(name) ?? []
    return rows.filter((row) => !row.scope || this.#scopes.covers(row.scope, scope)).map((row) => row.fn)
  }
}

const noNext = (): Promise<never> => Promise.reject(new Error('this hook has no next'))
