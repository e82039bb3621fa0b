/** Identity of a visibility domain. An agent's key is the agent object; a preset generation's key is a plain object. */
export type ScopeKey = object

/** The right to move or undo one child's link to its parent; only its holder can. */
export interface Binding {
  readonly parent: ScopeKey
  /** Throws on a cycle and after `release`. */
  rebind(to: ScopeKey): void
  /** Idempotent; afterwards the child may be bound anew. */
  release(): void
}

/** Who sees whose registrations: each key has at most one parent, and links never form a cycle (P-01). */
export class Scopes {
  // Weak: a link must not keep a closed agent alive.
  #parents = new WeakMap<ScopeKey, ScopeKey>()

  bindParent(child: ScopeKey, parent: ScopeKey): Binding {
    if (this.#parents.has(child)) throw new Error('this scope already has a parent')
    this.#link(child, parent)
    return new Link(parent, {
      move: (to) => this.#link(child, to),
      remove: () => this.#parents.delete(child),
    })
  }

  parentOf(key: ScopeKey): ScopeKey | undefined {
    return this.#parents.get(key)
  }

  /** The key itself first, then its ancestors, near to far. */
  chain(key: ScopeKey): ScopeKey[] {
    const keys = [key]
    for (let parent = this.#parents.get(key); parent; parent = this.#parents.get(parent)) keys.push(parent)
    return keys
  }

  /** True when `ancestor` is `key` or stands above it. */
  covers(ancestor: ScopeKey, key: ScopeKey): boolean {
    for (let at: ScopeKey | undefined = key; at; at = this.#parents.get(at)) if (at === ancestor) return true
    return false
  }

  #link(child: ScopeKey, parent: ScopeKey): void {
    if (this.covers(child, parent)) throw new Error('a scope cannot be its own ancestor')
    this.#parents.set(child, parent)
  }
}

class Link implements Binding {
  #parent: ScopeKey | undefined
  #owner: { move(to: ScopeKey): void; remove(): void }

  constructor(parent: ScopeKey, owner: { move(to: ScopeKey): void; remove(): void }) {
    this.#parent = parent
    this.#owner = owner
  }

  get parent(): ScopeKey {
    if (!this.#parent) throw new Error('this scope binding was released')
    return this.#parent
  }

  rebind(to: ScopeKey): void {
    if (!this.#parent) throw new Error('this scope binding was released')
    this.#owner.move(to)
    this.#parent = to
  }

  release(): void {
    if (!this.#parent) return
    this.#parent = undefined
    this.#owner.remove()
  }
}
