import { sessionState } from '../../../server/projection/session-state.ts'
import type { SessionState } from '../../../server/projection/session-state.ts'
import { extend, transcriptOf } from '../../../server/projection/transcript.ts'
import type { Transcript } from '../../../server/projection/transcript.ts'
import type { WireError } from '../../../server/wire/errors.ts'
import type { Header, LogEvent } from '../../../server/wire/events.ts'
import type { GenerationRef } from '../../../server/wire/presets.ts'
import type { ServerFrame, Snapshot, Writer } from '../../../server/wire/protocol.ts'

/** What the page holds of a session: the folds at `to`, and the events from `from` on. */
export interface OpenSession {
  kind: 'open'
  header: Header
  state: SessionState
  events: readonly LogEvent[]
  from: number
  to: number
  transcript: Transcript
  writer: Writer
  readOnly?: WireError
  /** The generation that the live agent uses; absent while none runs. */
  composition?: GenerationRef
}
/** A turn that a dead server left open runs no more: nobody holds the session until the next prompt closes it. */
export const isRunning = ({ state, writer }: OpenSession): boolean => state.openTurn !== null && writer.kind !== 'none'

export type SessionView = { kind: 'loading' } | { kind: 'failed'; error: WireError } | OpenSession

export function fromSnapshot(frame: Snapshot): OpenSession {
  const { header, state, events, from, to } = frame
  const transcript = transcriptOf(events, header.agentPreset)
  return { kind: 'open', header, state, events, from, to, transcript, ...holdOf(frame) }
}

/** `gap`: events in between are missing, only a snapshot helps. Events that are held already are passed over. */
export function withEvents(view: OpenSession, events: readonly LogEvent[]): OpenSession | 'gap' {
  const fresh = events.filter((event) => event.seq > view.to)
  const first = fresh[0]
  if (!first) return view
  if (first.seq !== view.to + 1) return 'gap'
  let state = view.state
  for (const event of fresh) state = sessionState.apply(state, event)
  return {
    ...view,
    state,
    events: [...view.events, ...fresh],
    from: view.from < 0 ? first.seq : view.from,
    to: fresh.at(-1)?.seq ?? view.to,
    transcript: extend(view.transcript, fresh),
  }
}

/** Puts an older page in front; the transcript is folded again, because its first rows may have had half their events. */
export function withOlder(view: OpenSession, page: readonly LogEvent[]): OpenSession {
  const older = page.filter((event) => event.seq < view.from)
  if (older.length === 0 || older.at(-1)?.seq !== view.from - 1) return view
  const events = [...older, ...view.events]
  const transcript = transcriptOf(events, view.header.agentPreset)
  return { ...view, events, from: events[0]?.seq ?? view.from, transcript }
}

export function withWriter(view: OpenSession, frame: Extract<ServerFrame, { t: 'writer' | 'attached' }>): OpenSession {
  const { readOnly: _refusal, composition: _generation, ...rest } = view
  return { ...rest, ...holdOf(frame) }
}

/** Who writes, and with what; a frame without a field says that there is none. */
const holdOf = ({ writer, readOnly, composition }: Pick<OpenSession, 'writer' | 'readOnly' | 'composition'>) => ({
  writer,
  ...(readOnly && { readOnly }),
  ...(composition && { composition }),
})
