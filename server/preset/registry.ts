import { CoreError } from '../wire/errors.ts'
import { documentOf, inventoryOfDeclaration, inventoryOfTree } from './document.ts'
import { invalid } from './errors.ts'
import { Joins } from './joins.ts'
import { compositionOf, conditionOf, refOf, tryOut } from './inspection.ts'
import { privateServices, serviceIn, within } from './leaks.ts'
import { Generations } from './lease.ts'
import { Numbers, memoryBook } from './numbers.ts'
import { Roster } from './roster.ts'
import { Selections } from './select.ts'
import type { ScopeKey } from '../scope/scope.ts'
import type { DryRun, GenerationRef } from '../wire/presets.ts'
import type { Declaration, DeclaringRow } from './declaration.ts'
import type { DeclaredDocument, InventoryRow } from './document.ts'
import type { Generation } from './generation.ts'
import type { Composition, Condition, GenerationInfo, Trial } from './inspection.ts'
import type { Lease } from './lease.ts'
import type { PresetChange, RegistryOptions } from './registry-options.ts'
import type { RosterRow } from './roster.ts'
import type { SelectableAgent } from './select.ts'

/** The declared presets of one host, their mounted generations, and which scope uses which. */
export class PresetRegistry {
  readonly #options: RegistryOptions
  readonly #roster: Roster
  readonly #generations = new Generations()
  readonly #joins: Joins
  readonly #selections: Selections
  readonly #observers = new Set<(change: PresetChange) => void>()

