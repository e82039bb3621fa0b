import type { WireError } from '../wire/errors.ts'
import type { LogEvent } from '../wire/events.ts'
import type { GenerationRef } from '../wire/presets.ts'
import type { Writer } from '../wire/protocol.ts'
import type { SessionRow } from '../wire/views.ts'
import type { Delta as TurnDelta } from '../turn/hooks.ts'

/** Text as it streams; the receiver counts offsets itself. */
export type Delta = Omit<TurnDelta, 'offset' | 'callId'>

export interface ToolOutput {
  turn: number
  step: number
  callId: string
  text: string
}

/** What the session room tells whoever shows sessions: committed facts, transient text, and list rows. All calls are synchronous. */
export interface Feed {
  events(session: string, events: readonly LogEvent[]): void
  delta(session: string, delta: Delta): void
  output(session: string, output: ToolOutput): void
  /** How the session stands beside its log; `composition` while an agent runs here. */
  writer(session: string, writer: Writer, readOnly?: WireError, composition?: GenerationRef): void
  rows(rows: SessionRow[], removed: string[]): void
}

/** Fans one feed out to many; a failing listener is contained and reported, since a viewer must never end a turn. */
export class Feeds implements Feed {
  readonly #listeners = new Set<Feed>()
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void = (error) => console.error('feed listener failed', error)) {
    this.#report = report
  }

  add(feed: Feed): () => void {
    this.#listeners.add(feed)
    return () => this.#listeners.delete(feed)
  }

  events(session: string, events: readonly LogEvent[]): void {
    this.#each((feed) => feed.events(session, events))
  }

  delta(session: string, delta: Delta): void {
    this.#each((feed) => feed.delta(session, delta))
  }

  output(session: string, output: ToolOutput): void {
    this.#each((feed) => feed.output(session, output))
  }

  writer(session: string, writer: Writer, readOnly?: WireError, composition?: GenerationRef): void {
    this.#each((feed) => feed.writer(session, writer, readOnly, composition))
  }

  rows(rows: SessionRow[], removed: string[]): void {
    this.#each((feed) => feed.rows(rows, removed))
  }

  #each(call: (feed: Feed) => void): void {
    for (const feed of this.#listeners) {
      try {
        call(feed)
      } catch (error) {
        this.#report(error)
      }
    }
  }
}
