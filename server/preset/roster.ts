import { diagnose, problemOf, unassembled } from './diagnosis.ts'
import { notFound } from './errors.ts'
import { mountFailure, mountGeneration } from './generation.ts'
import { withPlaces } from './place.ts'
import { shapeProblem } from './rows.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { Declaration, DeclaringRow } from './declaration.ts'
import type { Generation } from './generation.ts'
import type { Generations } from './lease.ts'
import type { Numbers } from './numbers.ts'

/** A declared preset as lists show it; `broken` is absent on a usable one (E-07). */
export interface RosterRow {
  id: string
  name?: string
  description?: string
  order?: number
  broken?: string
}

export interface RosterOptions {
  ctx: Context
  generations: Generations
  defaultId(): string
  warn(message: string): void
  numbers: Numbers
  /** A dry assembly: a preset that cannot even be assembled is broken before anybody chooses it. */
  assemble(generation: Generation): Promise<unknown>
  /** Called once per tick in which something about the roster moved. */
  changed(): void
  /** How long a reader waits for a preset whose services are still coming. Default 5000. */
  diagnosisDeadlineMs?: number
  /** How long a mount or a close may take before it counts as hanging. Default 10000. */
  mountDeadlineMs?: number
}

type Mounted = { kind: 'mounting' } | { kind: 'broken'; reason: string } | { kind: 'mounted'; generation: Generation }

export interface Declared {
  declaration: Declaration
  row: DeclaringRow
  state: Mounted
  first: Promise<void>
  gone: PromiseWithResolvers<void>
}

/** Retired preset ids, read on request and named in a warning. */
const ALIASES: Readonly<Record<string, string>> = { code: 'ptc' }

const aliasNotice = (old: string, id: string): string => `the preset id ${old} is retired, write ${id}`

/** The declared presets by id, and what became of mounting each. */
export class Roster {
  readonly #options: RosterOptions
  readonly #table = new Map<string, Declared>()
  /** Retired ids that somebody asked for. */
  readonly #aliased = new Set<string>()
  #noted = false

  constructor(options: RosterOptions) {
    this.#options = options
  }

  /**
   * Declares a preset and mounts it before resolving (B-12). A preset that cannot be mounted is declared as broken; only
   * a live duplicate id rejects. The answer withdraws exactly this declaration; agents that use it keep it.
   */
  async register(declaration: Declaration, row: DeclaringRow): Promise<() => Promise<void>> {
    if (this.#table.has(declaration.id)) throw new Error(`the preset ${declaration.id} is already declared`)
    const declared = this.#declare(declaration, row)
    this.#table.set(declaration.id, declared)
    await declared.first
    return () => this.#withdraw(declared)
  }

  /** Puts a new declaration in the place of a live one without a moment in which the id is unknown. */
  async replace(declaration: Declaration, row: DeclaringRow): Promise<() => Promise<void>> {
    const next = this.#declare(declaration, row)
    await next.first
    const before = this.#table.get(declaration.id)
    this.#table.set(declaration.id, next)
    if (before) await this.#retire(before)
    this.note()
    return () => this.#withdraw(next)
  }

  /** Current declarations, by `order`, then id; answers at once (G-01). */
  list(): RosterRow[] {
    const rank = ({ declaration }: Declared): number => declaration.order ?? Number.POSITIVE_INFINITY
    const compare = (a: Declared, b: Declared): number =>
      rank(a) === rank(b) ? (a.declaration.id < b.declaration.id ? -1 : 1) : rank(a) < rank(b) ? -1 : 1
    return [...this.#table.values()].toSorted(compare).map((declared) => {
      const { id, name, description, order } = declared.declaration
      const broken = this.#brokenNow(declared)
      return {
        id,
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(order !== undefined && { order }),
        ...(broken !== undefined && { broken }),
      }
    })
  }

  /** The number of the newest generation; 0 before the first. */
  generationOf(id: string): number {
    return this.#options.numbers.current(id)
  }

  /** The id that a retired one stands for now, when that one is declared. */
  canonical(id: string): string {
    const renamed = ALIASES[id]
    return renamed !== undefined && !this.#table.has(id) && this.#table.has(renamed) ? renamed : id
  }

