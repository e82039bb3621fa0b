import { z } from 'zod'
import type { Context } from '@deepseek-ai/cordis'

type Renames = Readonly<Record<string, string>>

/** Reads retired config keys under their new names; where both stand, the new one wins. Every other unknown key stays an error. */
export const renamed = <S extends z.ZodType>(schema: S, renames: Renames): z.ZodPipe<z.ZodTransform, S> =>
  z.preprocess((value) => {
    if (typeof value !== 'object' || value === null) return value
    const { ...config } = value as Record<string, unknown>
    for (const [old, name] of Object.entries(renames)) {
      if (!Object.hasOwn(config, old)) continue
      if (!Object.hasOwn(config, name)) config[name] = config[old]
      delete config[old]
    }
    return config
  }, schema) as never

/** Says once per activation which retired keys the row still uses. */
export function noticeRenamed(ctx: Context, renames: Renames): void {
  const { entry } = ctx.fiber
  const config: unknown = entry?.options.config
  if (typeof config !== 'object' || config === null) return
  for (const [old, name] of Object.entries(renames)) {
    if (Object.hasOwn(config, old)) ctx.logger.warn('row %s: the key %s is retired, write %s', entry?.id, old, name)
  }
}
