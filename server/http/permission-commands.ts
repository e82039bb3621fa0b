import { CoreError } from '../wire/errors.ts'
import type { Policies } from '../permission/policies.ts'
import { checkedRule } from '../permission/policies.ts'
import type { Asks } from '../permission/asks.ts'
import type { Sessions } from '../session/sessions.ts'
import type { CommandName } from '../wire/commands.ts'
import { rehearse } from './rehearse.ts'
import type { Handler } from './commands.ts'

type Names = Extract<CommandName, `permission.${string}` | `rule.${string}` | 'approval.answer' | 'sandbox.probe'>

export interface PermissionHandlersOptions {
  sessions: Sessions
  policies: Policies
  asks: Asks
}

/** Policies, rules, and what waits for a person. */
export const permissionHandlers = ({
  sessions,
  policies,
  asks,
}: PermissionHandlersOptions): { [N in Names]: Handler<N> } => ({
  'permission.select': async ({ session, ...choice }) => ({
    policy: await sessions.permissions.select(session, choice),
  }),
  'permission.save': (args) => policies.save(args),
  'permission.remove': ({ preset }) => policies.remove(preset),
  'permission.default': ({ preset }) => policies.saveDefault(preset),
  'permission.wait': ({ waitMs }) => policies.saveWait(waitMs),
  'rule.add': async ({ session, rule }) => {
    if (rule.scope === 'host') return { rule: await policies.addRule(rule) }
    if (session === undefined)
      throw new CoreError('permission/invalid', `A rule of a ${rule.scope} needs a session that it is made in.`)
    if (rule.scope === 'workspace') return { rule: await policies.addRule(rule, await cwdOf(sessions, session)) }
    const made = checkedRule(rule)
    await sessions.permissions.changeRules(session, (rules) => [...rules, made])
    return { rule: made.id }
  },
  'rule.remove': async ({ session, rule }) => {
    if (session === undefined) await policies.removeRule(rule)
    else await sessions.permissions.changeRules(session, (rules) => without(rules, rule))
    return { rule }
  },
  'rule.rehearse': (args) => rehearse(sessions, args),
  'approval.answer': (args) => asks.answer(args),
  'sandbox.probe': () => policies.probe(),
})

function without<R extends { id: string }>(rules: readonly R[], id: string): R[] {
  const left = rules.filter((rule) => rule.id !== id)
  if (left.length === rules.length) throw new CoreError('permission/not-found', 'That rule is not there any more.')
  return left
}

async function cwdOf(sessions: Sessions, id: string): Promise<string> {
  const view = await sessions.view(id)
  const { cwd } = view.header
  view.release()
  if (cwd === undefined)
    throw new CoreError('permission/invalid', 'This session has no folder that a rule could be for.')
  return cwd
}
