import './context.ts'
import { SessionIndex } from '../log/index/session-index.ts'
import { plugin } from '../preset/kernel.ts'
import { IndexView } from '../session/index-view.ts'

export default plugin({
  name: 'session-index',
  // The store comes first so that it is closed after the index has read what it still needs.
  inject: ['dataFolder', 'sessionStore'],
  apply(ctx) {
    const { dataFolder, logger } = ctx
    const index = new SessionIndex({ root: dataFolder.path, onError: (error) => logger.warn(error) })
    let closing = false
    const view = new IndexView(index, (error) => {
      // Closing cuts the catching up short; the next start does it again.
      if (!closing) logger.warn(error)
    })
    ctx.effect(function* () {
      yield () => {
        closing = true
        return index.close()
      }
      yield ctx.provide('sessionIndex', view)
    })
  },
})

declare module '@deepseek-ai/cordis' {
  interface Context {
    sessionIndex: IndexView
  }
}
