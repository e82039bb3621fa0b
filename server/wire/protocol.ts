import type { CommandArgs, CommandName, CommandResults } from './commands.ts'
import type { WireError } from './errors.ts'
import type { Header, LogEvent } from './events.ts'
import type { GenerationRef } from './presets.ts'
import type { ShellView } from './safety.ts'
import type { GlobalState, SessionRow } from './views.ts'
import type { SessionState } from '../projection/session-state.ts'

export const PROTOCOL = 1
/** The server sends a ping frame this often; the browser gives up after three of them (B59). */
export const PING_MS = 15_000

/** Browser to server. */
export type ClientFrame =
  | { [N in CommandName]: { t: 'command'; id: string; name: N; args: CommandArgs<N> } }[CommandName]
  /** Read-only: replays events after `after` (-1 or absent: a snapshot), then follows. */
  | { t: 'attach'; session: string; after?: number }
  | { t: 'detach'; session: string }
  | { t: 'pong' }

/** Who may write to a session: this host, another live process, or nobody yet (the first mutating command takes it). */
export type Writer =
  { kind: 'here' } | { kind: 'none' } | { kind: 'elsewhere'; pid: number; host: string; since: number }

export interface Snapshot {
  t: 'snapshot'
  session: string
  header: Header
  /** The folds at `to`, so that the page below need not reach back to the first event. */
  state: SessionState
  /** Newest events, contiguous, bounded by count and bytes; older ones by GET /api/sessions/:id/events?before=. */
  events: LogEvent[]
  /** Seq of the first and last event of the page; -1 for an empty log. */
  from: number
  to: number
  writer: Writer
  /** Why nothing can be sent (preset gone or broken, log damaged); the transcript stays readable. */
  readOnly?: WireError
  /** The generation that the live agent uses; absent while no agent runs here. */
  composition?: GenerationRef
}

/** Server to browser. */
export type ServerFrame =
  | ({ t: 'hello'; protocol: number; pingMs: number } & GlobalState)
  | { [N in CommandName]: { t: 'ack'; id: string; name: N; result: CommandResults[N] } }[CommandName]
  | { t: 'error'; id: string; error: WireError }
  | Snapshot
  /** Answer to `attach` with `after` when the gap is small: same follow-up stream, no snapshot. */
  | {
      t: 'attached'
      session: string
      events: LogEvent[]
      writer: Writer
      readOnly?: WireError
      composition?: GenerationRef
    }
  | { t: 'attach-failed'; session: string; error: WireError }
  | { t: 'events'; session: string; events: LogEvent[] }
  /** Also sent when the agent moved to another generation. */
  | { t: 'writer'; session: string; writer: Writer; readOnly?: WireError; composition?: GenerationRef }
  /** Transient text of the running answer; `offset` in UTF-16 units from the block's start. Superseded by the logged message. */
  | {
      t: 'delta'
      session: string
      turn: number
      step: number
      attempt: number
      block: number
      kind: 'text' | 'reasoning' | 'tool'
      /** Tool name, on deltas of kind `tool`. */
      name?: string
      offset: number
      text: string
    }
  /** Transient output of a running tool; superseded by `tool/result`. `offset` counts all text so far, the host keeps the last 64 KB. */
  | {
      t: 'tool-output'
      session: string
      turn: number
      step: number
      callId: string
      offset: number
      text: string
    }
  /** To tabs that watch the agent's shell: its state whenever that changes, and raw text without anything but colours. */
  | { t: 'shell'; session: string; view: ShellView; text?: string }
  /** Rows that changed or appeared; `removed` ids are gone. */
  | { t: 'sessions'; rows: SessionRow[]; removed: string[] }
  | ({ t: 'global' } & Partial<GlobalState>)
  | { t: 'ping' }

export type DeltaFrame = Extract<ServerFrame, { t: 'delta' }>
export type ToolOutputFrame = Extract<ServerFrame, { t: 'tool-output' }>

/** REST: GET /api/sessions -> SessionPage; GET /api/sessions/:id/events?before=&limit= -> EventPage. */
export interface SessionPage {
  rows: SessionRow[]
  next?: string
}
export interface EventPage {
  events: LogEvent[]
  from: number
  to: number
}
export interface SearchHit {
  session: string
  seq: number
  title: string
  snippet: string
}
