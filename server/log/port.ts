import type { Draft, Header, LogEvent } from '../wire/events.ts'
import type { Projection } from '../projection/projection.ts'

/**
 * A session's append-only log, seen from the rooms above. `append` commits in memory in one tick (validated, frozen,
 * contiguous `seq`), tells observers, and queues the write; `barrier` resolves once everything appended so far is on disk.
 */
export interface EventLog {
  readonly header: Header
  readonly events: readonly LogEvent[]
  /** Throws CoreError `session/read-only` when the log cannot take writes; re-entrant calls throw. */
  append(...drafts: Draft[]): LogEvent[]
  /** Write + fdatasync of all that was appended; rejects (fail closed) when the disk refuses. */
  barrier(): Promise<void>
  /** The fold's current state; states are computed incrementally and cached per projection key. */
  state<S>(projection: Projection<S>): S
  /** Called synchronously after each commit, in registration order, with the committed batch. Throwing observers are contained. */
  observe(observer: (events: readonly LogEvent[]) => void): () => void
  /** The running answer's unsynced journal (SL-03): `begin` at dispatch, `note` per delta, `end` after the message is appended. */
  journal: {
    begin(at: { turn: number; step: number; attempt: number; requestHeaderSeq: number }): void
    note(row: { i: number; k: 'text' | 'reasoning' | 'tool'; id?: string; n?: string; s: string }): void
    end(): void
  }
  close(): Promise<void>
}