  constructor(options: RegistryOptions) {
    this.#options = options
    this.#joins = new Joins(options.scopes)
    this.#selections = new Selections({
      joins: this.#joins,
      retain: (id, caller) => this.retain(id, caller),
      notify: (change) => this.#notify(change),
    })
    const { ctx, diagnosisDeadlineMs, mountDeadlineMs } = options
    this.#roster = new Roster({
      ctx,
      generations: this.#generations,
      defaultId: () => this.defaultId(),
      warn: (message) => this.#warn(message),
      changed: () => this.#notify({ kind: 'roster' }),
      numbers: new Numbers(options.numbers ?? memoryBook()),
      assemble: (generation) => this.#dryRun(generation),
      ...(diagnosisDeadlineMs !== undefined && { diagnosisDeadlineMs }),
      ...(mountDeadlineMs !== undefined && { mountDeadlineMs }),
    })
    ctx.on(
      'internal/status',
      (fiber) => {
        if (this.#generations.list().some((generation) => within(fiber, generation.fiber))) this.#roster.note()
      },
      { global: true },
    )
  }

  /** See `Roster.register`. */
  register(declaration: Declaration, row: DeclaringRow): Promise<() => Promise<void>> {
    return this.#roster.register(declaration, row)
  }

  /** See `Roster.replace`. */
  replace(declaration: Declaration, row: DeclaringRow): Promise<() => Promise<void>> {
    return this.#roster.replace(declaration, row)
  }

  /** Current declarations, by `order`, then id; answers at once (G-01). */
  list(): RosterRow[] {
    return this.#roster.list()
  }

  /** The number of the revision that new sessions get; 0 while none was ever mounted. */
  generationOf(id: string): number {
    return this.#roster.generationOf(id)
  }

  /** The id that a caller without one gets: the user's default, else the deployment's (C-01). */
  defaultId(): string {
    return this.#roster.canonical(this.#options.selectedDefault?.() ?? this.#options.defaultId)
  }

  /** Makes a declared preset the user's default, or gives the choice back to the deployment. Rejects `settings/not-saved`. */
  async saveDefault(id: string | undefined): Promise<void> {
    if (id !== undefined) this.#roster.find(id)
    const { saveDefault, defaultId } = this.#options
    if (!saveDefault)
      throw new CoreError('settings/not-saved', 'This host has no settings file to write the default to.')
    await saveDefault(id === defaultId ? undefined : id)
  }

  /** The default moved, or what is said of a document: lists have to be read again. */
  noted(): void {
    this.#roster.note()
  }

  /** Finds a preset and waits for its diagnosis; a broken one answers with the reason (C-06). Unknown ids reject. */
  async resolve(id?: string, caller?: string): Promise<{ id: string; broken?: string }> {
    const { declared, broken } = await this.#roster.diagnosed(id, caller)
    return { id: declared.declaration.id, ...(broken !== undefined && { broken }) }
  }

  /** Takes a counted use of the preset's current generation. Rejects `agent-preset/not-found` or `agent-preset/invalid`. */
  async retain(id?: string, caller?: string): Promise<Lease> {
    const { declared, broken } = await this.#roster.diagnosed(id, caller)
    if (broken !== undefined) throw invalid(declared.declaration.id, broken)
    if (declared.state.kind !== 'mounted') throw invalid(declared.declaration.id, 'it is not mounted')
    // Withdrawn between the diagnosis and here: what is closing cannot be used.
    if (declared.state.generation.retired) return this.retain(id, caller)
    return this.#generations.lease(declared.state.generation)
  }

  /** A use for reading only, for example to render a session without an agent (F-13). */
  async acquireScope(id?: string, caller?: string): Promise<AsyncDisposable & { key: ScopeKey; id: string }> {
    const lease = await this.retain(id, caller)
    return { key: lease.generation.key, id: lease.id, [Symbol.asyncDispose]: () => lease.release() }
  }

  /** Joins a scope to a preset, moving it when it already uses another; `leave` ends the use, whatever it is by then. */
  async mount(scope: ScopeKey, id?: string, caller?: string): Promise<string> {
    requireScope(scope)
    const lease = await this.retain(id, caller)
    await this.#bind(scope, lease)
    return lease.id
  }

  /** Moves a scope without looking at its history and without logging: for callers that did both (H-12). */
  async recompose(scope: ScopeKey, id: string, caller?: string): Promise<void> {
    await this.mount(scope, id, caller)
  }

  /**
   * Joins a child to the exact generation of its parent, whatever the id means by now (F-07). Synchronous: there is
   * nothing to wait for. Undefined when the parent uses no preset.
   */
  composeFrom(child: ScopeKey, parent: ScopeKey): string | undefined {
    requireScope(child)
    return this.#joins.inherit(child, parent, (generation) => this.#generations.lease(generation))?.id
  }

  /** Ends a scope's use of its preset; idempotent. */
  leave(scope: ScopeKey): Promise<void> {
    return this.#joins.leave(scope)
  }

  /** Switches a blank session's preset and logs it; see `Selections` (H-01 to H-05). */
  select(agent: SelectableAgent, id: string, caller?: string): Promise<string> {
    return this.#selections.select(agent, id, caller)
  }

  composedPreset(scope: ScopeKey): string | undefined {
    return this.#joins.of(scope)?.id
  }

  /** A service inside the scope's exact generation, realms included; host services are not looked up (E-16). */
  serviceFor(scope: ScopeKey, name: string): unknown {
    const generation = this.#joins.of(scope)
    return generation && serviceIn(generation.fiber, name)
  }

  /** Digest of the declaration that the scope was composed from; undefined when it uses no preset. */
  declarationDigest(scope: ScopeKey): string | undefined {
    return this.#joins.of(scope)?.digest
  }

  /** The exact generation that a scope uses; undefined when it uses no preset. */
  composition(scope: ScopeKey): GenerationRef | undefined {
    const generation = this.#joins.of(scope)
    return generation && refOf(generation)
  }

  /** Every mounted generation, of one preset or of all, newest first. */
  generations(id?: string): GenerationInfo[] {
    const mounted = this.#generations.list().filter((generation) => id === undefined || generation.id === id)
    return mounted.toReversed().map((generation) => {
      const { mountedAt, retired, users } = generation
      return { ...refOf(generation), mountedAt, retired, users, scopes: this.#joins.members(generation) }
    })
  }

  /** How a declared preset stands, beside being usable or not. */
  condition(id: string): Condition {
    const condition = conditionOf(this.#roster.find(id), this.#options.ownFolder)
    return { ...condition, notices: [...this.#roster.aliasNotices(id), ...condition.notices] }
  }

  /** How a declaration would fare: mounted beside the others, never listed, gone when this resolves. */
  trial(declaration: Declaration, { baseUrl }: { baseUrl?: string }): Promise<Trial> {
    const { ctx, mountDeadlineMs = 10_000 } = this.#options
    const { entry } = ctx.fiber
    if (!entry) throw new Error('a trial needs a registry that stands in a row')
    const assemble = (generation: Generation): Promise<DryRun> => this.#dryRun(generation)
    return tryOut(ctx, declaration, { entry, baseUrl }, { mountDeadlineMs, assemble })
  }

  /** All mounted generations, or the one that a scope uses (F-16). */
  inspectCompositions(scope?: ScopeKey): Composition[] {
    const joined = scope && this.#joins.of(scope)
    if (scope && !joined) return []
    return (joined ? [joined] : this.#generations.list()).map(compositionOf)
  }

  /** The declared rows as YAML, for reading (G-04). */
  readDocument(id: string): DeclaredDocument {
    return documentOf(this.#roster.find(id).declaration)
  }

  inventory(id: string): InventoryRow[] {
    const { declaration, state } = this.#roster.find(id)
    if (state.kind === 'mounted') return inventoryOfTree(state.generation.audit())
    return Array.isArray(declaration.plugins) ? inventoryOfDeclaration(declaration.plugins) : []
  }

  /** Tools and prompt of a preset as an agent in it would get them; rejects for one that cannot be used. */
  async describe(id?: string, caller?: string): Promise<DryRun> {
    const lease = await this.retain(id, caller)
    try {
      return await this.#dryRun(lease.generation)
    } finally {
      await lease.release()
    }
  }

  /** Observers hear of every change of roster, binding and selection; one that throws is reported and passed over. */
  onChange(observer: (change: PresetChange) => void): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  /** Resolves when every declaration has mounted or failed and every collected generation is closed. */
  settled(): Promise<void> {
    return this.#roster.settled()
  }

  async #dryRun(generation: Generation): Promise<DryRun> {
    const { describe, scopes } = this.#options
    if (!describe) return { sections: [], contexts: [], tools: [], services: [], tokens: { prompt: 0, tools: 0 } }
    // An agent joins by a scope of its own: what the preset registers is inherited, not its own.
    const joined: ScopeKey = {}
    const binding = scopes.bindParent(joined, generation.key)
    try {
      return { ...(await describe(joined)), services: privateServices(generation.fiber) }
    } finally {
      binding.release()
    }
  }

  async #bind(scope: ScopeKey, lease: Lease): Promise<void> {
    let step
    try {
      step = this.#joins.move(scope, lease)
    } catch (error) {
      await lease.release()
      throw error
    }
    await step.commit()
    if (step.changed) this.#notify({ kind: 'bound', scope, id: lease.id })
  }

  #notify(change: PresetChange): void {
    for (const observer of this.#observers) {
      try {
        observer(change)
      } catch (error) {
        this.#warn(`an observer of preset changes failed: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }

  #warn(message: string): void {
    this.#options.warn?.(message)
  }
}

function requireScope(scope: ScopeKey | undefined): void {
  if (typeof scope !== 'object' || scope === null) throw new Error('a preset can only be used by a scope')
}
