import './context.ts'
import { plugin } from '../preset/kernel.ts'
import { StateStore } from '../workspace/state.ts'
import { Workspaces } from '../workspace/workspaces.ts'

/** The registered folders, and the small table of host state that is not derived from logs. */
export default plugin({
  name: 'workspaces',
  inject: ['webStartup'],
  apply(ctx) {
    const { dataDir, env } = ctx.webStartup
    const state = new StateStore(dataDir)
    const workspaces = new Workspaces({ dataDir, state, ...(env['HOME'] && { home: env['HOME'] }) })
    ctx.effect(function* () {
      yield () => state.close()
      yield ctx.provide('stateStore', state)
      yield ctx.provide('workspaces', workspaces)
    })
  },
})

declare module '@deepseek-ai/cordis' {
  interface Context {
    stateStore: StateStore
    workspaces: Workspaces
  }
}
