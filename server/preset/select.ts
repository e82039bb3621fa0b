import { draft } from '../wire/events.ts'
import { locked } from './errors.ts'
import type { ScopeKey } from '../scope/scope.ts'
import type { Draft, LogEvent } from '../wire/events.ts'
import type { Joins } from './joins.ts'
import type { Lease } from './lease.ts'

/** What a switch needs of an agent. `runMaintenance` is its serialized slot: prompts that arrive meanwhile queue behind it. */
export interface SelectableAgent {
  id: string
  scope: ScopeKey
  log: { readonly events: readonly LogEvent[]; append(...drafts: Draft[]): LogEvent[] }
  runMaintenance<T>(work: () => Promise<T>): Promise<T>
}

export interface SelectionParts {
  joins: Joins
  retain(id: string, caller: string | undefined): Promise<Lease>
  notify(
    change: { kind: 'bound'; scope: ScopeKey; id: string } | { kind: 'selected'; sessionId: string; id: string },
  ): void
}

/** A session is blank until its first turn starts; idle is not blank (H-03). Inherited turns of a fork count. */
function requireBlank(agent: SelectableAgent, id: string): void {
  if (agent.log.events.some((event) => event.type === 'turn/start')) throw locked(agent.id, id)
}

/** Switching the preset of a blank session, one switch at a time per agent (H-01). */
export class Selections {
  readonly #parts: SelectionParts
  readonly #queues = new Map<string, Promise<unknown>>()

  constructor(parts: SelectionParts) {
    this.#parts = parts
  }

  /**
   * Lease, bind, append, in this order; a failed append restores the binding and rejects. The same generation again is
   * no switch and leaves no event. Rejects `agent-preset/locked`, `not-found`, `invalid`.
   */
  async select(agent: SelectableAgent, id: string, caller?: string): Promise<string> {
    const before = this.#queues.get(agent.id)
    const run = (): Promise<string> => this.#run(agent, id, caller)
    // The first one enters the agent's slot at once: a prompt that comes right behind it must find it there.
    const turn = before ? before.then(run, run) : run()
    this.#queues.set(agent.id, turn)
    try {
      return await turn
    } finally {
      if (this.#queues.get(agent.id) === turn) this.#queues.delete(agent.id)
    }
  }

  async #run(agent: SelectableAgent, id: string, caller: string | undefined): Promise<string> {
    // An open turn would hold the slot; the refusal must not wait for its end.
    requireBlank(agent, id)
    return agent.runMaintenance(async () => {
      requireBlank(agent, id)
      const lease = await this.#parts.retain(id, caller)
      let step
      try {
        requireBlank(agent, id)
        step = this.#parts.joins.move(agent.scope, lease)
      } catch (error) {
        await lease.release()
        throw error
      }
      if (step.changed) {
        try {
          agent.log.append(draft('agent-preset/selected', { agentPreset: lease.id }))
        } catch (error) {
          await step.undo()
          throw error
        }
      }
      await step.commit()
      if (!step.changed) return lease.id
      this.#parts.notify({ kind: 'bound', scope: agent.scope, id: lease.id })
      this.#parts.notify({ kind: 'selected', sessionId: agent.id, id: lease.id })
      return lease.id
    })
  }
}
