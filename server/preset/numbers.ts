/** Keeps the last number of each preset over restarts. */
export interface NumberBook {
  last(preset: string): { generation: number; digest: string } | undefined
  keep(preset: string, last: { generation: number; digest: string }): void
}

/** A book that lasts as long as the process. */
export function memoryBook(): NumberBook {
  const entries = new Map<string, { generation: number; digest: string }>()
  return { last: (preset) => entries.get(preset), keep: (preset, last) => void entries.set(preset, last) }
}

/**
 * Numbers the generations of each preset. A restart under an unchanged declaration is the same generation to a person and
 * keeps its number; every other mount gets the next one.
 */
export class Numbers {
  readonly #book: NumberBook
  readonly #current = new Map<string, number>()

  constructor(book: NumberBook) {
    this.#book = book
  }

  /** The number of a generation that was just mounted. */
  take(preset: string, digest: string): number {
    const last = this.#book.last(preset)
    const again = !this.#current.has(preset) && last?.digest === digest
    const generation = again ? last.generation : (last?.generation ?? 0) + 1
    this.#current.set(preset, generation)
    if (!again) this.#book.keep(preset, { generation, digest })
    return generation
  }

  /** The newest of this run; 0 before the first. */
  current(preset: string): number {
    return this.#current.get(preset) ?? 0
  }
}
