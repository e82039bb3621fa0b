import './context.ts'
import { plugin } from '../preset/kernel.ts'
import { Shells } from '../terminal/shells.ts'

/** Agents' shells as people watch them: one place for all presets, whatever realm their terminals live in. */
export default plugin({
  name: 'shells',
  inject: ['agents'],
  apply(ctx) {
    const { agents, logger } = ctx
    const shells = new Shells({
      logOf: (session) => agents.get(session)?.log,
      warn: (message) => logger.warn(message),
    })
    ctx.effect(function* () {
      yield () => shells.close()
      yield ctx.provide('shells', shells)
    })
  },
})

declare module '@deepseek-ai/cordis' {
  interface Context {
    shells: Shells
  }
}
