import { CoreError } from '../wire/errors.ts'
import type { TurnWorld } from '../turn/world.ts'
import { Agent, type AgentInit } from './agent.ts'

export interface CreateAgent extends AgentInit {
  /** The agent that delegated to this one. */
  parent?: Agent
  /** Composes the agent before anyone can see it; a throw publishes nothing and leaves the id free. */
  setup?(agent: Agent): void | Promise<void>
}

/** Only the holder may tear the agent down. */
export interface AgentHandle {
  readonly agent: Agent
  /** Cancel, wait until idle, unwind, close the log, leave the registry; the same promise every time. */
  dispose(): Promise<void>
}

interface Live {
  agent: Agent
  parent: Agent | undefined
}

/** The live agents by session id. It builds and publishes; preset and model come from `setup` alone. */
export class AgentRegistry {
  #world: TurnWorld
  #report: (error: unknown, agent: string) => void
  #live = new Map<string, Live>()
  #creating = new Map<string, Promise<AgentHandle>>()
  #draining = new Map<string, Promise<void>>()

  /** `report` hears of effects that failed while an agent was torn down. */
  constructor(world: TurnWorld, report: (error: unknown, agent: string) => void = () => {}) {
    this.#world = world
    this.#report = report
  }

  /**
   * Concurrent creations of one id share one agent; a live id is `session/conflict`; one that is being torn down is
   * waited for. Until it is published, the log stays the caller's to close.
   */
  create(options: CreateAgent): Promise<AgentHandle> {
    const pending = this.#creating.get(options.id)
    if (pending) return pending
    const creation = this.#create(options).finally(() => this.#creating.delete(options.id))
    this.#creating.set(options.id, creation)
    return creation
  }

  /** Resolves when no agent of this id is being torn down. */
  async drained(id: string): Promise<void> {
    await this.#draining.get(id)
  }

  get(id: string): Agent | undefined {
    return this.#live.get(id)?.agent
  }

  list(): Agent[] {
    return [...this.#live.values()].map((live) => live.agent)
  }

  /** Agents that nobody delegated to. */
  roots(): Agent[] {
    return [...this.#live.values()].flatMap((live) => (live.parent ? [] : [live.agent]))
  }

  parentOf(agent: Agent): Agent | undefined {
    return this.#live.get(agent.id)?.parent
  }

  /** True when `agent` was delegated to by `owner`, directly or through others. */
  isOwnedBy(agent: Agent, owner: Agent): boolean {
    for (let at = this.parentOf(agent); at; at = this.parentOf(at)) if (at === owner) return true
    return false
  }

  async #create(options: CreateAgent): Promise<AgentHandle> {
    const { setup, parent, ...init } = options
    const { id } = init
    await this.drained(id)
    if (this.#live.has(id))
      throw new CoreError('session/conflict', `The session ${id} is already open.`, { sessionId: id })
    const agent = new Agent(this.#world, init)
    try {
      await setup?.(agent)
    } catch (error) {
      await this.#unwind(agent)
      throw error
    }
    this.#live.set(id, { agent, parent })
    this.#world.hooks.emit('agent/created', agent, { agent })
    let disposal: Promise<void> | undefined
    return { agent, dispose: () => (disposal ??= this.#dispose(agent)) }
  }

  #dispose(agent: Agent): Promise<void> {
    const drained = this.#tearDown(agent).finally(() => {
      this.#live.delete(agent.id)
      this.#draining.delete(agent.id)
    })
    this.#draining.set(
      agent.id,
      drained.catch(() => {
        // A log that fails to close is the disposer's error; whoever waits for the id only needs it gone.
      }),
    )
    return drained
  }

  async #tearDown(agent: Agent): Promise<void> {
    await this.#unwind(agent)
    await agent.log.close()
    this.#world.hooks.emit('agent/disposed', agent, { agent })
  }

  async #unwind(agent: Agent): Promise<void> {
    for (const failure of await agent.close()) this.#report(failure, agent.id)
  }
}
