import { failure, type Admission, type AgentFacts, type ToolOutcome } from '../tool/tool.ts'
import type { CallEvent, PreExecute } from '../tool/execute.ts'
import type { ApprovalOutcome, Policy, Rule } from '../wire/safety.ts'
import { judge, type DenialCode, type Judged, type Verdict } from './judge.ts'
import { realPlaceOf } from './places.ts'

/** What is asked of a person; `touches` are real paths or the working folder. */
export interface Question {
  agent: AgentFacts
  turn: number
  step: number
  callId: string
  toolName: string
  args: CallEvent['args']
  kind: 'approve' | 'escalate'
  reason: string
  touches: string[]
  signal: AbortSignal
  /** What would let calls like this one pass for the rest of the session. */
  rule?: Omit<Rule, 'id'>
}

export interface Answer {
  outcome: ApprovalOutcome
  note?: string
}

export interface GateOptions {
  policyFor(session: string): Policy | undefined
  ask(question: Question): Promise<Answer>
}

/**
 * Judges each call whose hooks have had their say: the arguments that it lets pass are the ones that run. Nothing of it
 * reaches the model but the result of a call that is declined.
 */
export function gate({ policyFor, ask }: GateOptions) {
  return async (event: CallEvent, next: () => Promise<PreExecute>): Promise<PreExecute> => {
    const decided = await next()
    const policy = policyFor(event.agent.id)
    if (decided.kind === 'refuse' || !policy) return decided
    const args = decided.args ?? event.args
    const paths = await pathsOf({ ...event, args }, policy)
    const call = judgedCall({ ...event, args }, paths)
    const verdict = judge(call, policy)
    const admit = (outside: boolean): PreExecute => ({ ...decided, admission: { policy, paths, outside } })
    if (verdict.kind === 'allow') return admit(verdict.outside)
    if (verdict.kind === 'deny') return { kind: 'refuse', outcome: denied(verdict, policy) }
    const answer = await ask(questionOf({ ...event, args }, call, verdict))
    if (answer.outcome === 'allowed-once' || answer.outcome === 'allowed-session')
      return admit(verdict.ask === 'escalate')
    return { kind: 'refuse', outcome: unanswered(answer) }
  }
}

async function pathsOf(event: CallEvent, policy: Policy): Promise<Admission['paths']> {
  const given = event.tool.classify?.(event.args).paths ?? []
  return Promise.all(
    given.map(async (path) => [path, await realPlaceOf(path, event.agent.cwd, policy.mounts)] as const),
  )
}

function judgedCall({ tool, name, args }: CallEvent, paths: Admission['paths']): Judged {
  const seen = tool.classify?.(args)
  return {
    toolName: name,
    class: seen?.class ?? 'unknown',
    paths: paths.map(([, real]) => real),
    ...(seen?.command !== undefined && { command: seen.command }),
    ...(seen?.escalate !== undefined && { escalate: seen.escalate }),
  }
}

function questionOf(
  event: CallEvent,
  call: Judged,
  { ask: kind, reason }: Extract<Verdict, { kind: 'ask' }>,
): Question {
  const { agent, turn, step, callId, name, args, signal } = event
  const touches = call.paths.length > 0 ? [...call.paths] : [agent.cwd]
  const rule = kind === 'approve' ? sessionRule(call) : undefined
  return { agent, turn, step, callId, toolName: name, args, kind, reason, touches, signal, ...(rule && { rule }) }
}

/** The narrowest rule that lets this very call pass again. */
function sessionRule({ toolName, command, paths }: Judged): Omit<Rule, 'id'> | undefined {
  const base = { effect: 'allow', tool: toolName, scope: 'session' } as const
  if (command !== undefined) return { ...base, match: { kind: 'prefix', text: command.trim() } }
  const [path] = paths
  return path === undefined ? base : { ...base, match: { kind: 'prefix', text: path } }
}

const CODES: { readonly [C in DenialCode]: string } = {
  MASKED: 'PERMISSION_HIDDEN',
  READ_ONLY: 'PERMISSION_READ_ONLY',
  GUARDED: 'PERMISSION_PROTECTED',
  RULE: 'PERMISSION_RULE',
  NOT_ALLOWED: 'PERMISSION_NOT_ASKED',
}

/** `meta.fix` is for the person: the mode that would let it pass. */
function denied({ code, reason }: Extract<Verdict, { kind: 'deny' }>, { sandbox }: Policy): ToolOutcome {
  const fix = code === 'READ_ONLY' ? 'workspace-write' : null
  return failure(CODES[code], `Not run. ${reason}`, { kind: 'denied', code, sandbox, fix })
}

function unanswered({ outcome, note }: Answer): ToolOutcome {
  const meta = { kind: 'declined', outcome }
  if (outcome === 'rejected') {
    const said = note === undefined ? 'They gave no reason.' : `They say: ${note}`
    return failure('PERMISSION_REJECTED', `Not run. A person declined this call. ${said}`, meta)
  }
  if (outcome === 'cancelled')
    return failure('ABORTED', 'Not run: the turn ended while a person was being asked.', meta)
  return failure(
    'PERMISSION_UNANSWERED',
    'Not run. A person was asked and nobody answered in time. That is no refusal: go on without it, or say what you need.',
    meta,
  )
}
