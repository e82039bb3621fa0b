import './context.ts'
import { z } from 'zod'
import { plugin } from '../preset/kernel.ts'
import { ownerOf, scopeOf } from '../preset/scope-tag.ts'
import { registerPersona } from '../prompt/persona.ts'

const config = z.strictObject({
  prefix: z.string(),
  suffix: z.string().default(''),
  complete: z.boolean().default(false),
  includeRuntimeContext: z.boolean().default(true),
})

export default plugin({
  name: 'persona',
  inject: ['systemPrompt'],
  config,
  retired: { text: 'prefix' },
  apply(ctx, settings: z.output<typeof config>) {
    ctx.effect(() => registerPersona(ctx.systemPrompt, scopeOf(ctx) ?? null, settings, ownerOf(ctx)))
  },
})
