import './context.ts'
import { z } from 'zod'
import { plugin } from '../preset/kernel.ts'
import { ownerOf, scopeOf } from '../preset/scope-tag.ts'
import { registerPersona } from '../prompt/persona.ts'
import { noticeRenamed, renamed } from './renamed.ts'

const config = z.strictObject({
  prefix: z.string(),
  suffix: z.string().default(''),
  complete: z.boolean().default(false),
  includeRuntimeContext: z.boolean().default(true),
})

const RENAMED = { text: 'prefix' } as const

export default plugin({
  name: 'persona',
  inject: ['systemPrompt'],
  config: renamed(config, RENAMED),
  retired: RENAMED,
  apply(ctx, settings: z.output<typeof config>) {
    noticeRenamed(ctx, RENAMED)
    ctx.effect(() => registerPersona(ctx.systemPrompt, scopeOf(ctx) ?? null, settings, ownerOf(ctx)))
  },
})
