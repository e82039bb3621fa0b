import { createHash } from 'node:crypto'
import { CoreError } from '../wire/errors.ts'
import { draft, type Draft } from '../wire/events.ts'
import { newId } from '../wire/ids.ts'
import type { Json } from '../wire/json.ts'
import type { ApprovalOutcome, Rule } from '../wire/safety.ts'
import type { Answer, Question } from './gate.ts'

/** The part of a session's log that a question needs. */
export interface AskLog {
  append(...drafts: Draft[]): unknown
  barrier(): Promise<void>
}

export interface AsksOptions {
  logOf(session: string): AskLog | undefined
  /** Makes calls like this one pass for the rest of the session. */
  addRule(session: string, rule: Omit<Rule, 'id'>): void
  /** How long a question waits once nobody looks at its session (ms); null: for ever. Asked at every question. */
  waitMs(): number | null
  id?: () => string
}

interface Open {
  id: string
  session: string
  digest: string
  rule: Omit<Rule, 'id'> | undefined
  waitMs: number | null
  settle(answer: Answer & { session?: true }): void
  timer: NodeJS.Timeout | undefined
}

/** Ended questions that a late answer is told about. */
const REMEMBERED = 1_000

/**
 * Everything that waits for a person. A question stands in the log with its decision, always as a pair inside the turn, so
 * that any tab and any reload shows it; the first valid answer wins. It waits as long as somebody looks at its session, and
 * for a while after the last one has left.
 */
export class Asks {
  readonly #options: AsksOptions
  readonly #open = new Map<string, Open>()
  readonly #ended = new Map<string, { session: string; outcome: ApprovalOutcome }>()
  readonly #attended = new Set<string>()

  constructor(options: AsksOptions) {
    this.#options = options
  }

  /** Resolves with the decision, which is in the log by then. A log that cannot take the question makes it `unavailable`. */
  async ask(question: Question): Promise<Answer> {
    const { agent, turn, step, callId, toolName, args, kind, reason, touches, signal, rule } = question
    const log = this.#options.logOf(agent.id)
    if (!log) return { outcome: 'unavailable' }
    if (signal.aborted) return { outcome: 'cancelled' }
    const id = (this.#options.id ?? newId)()
    const digest = digestOf(args)
    const waitMs = this.#options.waitMs()
    const at = { turn, step, id }
    log.append(
      draft('approval/asked', { ...at, callId, toolName, args, digest, kind, reason, touches, cwd: agent.cwd, waitMs }),
    )
    const answered = Promise.withResolvers<Answer & { session?: true }>()
    const open: Open = { id, session: agent.id, digest, rule, waitMs, settle: answered.resolve, timer: undefined }
    this.#open.set(id, open)
    this.#arm(open)
    const cancel = () => answered.resolve({ outcome: 'cancelled' })
    signal.addEventListener('abort', cancel, { once: true })
    try {
      // What is shown has to survive the process that shows it.
      await log.barrier()
      const { session, ...answer } = await answered.promise
      log.append(draft('approval/decided', { ...at, ...answer }))
      this.#end(open, answer.outcome)
      if (session && rule) this.#options.addRule(agent.id, rule)
      return answer
    } finally {
      signal.removeEventListener('abort', cancel)
      this.#end(open, 'unavailable')
    }
  }

  /**
   * A person's answer. Throws `approval/not-found` for a question that this host never asked or has forgotten,
   * `approval/answered` with the outcome for one that is decided, `approval/wrong-digest` for one about other arguments.
   */
  answer({
    session,
    approval,
    digest,
    answer,
    note,
  }: {
    session: string
    approval: string
    digest: string
    answer: 'once' | 'session' | 'reject'
    note?: string | undefined
  }): { outcome: ApprovalOutcome } {
    const open = this.#open.get(approval)
    if (!open || open.session !== session) throw this.#refusal(session, approval)
    if (open.digest !== digest)
      throw new CoreError(
        'approval/wrong-digest',
        'This is not what you were shown. Look at the call again, then answer.',
      )
    const outcome = outcomeOf(answer, open)
    const said = note?.trim()
    open.settle({
      outcome,
      ...(said && { note: said }),
      ...(outcome === 'allowed-session' && { session: true as const }),
    })
    // From here on it is decided, whatever the log still has to write.
    this.#end(open, outcome)
    return { outcome }
  }

  /** Somebody looks at the session, or the last one has left. */
  attend(session: string, looks: boolean): void {
    if (looks) this.#attended.add(session)
    else this.#attended.delete(session)
    for (const open of this.#open.values()) if (open.session === session) this.#arm(open)
  }

  #arm(open: Open): void {
    clearTimeout(open.timer)
    open.timer = undefined
    if (open.waitMs === null || this.#attended.has(open.session)) return
    open.timer = setTimeout(() => open.settle({ outcome: 'unavailable' }), open.waitMs)
  }

  #end(open: Open, outcome: ApprovalOutcome): void {
    clearTimeout(open.timer)
    if (!this.#open.delete(open.id)) return
    this.#ended.set(open.id, { session: open.session, outcome })
    for (const id of this.#ended.keys()) {
      if (this.#ended.size <= REMEMBERED) break
      this.#ended.delete(id)
    }
  }

  #refusal(session: string, approval: string): CoreError {
    const ended = this.#ended.get(approval)
    if (!ended || ended.session !== session)
      return new CoreError(
        'approval/not-found',
        'That question is not open any more: its call is over, or the host was restarted.',
      )
    return new CoreError('approval/answered', `That question was already decided: ${WORDS[ended.outcome]}.`, {
      outcome: ended.outcome,
    })
  }
}

const WORDS: { readonly [O in ApprovalOutcome]: string } = {
  'allowed-once': 'allowed once',
  'allowed-session': 'allowed for this session',
  rejected: 'declined',
  cancelled: 'the turn ended',
  unavailable: 'nobody answered in time',
}

/** A question without a rule of its own cannot be answered for the whole session. */
function outcomeOf(answer: 'once' | 'session' | 'reject', { rule }: Open): ApprovalOutcome {
  if (answer === 'reject') return 'rejected'
  return answer === 'session' && rule ? 'allowed-session' : 'allowed-once'
}

/** SHA-256 over the arguments with their keys in order, in hex. */
export const digestOf = (args: Json): string => createHash('sha256').update(canonical(args)).digest('hex')

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const keys = Object.keys(value).toSorted()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`).join(',')}}`
}
