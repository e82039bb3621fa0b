import type { CoreError, WireError } from '../wire/errors.ts'
import { draft, type Header, type LogEvent } from '../wire/events.ts'
import { newId } from '../wire/ids.ts'
import type { Message } from '../wire/messages.ts'
import type { GenerationRef } from '../wire/presets.ts'
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
import type { Titles, TitleSubject } from './titles.ts'
import type { SessionView } from './view.ts'

/** A disk that refused is tried again after this many ms. */
const RETRY_MS = 2_000

export interface LiveParts {
  handle: AgentHandle
  log: SessionLog
  selection: ModelSelection
  hooks: Hooks
  feed: Feed
  composition?: (() => GenerationRef | undefined) | undefined
  titles: Titles
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
  readonly #feed: Feed
  readonly #composition: LiveParts['composition']
  /** Picks of one session are recorded one after another (L-15). */
  #picks: Promise<unknown> = Promise.resolve()
  #retry: NodeJS.Timeout | undefined
  readonly #titles: Titles
  /** The one request for a title that this process makes for the session. */
  #title: Promise<void> | undefined
  readonly #ending = new AbortController()

  constructor({ handle, log, selection, hooks, feed, composition, titles, onCommit }: LiveParts) {
    this.#titles = titles
    this.#feed = feed
    this.#composition = composition
    this.#handle = handle
    this.agent = handle.agent
    this.log = log
    this.selection = selection
    // The record of a title that was asked for belongs into the log, which is closed after the agent.
    this.agent.onClose(() => {
      this.#ending.abort()
      return this.#title
    })
    this.#undo = [
      log.observe((events) => {
        feed.events(this.id, events)
        onCommit(events)
      }),
      log.onRefusal((refusal) => {
        this.tellStatus()
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

  composition(): GenerationRef | undefined {
    return this.#composition?.()
  }

  /** Blank until its first turn starts; what a fork inherited counts. */
  blank(): boolean {
    const { lastTurn, openTurn } = this.state()
    return lastTurn === 0 && openTurn === null
  }

  /** Its preset was gone when it was opened: the agent has nothing to work with until it is given another one. */
  uncomposed(): boolean {
    return this.#composition !== undefined && this.state().preset.current !== null && !this.composition()
  }

  /** To every tab: who writes, what keeps prompts out, and which generation the agent uses. */
  tellStatus(): void {
    this.#feed.writer(this.id, this.writer(), this.readOnly(), this.composition())
  }

  release(): void {
    // A live session stays until it is disposed, whoever looks at it.
  }

  /**
   * Queues or steers, and names a session that has no title yet by the rule. Resolves with the message's id once it is on
   * disk. A message of the given `id` that the log holds already is not sent twice.
   */
  async prompt(text: string, mode: 'queue' | 'steer', id: string = newId()): Promise<string> {
    if (this.#holds(id)) {
      await this.log.barrier()
      return id
    }
    const message: Message = { id, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } }
    const before = this.log.lastSeq
    const untitled = !this.#title && this.#titles.wants(this.#subject())
    const sent = this.agent.send(mode, message)
    const title = titleFrom(text)
    // A log that did not take the prompt takes no title either; `sent` says why.
    const taken = this.log.lastSeq > before && !this.log.refusal
    if (taken && title && !this.state().title) this.log.append(draft('session/title', { title, source: 'rule' }))
    await sent
    if (untitled && !this.#title) this.#title = this.#titles.write(this.#subject(), this.#ending.signal)
    return id
  }

  /** Resolves when no title is being asked for. */
  async whenTitled(): Promise<void> {
    await this.#title
  }

  #subject(): TitleSubject {
    return { id: this.id, log: this.log, current: this.selection.current }
  }

  #holds(id: string): boolean {
    return this.events.some(
      (event) => event.type === 'agent/inbox/spliced' && event.data.inserted.some((message) => message.id === id),
    )
  }

  /** A refusing disk is asked again until it takes what is kept in memory; a foreign writer's bytes never go away by themselves. */
  #tryAgain(refusal: CoreError | null): void {
    clearTimeout(this.#retry)
    if (this.#ending.signal.aborted) return
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
    this.#ending.abort()
    clearTimeout(this.#retry)
    try {
      await this.#handle.dispose()
    } finally {
      for (const undo of this.#undo) undo()
    }
  }
}
