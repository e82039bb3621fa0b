import './context.ts'
import { plugin } from '../preset/kernel.ts'
import { Roster } from '../session/roster.ts'
import { Sessions } from '../session/sessions.ts'
import { VERSION } from '../version.ts'

/** The session entry: presets and models are applied here, to every session a person makes or opens. */
export default plugin({
  name: 'session-controller',
  inject: [
    'webStartup',
    'sessionStore',
    'sessionIndex',
    'agents',
    'hooks',
    'llm',
    'workspaces',
    'agentDefaultModel',
    'agentPresets',
    'presetLibrary',
  ],
  apply(ctx) {
    const { sessionStore, sessionIndex, agents, hooks, llm, workspaces, agentDefaultModel, agentPresets, logger } = ctx
    const { presetLibrary } = ctx
    const container = ctx.webStartup.env['CORE_WEB_BOUNDARY'] === 'container'
    const sessions = new Sessions({
      store: sessionStore,
      index: sessionIndex,
      agents,
      hooks,
      routes: llm,
      workspaces,
      presets: agentPresets,
      defaultModel: agentDefaultModel,
      writer: `core-web@${VERSION}`,
      sandbox: { mode: 'full', source: container ? 'container' : 'not-confined' },
      warn: (message) => logger.warn(message),
    })
    const roster = new Roster(agentPresets, presetLibrary)
    void roster.start()
    ctx.effect(function* () {
      yield () => roster.close()
      yield () => sessions.close()
      yield ctx.provide('roster', roster)
      yield ctx.provide('sessions', sessions)
    })
  },
})

declare module '@deepseek-ai/cordis' {
  interface Context {
    sessions: Sessions
    roster: Roster
  }
}
