import type { GlobalState, SessionRow } from '../wire/views.ts'

/** Host-wide frames that a congested tab did not get, added up: the last row of each session, the last value of each fact. */
export class Missed {
  readonly #rows = new Map<string, SessionRow>()
  readonly #removed = new Set<string>()
  #global: Partial<GlobalState> | undefined

  rows(rows: readonly SessionRow[], removed: readonly string[]): void {
    for (const row of rows) {
      this.#rows.set(row.id, row)
      this.#removed.delete(row.id)
    }
    for (const id of removed) {
      this.#rows.delete(id)
      this.#removed.add(id)
    }
  }

  global(part: Partial<GlobalState>): void {
    this.#global = { ...this.#global, ...part }
  }

  frames(): string[] {
    const rows = { t: 'sessions', rows: [...this.#rows.values()], removed: [...this.#removed] }
    return [
      ...(this.#global ? [JSON.stringify({ t: 'global', ...this.#global })] : []),
      ...(rows.rows.length + rows.removed.length > 0 ? [JSON.stringify(rows)] : []),
    ]
  }
}
