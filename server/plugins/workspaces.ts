import './context.ts'
import { plugin } from '../preset/kernel.ts'
import { Workspaces } from '../workspace/workspaces.ts'

/** The registered folders. */
export default plugin({
  name: 'workspaces',
  inject: ['webStartup', 'stateStore'],
  apply(ctx) {
    const { dataDir, env } = ctx.webStartup
    const { stateStore: state } = ctx
    const workspaces = new Workspaces({ dataDir, state, ...(env['HOME'] && { home: env['HOME'] }) })
    ctx.effect(() => ctx.provide('workspaces', workspaces))
  },
})

declare module '@deepseek-ai/cordis' {
  interface Context {
    workspaces: Workspaces
  }
}
