import './context.ts'
import { z } from 'zod'
import { live, plugin } from '../preset/kernel.ts'
import { AgentDefaultModel } from '../settings/default-model.ts'
import type { Volatile } from '@deepseek-ai/cosmokit'

const config = z.strictObject({
  provider: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  reasoningEffort: z.string().min(1).optional(),
})

type Settings = Record<keyof z.output<typeof config>, Volatile<string | undefined>>

export default plugin({
  name: 'agent-default-model',
  config: live(config, 'provider', 'model', 'reasoningEffort'),
  apply(ctx, { provider, model, reasoningEffort }: Settings) {
    const row = ctx.fiber.entry?.options.id
    const service = new AgentDefaultModel({
      read: () => ({ provider: provider.get(), model: model.get(), reasoningEffort: reasoningEffort.get() }),
      write: () => {
        const editor = ctx.get('configEditor')
        return row === undefined || !editor ? undefined : (next) => editor.edit(row, () => next)
      },
    })
    ctx.provide('agentDefaultModel', service)
  },
})
