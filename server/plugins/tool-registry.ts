import './context.ts'
import { z } from 'zod'
import { plugin } from '../preset/kernel.ts'
import { Tools } from '../tool/registry.ts'

const config = z.strictObject({ toolOrder: z.array(z.string()).optional() })

export default plugin({
  name: 'tool-registry',
  inject: ['scopes'],
  config,
  apply(ctx, { toolOrder }: z.output<typeof config>) {
    const { logger } = ctx
    ctx.provide('tools', new Tools(ctx.scopes, { ...(toolOrder && { toolOrder }) }, (error) => logger.warn(error)))
  },
})
