import './context.ts'
import { z } from 'zod'
import { plugin } from '../preset/kernel.ts'
import { SystemPrompt } from '../prompt/prompt.ts'

const config = z.strictObject({
  personaPrefix: z.string().default(''),
  personaSuffix: z.string().default(''),
  includeHarnessIdentity: z.boolean().default(true),
})

export default plugin({
  name: 'system-prompt',
  inject: ['scopes', 'hooks'],
  config,
  apply(ctx, settings: z.output<typeof config>) {
    const { scopes, hooks } = ctx
    const prompt = new SystemPrompt(settings, {
      scopes,
      waterfall: (scope, event, inner) => hooks.waterfall('system-prompt/assemble', scope, event, inner),
    })
    ctx.provide('systemPrompt', prompt)
  },
})
