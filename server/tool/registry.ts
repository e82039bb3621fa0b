import { byCodeUnit, Layers } from '../scope/layers.ts'
import type { ScopeKey, Scopes } from '../scope/scope.ts'
import type { ToolGuard } from './execute.ts'
import type { Tool } from './tool.ts'

/** Where `toolOrder` puts every tool it does not name. */
export const UNLISTED = '<unlisted-tools>'

/** Tools known only at run time (an MCP server's); asked at every view with the scope that looks. */
export type ToolProvider = (scope: ScopeKey | null) => readonly Tool[]

interface Owned<T> {
  value: T
  owner: string | undefined
}

/** The tools each scope sees: by name along the parent chain, nearest first, then what providers add. */
export class Tools {
  #named: Layers<Owned<Tool>>
  #providers: Layers<Owned<ToolProvider>>
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

  /** `owner` is the row (or plugin) that brings the tool. Throws when the name is taken in this scope. */
  add(scope: ScopeKey | null, tool: Tool, owner?: string): () => void {
    return this.#named.add(scope, tool.spec.name, { value: freezeSpec(tool), owner })
  }

  provider(scope: ScopeKey | null, provide: ToolProvider, owner?: string): () => void {
    return this.#providers.addAnonymous(scope, { value: provide, owner })
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
    const tools = this.#seen(scope)
    const names = [...tools.keys()].toSorted(byCodeUnit)
    return (this.#order ? this.#listed(names) : names).map((name) => tools.get(name)!.value)
  }

  /** Who brought the tools that `scope` sees, by name and in order of names; tools of nobody known are left out. */
  owners(scope: ScopeKey | null): { [name: string]: string } {
    const known = [...this.#seen(scope)].flatMap(([name, { owner }]) =>
      owner === undefined ? [] : [[name, owner] as const],
    )
    return Object.fromEntries(known.toSorted(([a], [b]) => byCodeUnit(a, b)))
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

  #seen(scope: ScopeKey | null): Map<string, Owned<Tool>> {
    const seen = new Map<string, Owned<Tool>>()
    for (const [name, entry] of this.#named.view(scope).named) seen.set(name, entry.value)
    for (const { value: provide, owner } of this.#providers.view(scope).anonymous)
      for (const tool of provide(scope))
        if (!seen.has(tool.spec.name)) seen.set(tool.spec.name, { value: freezeSpec(tool), owner })
    return seen
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
