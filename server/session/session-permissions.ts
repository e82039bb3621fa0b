import { CoreError } from '../wire/errors.ts'
import { draft } from '../wire/events.ts'
import type { PinnedPolicy, PolicyChoice, Rule } from '../wire/safety.ts'
import type { OpenSessions } from './open-sessions.ts'
import type { Permissions } from './ports.ts'

/** What a person decides about what one session is held to. */
export class SessionPermissions {
  readonly #open: OpenSessions
  readonly #permissions: Permissions | undefined

  constructor(open: OpenSessions, permissions: Permissions | undefined) {
    this.#open = open
    this.#permissions = permissions
  }

  /** Holds from the next call on; a shell of the former choice ends. */
  async select(id: string, choice: { preset: string } | { choice: PolicyChoice }): Promise<PinnedPolicy> {
    const permissions = this.#permissions
    if (!permissions)
      throw new CoreError('permission/invalid', 'This host keeps no policies: it runs without the row policy.')
    const session = await this.#open.ensure(id)
    session.log.append(...permissions.chosen(choice))
    await session.log.barrier()
    await permissions.changed(session.agent)
    return session.state().policy
  }

  /** The session's own rules, changed by `change`. */
  async changeRules(id: string, change: (rules: readonly Rule[]) => Rule[]): Promise<void> {
    const session = await this.#open.ensure(id)
    session.log.append(draft('permission/rules', { rules: change(session.state().policy.rules) }))
    await session.log.barrier()
  }
}
