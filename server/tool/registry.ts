import { byCodeUnit, Layers } from '../scope/layers.ts'
import type { ScopeKey, Scopes } from '../scope/scope.ts'
import type { ToolGuard } from './execute.ts'
import type { Tool } from './tool.ts'

/** Where `toolOrder` puts every tool it does not name. */
export const UNLISTED = '<unlisted-tools>'

/** Tools known only at run time (an MCP server's); asked at every view with the scope that looks. */
export type ToolProvider = (scope: ScopeKey | null) => readonly Tool[]

/** The tools each scope sees: by name along the parent chain, nearest first, then what providers add. */
export class Tools {
  #named: Layers<Tool>
  #providers: Layers<ToolProvider>
  #guards: Layers<ToolGuard>
  #order: readonly string[] | undefined

  /** `toolOrder` must hold the marker `<unlisted-tools>` exactly once. */
  constructor(
    scopes: Scopes,
    config: { toolOrder?: readonly string[] } = {},
    report: (error: unknown) => void = () => {},
  ) {
    const markers = config.toolOrder?.filter((name) => name === UNLISTED).length
    if (markers !== undefined && markers !== 1) throw new Error(`toolOrder must hold ${UNLISTED} exactly once`)
    this.#named = new Layers(scopes, 'tool', report)
    this.#providers = new Layers(scopes, 'tool provider', report)
    this.#guards = new Layers(scopes, 'tool guard', report)
    this.#order = config.toolOrder
  }

  /** Throws when the name is taken in this scope. */
  add(scope: ScopeKey | null, tool: Tool): () => void {
    return this.#named.add(scope, tool.spec.name, freezeSpec(tool))
  }

  provider(scope: ScopeKey | null, provide: ToolProvider): () => void {
    return this.#providers.addAnonymous(scope, provide)
  }

  /** A last check before a tool's body that no hook can step around; every guard in force must let the call pass. */
  guard(scope: ScopeKey | null, guard: ToolGuard): () => void {
    return this.#guards.addAnonymous(scope, guard)
  }

  guards(scope: ScopeKey | null): readonly ToolGuard[] {
    return this.#guards.view(scope).anonymous
  }

  /** What `scope` sees, in code-unit order of names or in `toolOrder`. A registered tool wins over a provided one of its name. */
  view(scope: ScopeKey | null): Tool[] {
    const tools = new Map([...this.#named.view(scope).named].map(([name, entry]) => [name, entry.value]))
    for (const provide of this.#providers.view(scope).anonymous)
      for (const tool of provide(scope)) if (!tools.has(tool.spec.name)) tools.set(tool.spec.name, freezeSpec(tool))
    const names = [...tools.keys()].toSorted(byCodeUnit)
    return (this.#order ? this.#listed(names) : names).map((name) => tools.get(name)!)
  }

  /** The same for an assembly, where a name in `toolOrder` that no tool bears is a mistake and throws. */
  assemble(scope: ScopeKey): Tool[] {
    const tools = this.view(scope)
    const missing = this.#order?.filter((name) => name !== UNLISTED && !tools.some((tool) => tool.spec.name === name))
    if (missing?.length) throw new Error(`toolOrder names unknown tools: ${missing.join(', ')}`)
    return tools
  }

  /** Runs after every change of what some scope sees; an observer that throws vetoes a registration. */
  observe(observer: (scope: ScopeKey | null) => void): () => void {
    const undo = [this.#named.observe(observer), this.#providers.observe(observer)]
    return () => {
      for (const dispose of undo) dispose()
    }
  }

  /** Tells observers that `scope` was bound to another parent. */
  changed(scope: ScopeKey): void {
    this.#named.changed(scope)
  }

  #listed(names: string[]): string[] {
    const order = this.#order!
    return order.flatMap((name) => {
      if (name === UNLISTED) return names.filter((other) => !order.includes(other))
      return names.includes(name) ? [name] : []
    })
  }
}

/** Specs go into every assembly by reference; frozen, none of them can be changed for the others (P-06). */
function freezeSpec(tool: Tool): Tool {
  if (!Object.isFrozen(tool.spec)) deepFreeze(tool.spec)
  return tool
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) deepFreeze(member)
}
