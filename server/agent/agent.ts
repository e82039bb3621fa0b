import { CoreError } from '../wire/errors.ts'
import type { AbortCause, InboxTarget } from '../wire/events.ts'
import { newId } from '../wire/ids.ts'
import type { Block, Message } from '../wire/messages.ts'
import type { GenerationRef } from '../wire/presets.ts'
import type { EventLog } from '../log/port.ts'
import type { ScopeKey } from '../scope/scope.ts'
import { CompositionDigest } from '../turn/digest.ts'
import { History } from '../turn/history.ts'
import type { AgentOptions, Delta, TurnAgent } from '../turn/hooks.ts'
import { runTurn } from '../turn/turn.ts'
import type { Instance, TurnWorld } from '../turn/world.ts'
import { Inbox } from './inbox.ts'

/** What an agent is doing. `maintenance` is its serialized slot in use by the host, with prompts queueing behind it. */
export type Phase =
  { kind: 'idle' } | { kind: 'turn'; abort: AbortController } | { kind: 'maintenance' } | { kind: 'closed' }

export interface AgentInit {
  id: string
  log: EventLog
  options: AgentOptions
  /** Digest of the preset declaration in force; asked at every request. */
  presetDigest?: () => string | undefined
  /** The preset's revision in force, for the header; asked at every request. */
  composition?: () => GenerationRef | undefined
  /** Deterministic path for replay, `main` when absent; a delegated agent's is `<parent's>/sub:<n>`. */
  lane?: string
}

/** One session's agent: its queue, and the single driver that takes turns from it. Its scope key is the object itself. */
export class Agent implements TurnAgent {
  readonly id: string
  readonly log: EventLog
  readonly options: AgentOptions
  readonly inbox: Inbox
  readonly scope: ScopeKey = this
  #world: TurnWorld
  #instance: Instance
  #phase: Phase = { kind: 'idle' }
  #closing = false
  #jobs: (() => Promise<void>)[] = []
  // Rows found at start wait for the first wake: opening a session must not spend tokens.
  #driven = false
  // Injected rows alone start no turn; a waking one that came too late for its turn does.
  #nextStepWakes = false
  #idle: PromiseWithResolvers<void> | undefined
  #effects: (() => void | Promise<void>)[] = []
  #deltas = new Set<(delta: Delta) => void>()

