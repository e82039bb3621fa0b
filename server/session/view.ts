import type { WireError } from '../wire/errors.ts'
import type { Header, LogEvent } from '../wire/events.ts'
import type { GenerationRef } from '../wire/presets.ts'
import type { Writer } from '../wire/protocol.ts'
import type { SessionState } from '../projection/session-state.ts'

/** A session as a reader sees it, live or cold. `events` grows in place, in the same tick as the feed tells of it. */
export interface SessionView {
  readonly id: string
  readonly header: Header
  readonly events: readonly LogEvent[]
  /** Set when a damaged log was read only up to its last good event. */
  readonly partial: boolean
  state(): SessionState
  writer(): Writer
  /** Why nothing can be sent, in words; absent when a prompt would be taken. */
  readOnly(): WireError | undefined
  /** The preset's generation that the live agent uses; undefined while none runs here. */
  composition(): GenerationRef | undefined
  /** The last tab has gone: a cold view lets go of what it read. */
  release(): void
}
