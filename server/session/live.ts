import type { CoreError, WireError } from '../wire/errors.ts'
import { draft, type Header, type LogEvent } from '../wire/events.ts'
import type { Message } from '../wire/messages.ts'
import type { Writer } from '../wire/protocol.ts'
import type { Agent } from '../agent/agent.ts'
import type { AgentHandle } from '../agent/registry.ts'
import type { SessionLog } from '../log/session-log.ts'
import { sessionState, type SessionState } from '../projection/session-state.ts'
import { titleFrom } from '../projection/title.ts'
import type { Hooks } from '../turn/hooks.ts'
import type { Feed } from './feed.ts'
import type { ModelSelection } from './selection.ts'
import { refusalOf } from './cold.ts'
import type { SessionView } from './view.ts'

/** A disk that refused is tried again after this many ms. */
const RETRY_MS = 2_000

export interface LiveParts {
  handle: AgentHandle
  log: SessionLog
  selection: ModelSelection
  hooks: Hooks
  feed: Feed
  /** After every commit: the list line may have changed. */
  onCommit(events: readonly LogEvent[]): void
}

/** A session that this process owns: its agent, its log, and the feed of what happens in it. */
export class LiveSession implements SessionView {
  readonly agent: Agent
  readonly log: SessionLog
  readonly selection: ModelSelection
  readonly partial = false
  readonly #handle: AgentHandle
  readonly #undo: (() => void)[]
  /** Picks of one session are recorded one after another (L-15). */
  #picks: Promise<unknown> = Promise.resolve()
  #retry: NodeJS.Timeout | undefined

  constructor({ handle, log, selection, hooks, feed, onCommit }: LiveParts) {
    this.#handle = handle
    this.agent = handle.agent
    this.log = log
    this.selection = selection
    this.#undo = [
      log.observe((events) => {
        feed.events(this.id, events)
        onCommit(events)
      }),
      log.onRefusal((refusal) => {
        feed.writer(this.id, this.writer(), this.readOnly())
        this.#tryAgain(refusal)
      }),
      this.agent.onDelta((delta) => feed.delta(this.id, delta)),
      hooks.on(this.agent, 'tool/output', (output) => feed.output(this.id, output)),
    ]
  }

  get id(): string {
    return this.agent.id
  }

  get header(): Header {
    return this.log.header
  }

  get events(): readonly LogEvent[] {
    return this.log.events
  }

  state(): SessionState {
    return this.log.state(sessionState)
  }

  writer(): Writer {
    return { kind: 'here' }
  }

  readOnly(): WireError | undefined {
    return refusalOf(this.log.refusal)
  }

  release(): void {
    // A live session stays until it is disposed, whoever looks at it.
  }

  /** Queues or steers, and names a session that has no title yet by the rule. Resolves once the prompt is on disk. */
  async prompt(text: string, mode: 'queue' | 'steer'): Promise<Message> {
    const sent = this.agent.send(mode, text)
    const title = titleFrom(text)
    if (title && !this.state().title) this.log.append(draft('session/title', { title, source: 'rule' }))
    return sent
  }

  /** A refusing disk is asked again until it takes what is kept in memory; a foreign writer's bytes never go away by themselves. */
  #tryAgain(refusal: CoreError | null): void {
    clearTimeout(this.#retry)
    if (refusal?.code !== 'session/read-only') return
    const again = () => void this.log.retry().catch(() => this.#tryAgain(refusal))
    this.#retry = setTimeout(again, RETRY_MS).unref()
  }

  serially<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#picks.then(work, work)
    this.#picks = next.catch(() => {
      // The caller has the rejection; the next pick must not inherit it.
    })
    return next
  }

  async dispose(): Promise<void> {
    clearTimeout(this.#retry)
    await this.#handle.dispose()
    for (const undo of this.#undo) undo()
  }
}
