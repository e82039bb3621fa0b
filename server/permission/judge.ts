import type { Policy, Rule } from '../wire/safety.ts'
import { isWithin } from '../sandbox/mounts.ts'
import { matches, type Subject } from './rules.ts'

/** A call as the policy sees it. */
export interface Judged extends Subject {
  class: 'read' | 'edit' | 'command' | 'unknown'
  /** Why it wants out of what confines the session, once. */
  escalate?: string
}

/** `rule`: what decided, where a rule did. */
export type Verdict =
  | { kind: 'allow'; outside: boolean; rule?: Rule }
  | { kind: 'deny'; code: DenialCode; reason: string; rule?: Rule }
  | { kind: 'ask'; ask: 'approve' | 'escalate'; reason: string; rule?: Rule }

export type DenialCode = 'MASKED' | 'READ_ONLY' | 'GUARDED' | 'RULE' | 'NOT_ALLOWED'

type PlaceKind = 'inside' | 'temporary' | 'outside' | 'masked' | 'guarded'

/** The longest root, mask or guarded place that holds a real path decides. */
export function placeKind(path: string, { roots, masks, guarded, mounts }: Policy): PlaceKind {
  const temporary = mounts.filter(([shown, real]) => shown !== real).map(([, real]) => real)
  const holders: [string, PlaceKind][] = [
    ...masks.map((folder): [string, PlaceKind] => [folder, 'masked']),
    ...roots.map((folder): [string, PlaceKind] => [folder, temporary.includes(folder) ? 'temporary' : 'inside']),
    ...temporary.map((folder): [string, PlaceKind] => [folder, 'temporary']),
    ...guarded.map((folder): [string, PlaceKind] => [folder, 'guarded']),
  ]
  let best: [string, PlaceKind] = ['', 'outside']
  for (const holder of holders) if (isWithin(path, holder[0]) && holder[0].length >= best[0].length) best = holder
  return best[1]
}

/**
 * What becomes of a call. First what no rule can lift: hidden places, a read-only session, guarded files. Then rules, deny
 * before ask before allow; then the class of the call; at last `onAsk` for what should be asked.
 */
export function judge(call: Judged, policy: Policy): Verdict {
  const denial = policy.sandbox === 'full' ? undefined : placeDenial(call, policy)
  if (denial) return denial
  const escalation = escalationOf(call, policy)
  const ruled = byRules(call, policy.rules)
  if (ruled?.effect === 'deny') return { kind: 'deny', code: 'RULE', reason: ruled.reason, ...named(ruled.rule) }
  // A rule that allows lifts no root: what leaves the session's places is asked all the same.
  if (escalation !== undefined) return settled({ kind: 'ask', ask: 'escalate', reason: escalation }, policy)
  if (ruled?.effect === 'ask')
    return settled({ kind: 'ask', ask: 'approve', reason: ruled.reason, ...named(ruled.rule) }, policy)
  if (ruled?.effect === 'allow') return { kind: 'allow', outside: false, ...named(ruled.rule) }
  const reason = classReason(call, policy)
  return reason === undefined
    ? { kind: 'allow', outside: false }
    : settled({ kind: 'ask', ask: 'approve', reason }, policy)
}

const named = (rule: Rule | undefined) => (rule ? { rule } : {})

function placeDenial(call: Judged, policy: Policy): Verdict | undefined {
  for (const path of call.paths) {
    const kind = placeKind(path, policy)
    if (kind === 'masked')
      return { kind: 'deny', code: 'MASKED', reason: `${path} is hidden from this session, for reading, too.` }
    if (call.class !== 'edit') continue
    if (policy.sandbox === 'read-only' && kind !== 'temporary')
      return { kind: 'deny', code: 'READ_ONLY', reason: `This session is read-only: ${path} cannot be written.` }
    if (kind === 'guarded')
      return {
        kind: 'deny',
        code: 'GUARDED',
        reason: `${path} stays read-only: programs outside of this session run what stands there.`,
      }
  }
  return undefined
}

function escalationOf(call: Judged, policy: Policy): string | undefined {
  if (policy.sandbox === 'full') return undefined
  if (call.escalate !== undefined) return `It asks to run outside of the sandbox: ${call.escalate}`
  if (call.class !== 'edit') return undefined
  const outside = call.paths.find((path) => placeKind(path, policy) === 'outside')
  return outside === undefined ? undefined : `${outside} lies outside of the folders that this session may write.`
}

function classReason(call: Judged, { sandbox, edits, commands }: Policy): string | undefined {
  switch (call.class) {
    case 'read':
      return undefined
    case 'edit':
      return edits === 'ask' ? 'Edits are asked for in this session.' : undefined
    case 'command':
      return commands === 'ask' ? 'Commands are asked for in this session.' : undefined
    default:
      return sandbox === 'full' ? undefined : `The tool ${call.toolName} does not say what it touches.`
  }
}

/** What should be asked, where this session says that nobody is asked. */
function settled(ask: Extract<Verdict, { kind: 'ask' }>, { onAsk }: Policy): Verdict {
  if (onAsk === 'prompt') return ask
  const { reason, rule } = ask
  if (onAsk === 'allow') return { kind: 'allow', outside: ask.ask === 'escalate', ...named(rule) }
  return {
    kind: 'deny',
    code: 'NOT_ALLOWED',
    reason: `${reason} This session asks nobody and declines.`,
    ...named(rule),
  }
}

interface Ruled {
  effect: 'deny' | 'ask' | 'allow'
  reason: string
  rule?: Rule
}

/** A prohibition that cannot judge a text makes it a question: a rule about commands must not be escaped by a semicolon. */
function byRules(call: Judged, rules: readonly Rule[]): Ruled | undefined {
  let unclear: Ruled | undefined
  for (const effect of ['deny', 'ask', 'allow'] as const)
    for (const rule of rules) {
      if (rule.effect !== effect) continue
      const match = matches(rule, call)
      if (match.kind === 'yes') return stricter(unclear, { effect, rule, reason: ruleReason(rule) })
      if (match.kind === 'unclear' && effect !== 'allow')
        unclear ??= {
          effect: 'ask',
          rule,
          reason: `${ruleReason(rule)} Whether it applies cannot be told: ${match.why}.`,
        }
    }
  return unclear
}

const stricter = (unclear: Ruled | undefined, found: Ruled): Ruled =>
  unclear && found.effect === 'allow' ? unclear : found

const ruleReason = ({ effect, tool, match, scope }: Rule): string => {
  const what = match ? `${tool} ${match.text}${match.kind === 'prefix' ? ' …' : ''}` : tool
  const verb = { deny: 'forbids', ask: 'asks about', allow: 'allows' }[effect]
  return `A rule of this ${scope} ${verb} ${what}.`
}
