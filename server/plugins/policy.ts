import './context.ts'
import { z } from 'zod'
import { Asks } from '../permission/asks.ts'
import { gate } from '../permission/gate.ts'
import { Policies, checkedRule, type PolicySettings } from '../permission/policies.ts'
import { live, plugin } from '../preset/kernel.ts'
import { sessionState } from '../projection/session-state.ts'
import { draft } from '../wire/events.ts'
import { TerminalService } from './terminals.ts'
import type { Volatile } from '@deepseek-ai/cosmokit'

const Choice = z.strictObject({
  sandbox: z.enum(['read-only', 'workspace-write', 'full']),
  network: z.boolean(),
  onAsk: z.enum(['prompt', 'deny', 'allow']),
  edits: z.enum(['auto', 'ask']),
  commands: z.enum(['auto', 'ask']),
})
const Name = z.string().min(1).max(256)
const config = z.strictObject({
  default: Name.optional(),
  presets: z
    .array(z.strictObject({ id: Name, name: Name, description: z.string().max(400).optional(), choice: Choice }))
    .max(100)
    .optional(),
  rules: z
    .array(
      z.strictObject({
        id: Name,
        effect: z.enum(['deny', 'ask', 'allow']),
        tool: Name,
        match: z.strictObject({ kind: z.enum(['prefix', 'glob']), text: z.string().min(1).max(4096) }).optional(),
        scope: z.enum(['workspace', 'host']),
        workspace: z.string().optional(),
      }),
    )
    .max(1_000)
    .optional(),
  waitMs: z.int().min(10_000).nullable().optional(),
})

interface Settings {
  default: Volatile<PolicySettings['default']>
  presets: Volatile<PolicySettings['presets']>
  rules: Volatile<PolicySettings['rules']>
  waitMs: Volatile<PolicySettings['waitMs']>
}

/** What each session may do, judged before every tool call of every preset, and who is asked when it may not by itself. */
export default plugin({
  name: 'policy',
  inject: ['webStartup', 'agents', 'hooks', 'sandbox'],
  config: live(config, 'default', 'presets', 'rules', 'waitMs'),
  apply(ctx, settings: Settings) {
    const { agents, hooks, sandbox } = ctx
    const policies = new Policies({
      read: () => settingsOf(settings),
      edit: () => {
        const row = ctx.fiber.entry?.options.id
        const editor = ctx.get('configEditor')
        return row === undefined || !editor ? undefined : (derive) => editor.edit(row, derive)
      },
      subject: (session) => {
        const agent = agents.get(session)
        return agent && { cwd: agent.cwd, pinned: agent.log.state(sessionState).policy }
      },
      sandbox,
      endShell: async (agent) => {
        const service = ctx.get('agentPresets')?.serviceFor(agent, 'terminals')
        if (service instanceof TerminalService) await service.terminals.replace(agent, 'mode')
      },
      container: ctx.webStartup.env['CORE_WEB_BOUNDARY'] === 'container',
    })
    const asks = new Asks({
      logOf: (session) => agents.get(session)?.log,
      addRule: (session, rule) => {
        const log = agents.get(session)?.log
        if (!log) return
        const { rules } = log.state(sessionState).policy
        log.append(draft('permission/rules', { rules: [...rules, checkedRule(rule)] }))
      },
      waitMs: () => policies.view().waitMs,
    })
    const judge = gate({ policyFor: (session) => policies.policyFor(session), ask: (question) => asks.ask(question) })
    ctx.on('loader/volatile-update', () => policies.reread())
    ctx.effect(() => sandbox.onChange(() => policies.reread()))
    // Outermost, whatever a preset adds: it judges what all others have left of the call.
    ctx.effect(() => hooks.on(null, 'tools/pre-execute', judge, { prepend: true }))
    ctx.effect(() => hooks.on(null, 'agent/disposed', ({ agent }) => policies.forget(agent.id)))
    ctx.effect(function* () {
      yield ctx.provide('asks', asks)
      yield ctx.provide('policy', policies)
    })
  },
})

function settingsOf(settings: Settings): PolicySettings {
  const [chosen, presets, rules, waitMs] = [
    settings.default.get(),
    settings.presets.get(),
    settings.rules.get(),
    settings.waitMs.get(),
  ]
  return {
    ...(chosen !== undefined && { default: chosen }),
    ...(presets && { presets }),
    ...(rules && { rules }),
    ...(waitMs !== undefined && { waitMs }),
  }
}

declare module '@deepseek-ai/cordis' {
  interface Context {
    policy: Policies
    asks: Asks
  }
}
