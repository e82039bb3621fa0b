import type { Binding, ScopeKey, Scopes } from '../scope/scope.ts'
import type { Generation } from './generation.ts'
import type { Lease } from './lease.ts'

interface Join {
  lease: Lease
  binding: Binding
}

// Which registry a scope was joined through; the same scope may meet several hosts in one process.
const owners = new WeakMap<ScopeKey, Joins>()

/** Which scope uses which generation: the parent link and the counted use go together, always. */
export class Joins {
  readonly #scopes: Scopes
  readonly #joins = new WeakMap<ScopeKey, Join>()
  readonly #members = new Map<Generation, Set<ScopeKey>>()

  constructor(scopes: Scopes) {
    this.#scopes = scopes
  }

  of(key: ScopeKey): Generation | undefined {
    return this.#joins.get(key)?.lease.generation
  }

  /** The scopes that use a generation, in the order in which they joined. */
  members(generation: Generation): ScopeKey[] {
    return [...(this.#members.get(generation) ?? [])]
  }

  #enter(key: ScopeKey, join: Join): void {
    this.#forget(key)
    this.#joins.set(key, join)
    const { generation } = join.lease
    const members = this.#members.get(generation) ?? new Set()
    this.#members.set(generation, members.add(key))
  }

  #forget(key: ScopeKey): void {
    const generation = this.of(key)
    if (!generation) return
    this.#joins.delete(key)
    const members = this.#members.get(generation)
    members?.delete(key)
    if (members?.size === 0) this.#members.delete(generation)
  }

  joinedElsewhere(key: ScopeKey): boolean {
    const owner = owners.get(key)
    return owner !== undefined && owner !== this
  }

  /**
   * Takes the lease over and points the scope at its generation. Answers how to undo exactly this step; the replaced
   * generation is released by `commit`. The same generation again changes nothing (D-10).
   */
  move(key: ScopeKey, lease: Lease): { changed: boolean; undo(): Promise<void>; commit(): Promise<void> } {
    const before = this.#joins.get(key)
    if (before?.lease.generation === lease.generation) {
      const release = (): Promise<void> => lease.release()
      return { changed: false, undo: release, commit: release }
    }
    if (!before) {
      const binding = this.#scopes.bindParent(key, lease.generation.key)
      this.#enter(key, { lease, binding })
      owners.set(key, this)
      return { changed: true, undo: () => this.leave(key), commit: () => Promise.resolve() }
    }
    const { binding } = before
    binding.rebind(lease.generation.key)
    this.#enter(key, { lease, binding })
    return {
      changed: true,
      undo: () => {
        binding.rebind(before.lease.generation.key)
        this.#enter(key, before)
        return lease.release()
      },
      commit: () => before.lease.release(),
    }
  }

  /** Joins a child to the very generation of its parent; undefined, and nothing done, when the parent has none. */
  inherit(child: ScopeKey, parent: ScopeKey, lease: (generation: Generation) => Lease): Generation | undefined {
    if (this.of(child) || this.joinedElsewhere(child)) throw new Error('this scope already uses a preset')
    if (this.joinedElsewhere(parent)) throw new Error('the revision of the parent is unavailable in this registry')
    const generation = this.of(parent)
    if (!generation) return undefined
    const taken = lease(generation)
    try {
      this.move(child, taken)
    } catch (error) {
      void taken.release()
      throw error
    }
    return generation
  }

  /** Unlinks the scope and gives up its use; idempotent. */
  leave(key: ScopeKey): Promise<void> {
    const join = this.#joins.get(key)
    if (!join) return Promise.resolve()
    this.#forget(key)
    owners.delete(key)
    join.binding.release()
    return join.lease.release()
  }
}
