import './context.ts'
import { z } from 'zod'
import { live, plugin } from '../preset/kernel.ts'
import { Roster } from '../session/roster.ts'
import { checkSelection } from '../session/models.ts'
import { Sessions } from '../session/sessions.ts'
import { SessionSettings } from '../settings/session-settings.ts'
import { VERSION } from '../version.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { Volatile } from '@deepseek-ai/cosmokit'
import type { Selection } from '../wire/messages.ts'
import type { Budget } from '../wire/models.ts'

/** US dollars; the command refuses the same. */
const Limit = z.number().positive().max(1_000_000)
const Id = z.string().min(1).max(256)
const config = z.strictObject({
  budget: z.strictObject({ session: Limit.optional(), day: Limit.optional() }).optional(),
  titles: z.strictObject({ provider: Id, model: Id, reasoningEffort: Id.optional() }).optional(),
})

interface Settings {
  budget: Volatile<Budget | undefined>
  titles: Volatile<Selection | undefined>
}

/** The session entry: presets and models are applied here, to every session a person makes or opens. */
export default plugin({
  name: 'session-controller',
  inject: [
    'sessionStore',
    'sessionIndex',
    'agents',
    'hooks',
    'llm',
    'workspaces',
    'agentDefaultModel',
    'agentPresets',
    'presetLibrary',
    'policy',
  ],
  config: live(config, 'budget', 'titles'),
  apply(ctx, config: Settings) {
    const { sessionStore, sessionIndex, agents, hooks, llm, workspaces, agentDefaultModel, agentPresets, logger } = ctx
    const { presetLibrary, policy } = ctx
    const settings = sessionSettings(ctx, config)
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
      permissions: policy,
      budget: () => settings.current().budget,
      titles: () => settings.current().titles,
      warn: (message) => logger.warn(message),
    })
    ctx.on('loader/volatile-update', () => settings.reread())
    const roster = new Roster(agentPresets, presetLibrary)
    void roster.start()
    ctx.effect(function* () {
      yield () => roster.close()
      yield () => sessions.close()
      yield ctx.provide('roster', roster)
      yield ctx.provide('sessionSettings', settings)
      yield ctx.provide('sessions', sessions)
    })
  },
})

function sessionSettings(ctx: Context, { budget, titles }: Settings): SessionSettings {
  return new SessionSettings({
    read: () => ({ budget: budget.get(), titles: titles.get() }),
    edit: () => {
      const row = ctx.fiber.entry?.options.id
      const editor = ctx.get('configEditor')
      return row === undefined || !editor ? undefined : (derive) => editor.edit(row, derive)
    },
    check: (selection) => checkSelection(ctx.llm, selection),
  })
}

declare module '@deepseek-ai/cordis' {
  interface Context {
    sessions: Sessions
    sessionSettings: SessionSettings
    roster: Roster
  }
}
