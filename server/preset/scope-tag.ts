import type { Context, Fiber } from '@deepseek-ai/cordis'
import type { ScopeKey } from '../scope/scope.ts'

const tag = Symbol('core-web.scope')

/** The scope whose rows run under this context; undefined at host level. */
export const scopeOf = (ctx: Context): ScopeKey | undefined =>
  (ctx as unknown as Record<symbol, ScopeKey | undefined>)[tag]

/** Who registers something under this context, for a person: the id of the row as written, else the plugin's name. */
export const ownerOf = (ctx: Context): string | undefined => ctx.fiber.entry?.options.id ?? ctx.fiber.name

export interface TaggedScope {
  key: ScopeKey
  ctx: Context
  fiber: Fiber
  close(): Promise<void>
}

// One shared callback: the kernel keeps a record per plugin function.
const presetScope = (): void => {}

/** A child of `owner` whose contexts carry a fresh scope key; `meta` are further own properties of that context. */
export function createScope(owner: Context, meta: object = {}): TaggedScope {
  const key: ScopeKey = {}
  // `ctx.plugin` answers a thenable wrapper; the real fiber is the one on its context.
  const { fiber } = owner.plugin(presetScope).ctx
  return {
    key,
    fiber,
    ctx: fiber.ctx.extend(Object.defineProperty(meta, tag, { value: key })),
    async close() {
      await fiber.dispose()
      while (fiber.inertia) await fiber.inertia
    },
  }
}
