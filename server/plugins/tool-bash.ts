import './context.ts'
import { z } from 'zod'
import { plugin } from '../preset/kernel.ts'
import { confinement } from './sandbox.ts'
import { ownerOf, scopeOf } from '../preset/scope-tag.ts'
import { oneShotBash } from '../terminal/one-shot.ts'

const config = z.strictObject({
  description: z.string().min(1).optional(),
  timeoutMs: z.int().positive().default(120_000),
  maxOutputChars: z.int().positive().default(16_000),
})

export default plugin({
  name: 'tool-bash',
  inject: ['tools'],
  config,
  apply(ctx, { description, ...settings }: z.output<typeof config>) {
    const tool = oneShotBash({
      ...settings,
      ...(description !== undefined && { description }),
      confine: (context) => confinement(ctx, context).confine,
    })
    ctx.effect(() => ctx.tools.add(scopeOf(ctx) ?? null, tool, ownerOf(ctx)))
  },
})
