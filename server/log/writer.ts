import type { EventLog } from './port.ts'
import type { CoreError } from '../wire/errors.ts'
import type { Header, LogEvent } from '../wire/events.ts'

/** What is behind a SessionLog: it reads the committed events from the log's own array and brings them to disk. */
export interface LogWriter {
  /** Why nothing can be written now; null while the disk takes writes. */
  readonly refusal: CoreError | null
  readonly journal: EventLog['journal']
  /** Called once, before anything else. `events` grows as the log commits; those up to `storedSeq` are on disk already. */
  start(source: { header: Header; events: readonly LogEvent[] }): void
  /** New events stand at the end of the source. */
  appended(events: readonly LogEvent[]): void
  barrier(): Promise<void>
  /** Tries again to write what is kept in memory; rejects when the disk still refuses. */
  retry(): Promise<void>
  onRefusal(listener: (refusal: CoreError | null) => void): () => void
  close(): Promise<void>
}
