import { CoreError } from '../wire/errors.ts'
import type { CommandName } from '../wire/commands.ts'

export interface Limits {
  /** Sessions that live in this process: each holds a log, an agent and perhaps a shell. */
  sessions: number
  /** Prompts that wait in one session. */
  queue: number
  /** Sockets, one per tab. */
  tabs: number
  /** Commands of one tab that are not answered yet. */
  pending: number
  /** Sessions that one tab follows at once. */
  attached: number
}

/** Far beyond what a person does, and far below what would hurt the host. */
export const LIMITS: Limits = { sessions: 2_000, queue: 200, tabs: 256, pending: 256, attached: 128 }

export const tooMany = (message: string): CoreError => new CoreError('gateway/too-many-requests', message)

/** Commands that decide something which a person should have looked at, and those that try a secret: [times, per ms]. */
const PACED: { readonly [name in CommandName]?: readonly [times: number, ms: number] } = {
  'approval.answer': [240, 60_000],
  'credential.set': [60, 60_000],
}

/** Counts paced commands over all tabs; a script that answers for the person is slowed down. */
export class Pace {
  readonly #now: () => number
  readonly #times = new Map<CommandName, number[]>()

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Throws `gateway/too-many-requests` when the command came too often of late. */
  take(name: CommandName): void {
    const limit = PACED[name]
    if (!limit) return
    const [times, ms] = limit
    const now = this.#now()
    const recent = (this.#times.get(name) ?? []).filter((at) => at > now - ms)
    this.#times.set(name, recent)
    if (recent.length >= times)
      throw tooMany(`${name} was sent ${times} times within ${ms / 1000} seconds. Wait a minute, then try again.`)
    recent.push(now)
  }
}
