import { CoreError, type WireError } from '../wire/errors.ts'
import type { Header, LogEvent } from '../wire/events.ts'
import type { Writer } from '../wire/protocol.ts'
import type { OpenedForReading, SessionStore } from '../log/store.ts'
import { sessionState, type SessionState } from '../projection/session-state.ts'
import type { SessionView } from './view.ts'

/** While another process holds the session, whether it still does is looked at this often (ms): a closed one says nothing. */
const LOOK_MS = 3_000

export interface ColdOptions {
  store: SessionStore
  /** Another process appended; the view's own events already hold them. */
  onEvents(events: readonly LogEvent[]): void
  onWriter(writer: Writer, readOnly: WireError | undefined): void
  /** Why a prompt would be refused although the log is whole: the preset is gone or broken. Asked at every opening of a tab. */
  refusal(state: SessionState): Promise<WireError | undefined>
  onReleased(): void
  /** The file cannot be followed any further; who opens the session next must read it anew. */
  onLost(): void
}

/** A session read from disk without taking it: works on any host, follows what another process writes. */
export class ColdView implements SessionView {
  readonly id: string
  readonly header: Header
  readonly partial: boolean
  readonly #options: ColdOptions
  readonly #opened: OpenedForReading
  readonly #events: LogEvent[]
  #state: SessionState
  #writer: Writer = { kind: 'none' }
  #follow: { close(): Promise<void> } | undefined
  #timer: NodeJS.Timeout | undefined
  #refusal: WireError | undefined
  #ended = false

  private constructor(opened: OpenedForReading, options: ColdOptions) {
    this.id = opened.log.header.id
    this.header = opened.log.header
    this.partial = opened.damage !== null
    this.#opened = opened
    this.#options = options
    this.#events = [...opened.log.events]
    this.#state = opened.log.state(sessionState)
  }

  static async open(id: string, options: ColdOptions): Promise<ColdView> {
    const view = new ColdView(await options.store.openRead(id, { freeze: false }), options)
    await view.refresh()
    if (!view.partial)
      view.#follow = await options.store.watch(id, {
        after: view.#events.length - 1,
        onEvents: (events) => view.#grow(events),
        onEnd: () => options.onLost(),
      })
    return view
  }

  get events(): readonly LogEvent[] {
    return this.#events
  }

  state(): SessionState {
    return this.#state
  }

  writer(): Writer {
    return this.#writer
  }

  readOnly(): WireError | undefined {
    const { damage, unknown } = this.#opened
    if (damage)
      return {
        code: 'session/corrupt',
        message: `The log of this session is damaged at line ${damage.line} (${damage.what}). It is shown up to event ${damage.lastGoodSeq}; fork it from the last good turn to continue.`,
        details: { lastGoodSeq: damage.lastGoodSeq },
      }
    if (unknown)
      return {
        code: 'session/read-only',
        message: `This session holds events of type ${unknown.type}, which this server does not know. Install ${unknown.needs ?? 'the plugin that wrote them'} to continue it.`,
      }
    return this.#refusal
  }

  composition(): undefined {
    return undefined
  }

  /** Asks again whether the preset is there, and tells the tabs when the answer is another one. */
  async reconsider(): Promise<void> {
    const before = this.readOnly()
    this.#refusal = await this.#options.refusal(this.#state)
    if (this.#ended || JSON.stringify(before) === JSON.stringify(this.readOnly())) return
    this.#options.onWriter(this.#writer, this.readOnly())
  }

  /** Asks again what stands beside the log: who writes, and whether the preset is there. */
  async refresh(): Promise<void> {
    this.#refusal = await this.#options.refusal(this.#state)
    await this.#look()
  }

  release(): void {
    this.#options.onReleased()
  }

  /** From here on the session is told of by somebody else, or by nobody: nothing is heard from this view any more. */
  end(): void {
    this.#ended = true
    clearInterval(this.#timer)
  }

  async close(): Promise<void> {
    this.end()
    await this.#follow?.close()
  }

  #grow(events: readonly LogEvent[]): void {
    if (this.#ended) return
    for (const event of events) {
      this.#events.push(event)
      this.#state = sessionState.apply(this.#state, event)
    }
    this.#options.onEvents(events)
    if (this.#writer.kind === 'none') void this.#look()
  }

  /** The owner file is asked, never guessed from growth: this process itself may be about to take the session. */
  async #look(): Promise<void> {
    const holder = await this.#options.store.holder(this.id).catch(() => undefined)
    // An owner file that cannot be read changes nothing: a prompt finds out, and says why.
    if (this.#ended || holder === undefined) return
    const before = this.#writer
    this.#writer = holder
      ? { kind: 'elsewhere', pid: holder.pid, host: holder.host, since: holder.since }
      : { kind: 'none' }
    this.#watchHolder()
    if (JSON.stringify(before) !== JSON.stringify(this.#writer)) this.#options.onWriter(this.#writer, this.readOnly())
  }

  #watchHolder(): void {
    if (this.#writer.kind === 'elsewhere') {
      this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref()
      return
    }
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** A refusal as the view keeps it. */
export const refusalOf = (error: unknown): WireError | undefined =>
  error instanceof CoreError
    ? { code: error.code, message: error.message, ...(error.details && { details: error.details }) }
    : undefined
