import './context.ts'
import { plugin } from '../preset/kernel.ts'
import { Hooks } from '../turn/hooks.ts'

export default plugin({
  name: 'hooks',
  inject: ['scopes'],
  apply(ctx) {
    const { logger } = ctx
    const report = (error: unknown, hook: string): void => {
      logger.warn('a listener of %s failed', hook)
      logger.warn(error)
    }
    ctx.provide('hooks', new Hooks(ctx.scopes, report))
  },
})
