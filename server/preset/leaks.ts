import { Context, getTraceable, symbols } from '@deepseek-ai/cordis'
import { STATE } from './kernel.ts'
import type { Fiber } from '@deepseek-ai/cordis'

interface Impl {
  name: string
  fiber: Fiber
  value?: unknown
}

/** Whether `fiber` runs somewhere below `top`, by instance: two hosts in one process never mix (E-18). */
export const within = (fiber: Fiber, top: Fiber): boolean =>
  fiber === top || (fiber.parent.fiber !== fiber && within(fiber.parent.fiber, top))

function* providedIn(top: Fiber): Generator<{ key: symbol; impl: Impl }> {
  const { store } = top.ctx.reflect as unknown as { store: Record<symbol, Impl> }
  for (const key of Object.getOwnPropertySymbols(store)) {
    const impl = store[key]!
    if (within(impl.fiber, top)) yield { key, impl }
  }
}

/** A service provided by an active row below `top`, behind whatever realm; undefined for services of the host (E-16). */
export function serviceIn(top: Fiber, name: string): unknown {
  for (const { impl } of providedIn(top)) {
    if (impl.name === name && (impl.fiber.state as number) === STATE.ACTIVE) return impl.value
  }
  return undefined
}

/** Names of services that live below `top` and nowhere outside it, sorted. */
export function privateServices(top: Fiber): string[] {
  const host = top.ctx.root[Context.isolate]
  const names = [...providedIn(top)].filter(({ key, impl }) => host[impl.name] !== key).map(({ impl }) => impl.name)
  return [...new Set(names)].toSorted()
}

/** Names of services below `top` that the root can see, sorted. */
export function leaksOf(top: Fiber): string[] {
  const host = top.ctx.root[Context.isolate]
  return [...providedIn(top)]
    .filter(({ key, impl }) => host[impl.name] === key)
    .map(({ impl }) => impl.name)
    .toSorted()
}

/**
 * Context properties that refuse, at the moment of `provide`, a service that would be visible outside the preset. Own
 * properties are found before the root proxy, so the getter binds itself to its caller.
 */
export function refuseLeaks(root: Context, leaked: Set<string>): object {
  type Provide = (this: { ctx: Context }, name: string, value: unknown, check?: () => boolean) => () => void
  const original = (root.reflect as unknown as Record<symbol, unknown>)[symbols.original] as { provide: Provide }
  const guarded = Object.create(original) as { provide: Provide }
  guarded.provide = function provide(name, value, check) {
    const key = this.ctx[Context.isolate][name]
    if (key && key !== root[Context.isolate][name]) return original.provide.call(this, name, value, check)
    leaked.add(name)
    throw new Error(
      `service ${name} would be visible outside this preset; put the row in a group with isolate: {${name}: true}`,
    )
  }
  return {
    get reflect() {
      return getTraceable(this as unknown as Context, guarded)
    },
  }
}
