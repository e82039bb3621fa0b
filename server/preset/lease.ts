import type { Generation } from './generation.ts'

/** One counted use of a generation. Releasing twice counts once (F-14). */
export interface Lease {
  readonly id: string
  readonly generation: Generation
  release(): Promise<void>
}

/** Every generation that is mounted, and the rule for closing one: retired and unused (F-04). */
export class Generations {
  readonly #live = new Set<Generation>()
  readonly #closing = new Set<Promise<void>>()

  add(generation: Generation): void {
    this.#live.add(generation)
  }

  /** In the order in which they were mounted. */
  list(): Generation[] {
    return [...this.#live]
  }

  lease(generation: Generation): Lease {
    generation.users += 1
    let held = true
    return {
      id: generation.id,
      generation,
      release: () => {
        if (!held) return Promise.resolve()
        held = false
        generation.users -= 1
        return this.#collect(generation)
      },
    }
  }

  retire(generation: Generation): Promise<void> {
    generation.retired = true
    return this.#collect(generation)
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#closing)
  }

  #collect(generation: Generation): Promise<void> {
    if (!generation.retired || generation.users > 0 || !this.#live.delete(generation)) return Promise.resolve()
    const closing = generation.close().finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
    return closing
  }
}
