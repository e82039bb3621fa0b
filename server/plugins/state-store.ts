import './context.ts'
import { plugin } from '../preset/kernel.ts'
import { StateStore } from '../workspace/state.ts'

/** The small table of host state that is not derived from logs. */
export default plugin({
  name: 'state-store',
  inject: ['webStartup'],
  apply(ctx) {
    const state = new StateStore(ctx.webStartup.dataDir)
    ctx.effect(function* () {
      yield () => state.close()
      yield ctx.provide('stateStore', state)
    })
  },
})
