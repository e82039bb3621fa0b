import './context.ts'
import { Context } from '@deepseek-ai/cordis'
import { never } from '../wire/never.ts'
import { scopeOf } from '../preset/scope-tag.ts'
import type { ScopeKey } from '../scope/scope.ts'
import type { HookMap, HookName } from '../turn/hooks.ts'

/** How the kernel delivers each hook of the loop. */
const MODES: { readonly [K in HookName]: 'waterfall' | 'serial' | 'emit' } = {
  'system-prompt/assemble': 'waterfall',
  'agent/pre-step': 'waterfall',
  'agent/request': 'waterfall',
  'agent/request-error': 'waterfall',
  'tools/pre-execute': 'waterfall',
  'tools/execute': 'waterfall',
  'tools/post-execute': 'waterfall',
  'agent/turn-stopping': 'serial',
  'agent/inbox/inserted': 'emit',
  'agent/inbox/claimed': 'emit',
  'agent/status': 'emit',
  'agent/cancelled': 'emit',
  'agent/assistant-stream': 'emit',
  'tools/result': 'emit',
  'tool/output': 'emit',
  'agent/error': 'emit',
  'agent/created': 'emit',
  'agent/disposed': 'emit',
  'agent-loop/config-start-failed': 'emit',
}

type Kernel = Pick<Context['events'], 'waterfall' | 'serial' | 'dispatch'> & {
  _hooks: Partial<Record<string, unknown[]>>
}

/** Where no agent takes part, the event stands in for a scope that nobody is below. */
const scopeIn = (event: object): ScopeKey => (event as { agent?: { scope: ScopeKey } }).agent?.scope ?? event

/**
 * Lets rows of any plugin listen to the loop with `ctx.on(name, …)`: unscoped listeners and those of the agent's own
 * scope and its ancestors hear it, others do not. Without a listener the loop pays one look-up per hook.
 */
export function bridgeHooks(ctx: Context): () => void {
  const { hooks, scopes, logger } = ctx
  const kernel = ctx.root.events as unknown as Kernel
  const target = (scope: ScopeKey): object => ({
    [Context.filter]: (listener: Context) => {
      const own = scopeOf(listener)
      return !own || scopes.covers(own, scope)
    },
  })
  const announce = (name: HookName, event: object): void => {
    for (const listener of kernel.dispatch('emit', [target(scopeIn(event)), name, event])) {
      try {
        ;(listener as (event: object) => void)(event)
      } catch (error) {
        logger.warn('a listener of %s failed', name)
        logger.warn(error)
      }
    }
  }
  const forward = (name: HookName, event: object, next: () => unknown): unknown => {
    const mode = MODES[name]
    const heard = (kernel._hooks[name]?.length ?? 0) > 0
    switch (mode) {
      case 'waterfall':
        return heard ? kernel.waterfall(target(scopeIn(event)), name, event, next) : next()
      case 'serial':
        return heard ? kernel.serial(target(scopeIn(event)), name, event) : undefined
      case 'emit':
        return heard ? announce(name, event) : undefined
      default:
        return never(mode)
    }
  }
  const undo = (Object.keys(MODES) as HookName[]).map((name) =>
    hooks.on(null, name, (event: object, next: () => unknown) => forward(name, event, next) as never),
  )
  return () => {
    for (const dispose of undo) dispose()
  }
}

type Heard<K extends HookName> = HookMap[K] extends { result: infer R }
  ? (event: HookMap[K]['event'], next: () => Promise<R>) => R | Promise<R> | undefined
  : (event: HookMap[K]['event']) => void

type LoopEvents = { [K in HookName]: Heard<K> }

declare module '@deepseek-ai/cordis' {
  interface Events extends LoopEvents {}
}
