import { Service } from '@deepseek-ai/cordis'
import { activatingRow } from './kernel.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { ScopeKey } from '../scope/scope.ts'
import type { Declaration, DeclaringRow } from './declaration.ts'
import type { InventoryRow } from './document.ts'
import type { Lease } from './lease.ts'
import type { DryRun, GenerationRef } from '../wire/presets.ts'
import type { Composition, Condition, GenerationInfo } from './inspection.ts'
import type { PresetChange } from './registry-options.ts'
import type { PresetRegistry } from './registry.ts'
import type { RosterRow } from './roster.ts'
import type { SelectableAgent } from './select.ts'

type Disposer = () => Promise<void>

/**
 * The registry as `ctx.agentPresets`. It adds one thing: it sees which row calls, so that a row which awaits a diagnosis
 * inside its own activation gets an error instead of a deadlock (E-13). Everything else is the registry's.
 */
export class AgentPresets extends Service {
  readonly registry: PresetRegistry

  constructor(ctx: Context, registry: PresetRegistry) {
    super(ctx, 'agentPresets')
    this.registry = registry
  }

  resolve(id?: string): Promise<{ id: string; broken?: string }> {
    return this.registry.resolve(id, activatingRow(this.ctx))
  }
  retain(id?: string): Promise<Lease> {
    return this.registry.retain(id, activatingRow(this.ctx))
  }
  acquireScope(id?: string): Promise<AsyncDisposable & { key: ScopeKey; id: string }> {
    return this.registry.acquireScope(id, activatingRow(this.ctx))
  }
  mount(scope: ScopeKey, id?: string): Promise<string> {
    return this.registry.mount(scope, id, activatingRow(this.ctx))
  }
  recompose(scope: ScopeKey, id: string): Promise<void> {
    return this.registry.recompose(scope, id, activatingRow(this.ctx))
  }
  select(agent: SelectableAgent, id: string): Promise<string> {
    return this.registry.select(agent, id, activatingRow(this.ctx))
  }
  describe(id?: string): Promise<DryRun> {
    return this.registry.describe(id, activatingRow(this.ctx))
  }

  register(declaration: Declaration, row: DeclaringRow): Promise<Disposer> {
    return this.registry.register(declaration, row)
  }
  replace(declaration: Declaration, row: DeclaringRow): Promise<Disposer> {
    return this.registry.replace(declaration, row)
  }
  list(): RosterRow[] {
    return this.registry.list()
  }
  defaultId(): string {
    return this.registry.defaultId()
  }
  saveDefault(id: string | undefined): Promise<void> {
    return this.registry.saveDefault(id)
  }
  composeFrom(child: ScopeKey, parent: ScopeKey): string | undefined {
    return this.registry.composeFrom(child, parent)
  }
  leave(scope: ScopeKey): Promise<void> {
    return this.registry.leave(scope)
  }
  composedPreset(scope: ScopeKey): string | undefined {
    return this.registry.composedPreset(scope)
  }
  serviceFor(scope: ScopeKey, name: string): unknown {
    return this.registry.serviceFor(scope, name)
  }
  declarationDigest(scope: ScopeKey): string | undefined {
    return this.registry.declarationDigest(scope)
  }
  composition(scope: ScopeKey): GenerationRef | undefined {
    return this.registry.composition(scope)
  }
  generations(id?: string): GenerationInfo[] {
    return this.registry.generations(id)
  }
  condition(id: string): Condition {
    return this.registry.condition(id)
  }
  generationOf(id: string): number {
    return this.registry.generationOf(id)
  }
  inspectCompositions(scope?: ScopeKey): Composition[] {
    return this.registry.inspectCompositions(scope)
  }
  readDocument(id: string): ReturnType<PresetRegistry['readDocument']> {
    return this.registry.readDocument(id)
  }
  inventory(id: string): InventoryRow[] {
    return this.registry.inventory(id)
  }
  onChange(observer: (change: PresetChange) => void): () => void {
    return this.registry.onChange(observer)
  }
  settled(): Promise<void> {
    return this.registry.settled()
  }
}