  constructor(world: TurnWorld, init: AgentInit) {
    this.id = init.id
    this.log = init.log
    this.options = init.options
    this.inbox = new Inbox(init.log)
    this.#world = world
    this.#instance = {
      agent: this,
      inbox: this.inbox,
      callIds: callIdsOf(init.log),
      warned: new Set(),
      retries: 0,
      headerLogged: false,
      digest: new CompositionDigest(),
      history: new History(),
      ...(init.presetDigest && { presetDigest: init.presetDigest }),
      ...(init.composition && { composition: init.composition }),
      ...(init.lane !== undefined && { lane: init.lane }),
      onDelta: (delta) => this.#tellDelta(delta),
    }
  }

  get cwd(): string {
    return this.options.cwd
  }

  get phase(): Phase['kind'] {
    return this.#phase.kind
  }

  get status(): 'idle' | 'running' {
    return this.#phase.kind === 'turn' ? 'running' : 'idle'
  }

  /** Queues a prompt for a turn of its own. Resolves once it is on disk; rejects when the agent is closed or the disk refuses. */
  followup(content: string | Block[] | Message): Promise<Message> {
    return this.#send('next-turn', content, { wake: true })
  }

  /** Adds to the running turn's next step; starts a turn when there is none. */
  steer(content: string | Block[] | Message): Promise<Message> {
    return this.#send('next-step', content, { wake: true })
  }

  /** Adds to the next step without waking the agent. */
  inject(content: string | Block[] | Message): Promise<Message> {
    return this.#send('next-step', content, { wake: false })
  }

  send(mode: 'queue' | 'steer' | 'inject', content: string | Block[] | Message): Promise<Message> {
    if (mode === 'queue') return this.followup(content)
    return mode === 'steer' ? this.steer(content) : this.inject(content)
  }

  /** Takes a waiting row next: into the running turn, else into a turn of its own. Throws `session/queue-item-not-found`. */
  async sendNow(id: string): Promise<Message> {
    this.#refuseClosed()
    const target = this.#runningTurn() ? 'next-step' : 'next-turn'
    const message = this.inbox.promote(id, target)
    this.#wake(target)
    await this.log.barrier()
    return message
  }

  /**
   * Aborts the running turn; the first cause wins. False when idle. Without `keepInbox` the queue is dropped; with it every
   * waiting row is parked, except when the host goes down: then rows stay queued for the next time the session is driven.
   */
  cancel(cause: AbortCause, options: { keepInbox?: boolean } = {}): boolean {
    const phase = this.#phase
    if (phase.kind === 'idle' || phase.kind === 'closed') return false
    if (!options.keepInbox) this.inbox.clear()
    if (options.keepInbox && cause.kind !== 'disposed') this.inbox.parkWaiting('cancelled')
    this.#nextStepWakes = false
    if (phase.kind === 'turn' && !phase.abort.signal.aborted) {
      phase.abort.abort(cause)
      this.#world.hooks.emit('agent/cancelled', this, { agent: this, cause })
    }
    return true
  }

  /** Resolves when nothing runs and nothing is about to. */
  whenIdle(): Promise<void> {
    if (this.#phase.kind === 'idle' || this.#phase.kind === 'closed') return Promise.resolve()
    this.#idle ??= Promise.withResolvers()
    return this.#idle.promise
  }

  /**
   * Runs `work` alone, between turns; prompts that arrive meanwhile wait behind it. Jobs run in order, before the next turn.
   * Awaiting it from inside one of this agent's own turns would wait for itself.
   */
  runMaintenance<T>(work: () => T | Promise<T>): Promise<T> {
    this.#refuseClosed()
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push(async () => {
        try {
          resolve(await work())
        } catch (error) {
          reject(error)
        }
      })
      if (this.#phase.kind === 'idle') void this.#drive()
    })
  }

  /** Runs `effect` when the agent is disposed, last registered first. */
  onClose(effect: () => void | Promise<void>): void {
    this.#effects.push(effect)
  }

  /** Text as it streams; called once per chunk, synchronously. */
  onDelta(listener: (delta: Delta) => void): () => void {
    this.#deltas.add(listener)
    return () => this.#deltas.delete(listener)
  }

  /** Ends turn and slot and unwinds what was registered; the log is the caller's. Its failures come back as a list. */
  async close(): Promise<unknown[]> {
    this.#closing = true
    this.cancel({ kind: 'disposed' }, { keepInbox: true })
    await this.whenIdle()
    this.#phase = { kind: 'closed' }
    const failures: unknown[] = []
    for (const effect of this.#effects.splice(0).toReversed())
      await settled(effect).catch((error: unknown) => failures.push(error))
    this.#deltas.clear()
    return failures
  }

  async #send(target: InboxTarget, content: string | Block[] | Message, { wake }: { wake: boolean }): Promise<Message> {
    this.#refuseClosed()
    const message = messageFor(content, this.#world.id ?? newId)
    // A turn that was told to stop takes nothing more; the message gets a turn of its own afterwards.
    const place = wake && this.#phase.kind === 'turn' && this.#phase.abort.signal.aborted ? 'next-turn' : target
    this.inbox.insert(place, message)
    this.#world.hooks.emit('agent/inbox/inserted', this, { agent: this, target: place, message })
    if (wake) this.#wake(place)
    await this.log.barrier()
    return message
  }

  #wake(target: InboxTarget): void {
    this.#driven = true
    if (target === 'next-step') this.#nextStepWakes = true
    if (this.#phase.kind === 'idle') void this.#drive()
  }

  #ready(): boolean {
    if (!this.#driven || this.#closing) return false
    return this.inbox.hasNextTurn() || (this.#nextStepWakes && this.inbox.hasNextStep())
  }

  /** The one driver: host jobs first, then turns, until nothing waits. */
  async #drive(): Promise<void> {
    for (;;) {
      const job = this.#jobs.shift()
      if (job) {
        this.#enter({ kind: 'maintenance' })
        await job()
        continue
      }
      if (!this.#ready()) break
      if (!(await this.#turn())) break
    }
    this.#enter({ kind: 'idle' })
    this.#idle?.resolve()
    this.#idle = undefined
  }

  /** False when the log refused: driving on would act without a record. */
  async #turn(): Promise<boolean> {
    const abort = new AbortController()
    this.#enter({ kind: 'turn', abort })
    this.#nextStepWakes = false
    try {
      await runTurn(this.#world, this.#instance, abort.signal)
      return true
    } catch (thrown) {
      this.inbox.putBack(undefined)
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      this.#world.hooks.emit('agent/error', this, {
        agent: this,
        turn: 0,
        step: 0,
        error: { code: 'UNKNOWN', message },
      })
      return false
    }
  }

  #enter(phase: Phase): void {
    const before = this.status
    this.#phase = phase
    if (this.status !== before) this.#world.hooks.emit('agent/status', this, { agent: this, status: this.status })
  }

  #runningTurn(): boolean {
    return this.#phase.kind === 'turn' && !this.#phase.abort.signal.aborted
  }

  #refuseClosed(): void {
    if (this.#closing)
      throw new CoreError('gateway/cancelled', 'This session is being closed. Open it again to continue.')
  }

  #tellDelta(delta: Delta): void {
    for (const listener of this.#deltas) {
      try {
        listener(delta)
      } catch {
        // A screen that fails must not end the answer; it catches up from the logged message.
      }
    }
  }
}

/** Also a synchronous throw becomes a rejection. */
const settled = async (effect: () => void | Promise<void>): Promise<void> => effect()

function messageFor(content: string | Block[] | Message, id: () => string): Message {
  if (typeof content === 'object' && !Array.isArray(content)) return content
  return {
    id: id(),
    role: 'user',
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    source: { kind: 'user' },
  }
}

function callIdsOf(log: EventLog): Set<string> {
  const ids = new Set<string>()
  for (const event of log.events) {
    if (event.type !== 'assistant/message') continue
    for (const block of event.data.message.content) if (block.type === 'tool-call') ids.add(block.id)
  }
  return ids
}
