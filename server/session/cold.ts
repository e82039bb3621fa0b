import { CoreError, type WireError } from '../wire/errors.ts'
import type { Header, LogEvent } from '../wire/events.ts'
import type { Writer } from '../wire/protocol.ts'
import type { OpenedForReading, SessionStore } from '../log/store.ts'
import { sessionState, type SessionState } from '../projection/session-state.ts'
import type { SessionView } from './view.ts'

export interface ColdOptions {
  store: SessionStore
  /** Another process appended; the view's own events already hold them. */
  onEvents(events: readonly LogEvent[]): void
  onReleased(): void
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
  #users = 0
  #refusal: WireError | undefined

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
    const view = new ColdView(await options.store.openRead(id), options)
    const holder = await options.store.holder(id)
    if (holder) view.#writer = { kind: 'elsewhere', pid: holder.pid, host: holder.host, since: holder.since }
    if (!view.partial)
      view.#follow = await options.store.watch(id, {
        after: view.#events.length - 1,
        onEvents: (events) => view.#grow(events),
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

  /** Why a prompt would be refused although the log is whole: the preset is gone or broken. */
  refuse(refusal: WireError | undefined): void {
    this.#refusal = refusal
  }

  /** Each tab that shows the view counts once. */
  use(): this {
    this.#users++
    return this
  }

  release(): void {
    if (--this.#users > 0) return
    void this.close()
    this.#options.onReleased()
  }

  async close(): Promise<void> {
    await this.#follow?.close()
  }

  #grow(events: readonly LogEvent[]): void {
    for (const event of events) {
      this.#events.push(event)
      this.#state = sessionState.apply(this.#state, event)
    }
    this.#writer =
      this.#writer.kind === 'none' ? { kind: 'elsewhere', pid: 0, host: '', since: Date.now() } : this.#writer
    this.#options.onEvents(events)
  }
}

/** A refusal as the view keeps it. */
export const refusalOf = (error: unknown): WireError | undefined =>
  error instanceof CoreError
    ? { code: error.code, message: error.message, ...(error.details && { details: error.details }) }
    : undefined