  /** What is said of the retired ids that were used for this preset. */
  aliasNotices(id: string): string[] {
    return [...this.#aliased].filter((old) => ALIASES[old] === id).map((old) => aliasNotice(old, id))
  }

  /** Resolves when every declaration has mounted or failed and every collected generation is closed. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#table.values()].map(({ first }) => first))
    await this.#options.generations.settled()
  }

  #declare(declaration: Declaration, row: DeclaringRow): Declared {
    const declared: Declared = {
      declaration,
      row,
      state: { kind: 'mounting' },
      first: Promise.resolve(),
      gone: Promise.withResolvers(),
    }
    declared.first = this.#mount(declared, row)
    return declared
  }

  async #mount(declared: Declared, row: DeclaringRow): Promise<void> {
    const { declaration } = declared
    const problem = shapeProblem(declaration.plugins)
    const state: Mounted =
      problem === undefined ? await this.#mountSound(declaration, row) : { kind: 'broken', reason: problem }
    declared.state = state.kind === 'broken' ? { ...state, reason: withPlaces(row.entry, state.reason) } : state
    if (declared.state.kind === 'broken')
      this.#options.warn(`preset ${declaration.id} is broken: ${declared.state.reason}`)
    this.note()
  }

  async #mountSound(declaration: Declaration, row: DeclaringRow): Promise<Mounted> {
    const { ctx, mountDeadlineMs = 10_000 } = this.#options
    try {
      const generation = await mountGeneration(ctx, row, declaration, mountDeadlineMs)
      const failure = mountFailure(generation)
      if (failure !== undefined) {
        await generation.close()
        return { kind: 'broken', reason: failure }
      }
      const problem = problemOf(generation) === undefined ? await this.#assemblyProblem(generation) : undefined
      if (problem !== undefined) {
        await generation.close()
        return { kind: 'broken', reason: problem }
      }
      generation.number = this.#options.numbers.take(declaration.id, generation.digest)
      this.#options.generations.add(generation)
      return { kind: 'mounted', generation }
    } catch (error) {
      return { kind: 'broken', reason: error instanceof Error ? error.message : String(error) }
    }
  }

  async #assemblyProblem(generation: Generation): Promise<string | undefined> {
    try {
      await this.#options.assemble(generation)
      return undefined
    } catch (error) {
      return unassembled(error)
    }
  }

  async #withdraw(declared: Declared): Promise<void> {
    const { id } = declared.declaration
    // A disposer that outlived its declaration must not take a later one of the same id (F-17).
    if (this.#table.get(id) === declared) this.#table.delete(id)
    await this.#retire(declared)
    this.note()
  }

  async #retire(declared: Declared): Promise<void> {
    declared.gone.resolve()
    await declared.first
    if (declared.state.kind === 'mounted') await this.#options.generations.retire(declared.state.generation)
  }

  /** Throws `agent-preset/not-found`; a retired id finds its successor. */
  find(id: string): Declared {
    const declared = this.#table.get(id)
    if (declared) return declared
    const successor = this.canonical(id)
    const renamed = successor === id ? undefined : this.#table.get(successor)
    if (!renamed)
      throw notFound(
        id,
        this.list().map((row) => row.id),
      )
    if (!this.#aliased.has(id)) {
      this.#aliased.add(id)
      this.#options.warn(aliasNotice(id, successor))
      this.note()
    }
    return renamed
  }

  /** Finds a preset (the default without an id) and waits until its diagnosis is final (E-09). */
  async diagnosed(
    id: string | undefined,
    caller: string | undefined,
  ): Promise<{ declared: Declared; broken?: string }> {
    const wanted = id ?? this.#options.defaultId()
    for (;;) {
      const declared = this.find(wanted)
      await declared.first
      if (this.find(wanted) !== declared) continue
      const { state } = declared
      if (state.kind === 'mounting') continue
      if (state.kind === 'broken') return { declared, broken: state.reason }
      const { ctx, diagnosisDeadlineMs = 5000 } = this.#options
      const { generation } = state
      const broken = await diagnose({
        ctx,
        generation,
        caller,
        gone: declared.gone.promise,
        deadlineMs: diagnosisDeadlineMs,
      })
      // Replaced or withdrawn meanwhile: the answer is about something that nobody can get any more (C-11).
      if (this.find(wanted) !== declared) continue
      return { declared, ...(broken !== undefined && { broken }) }
    }
  }

  #brokenNow({ state }: Declared): string | undefined {
    if (state.kind === 'mounting') return 'still starting'
    return state.kind === 'broken' ? state.reason : problemOf(state.generation)
  }

  /** Several rows move in one tick; observers hear once. */
  note(): void {
    if (this.#noted) return
    this.#noted = true
    queueMicrotask(() => {
      this.#noted = false
      this.#options.changed()
    })
  }
}
