import type { Header, LogEvent } from '../../wire/events.ts'
import { textOf, type Message } from '../../wire/messages.ts'
import { inputOf } from '../../projection/usage.ts'
import { statusOf, type SessionState } from '../../projection/session-state.ts'

export type RowStatus = 'blank' | 'running' | 'needs-you' | 'idle' | 'failed' | 'interrupted' | 'damaged'

/** A session as lists show it. Times in ms since the epoch; counts that nobody reported are null. */
export interface SessionRow {
  id: string
  created: number
  updated: number
  lastSeq: number
  /** Of the log file, as last seen by the index. */
  bytes: number
  title: string | null
  cwd: string | null
  preset: string | null
  provider: string | null
  model: string | null
  status: RowStatus
  parent: string | null
  origin: 'subagent' | null
  turns: number
  tokensIn: number | null
  tokensOut: number | null
  pinned: boolean
  archived: boolean
}

/** The part of a row that follows from the log alone. */
export type LoggedRow = Omit<SessionRow, 'bytes' | 'pinned' | 'archived'>

export interface Doc {
  session: string
  seq: number
  kind: 'prompt' | 'answer' | 'tool'
  body: string
}

export function rowOf(state: SessionState): LoggedRow {
  const { own } = state.usage
  const counted = own.inputTokens ?? own.cacheReadTokens ?? own.cacheWriteTokens
  return {
    id: state.id,
    created: state.createdAt,
    updated: state.updatedAt,
    lastSeq: state.seq,
    title: state.title?.title ?? null,
    cwd: state.cwd,
    preset: state.preset.current,
    provider: state.model.next?.provider ?? null,
    model: state.model.next?.model ?? null,
    status: statusOf(state),
    parent: state.parentSession,
    origin: state.origin,
    turns: state.lastTurn,
    tokensIn: counted === undefined ? null : inputOf(own),
    tokensOut: own.outputTokens ?? null,
  }
}

/** Longer texts are searchable by their beginning only: a whole build log would drown everything else. */
const MAX_BODY = 20_000

/** What of an event can be searched. A fork's inherited events belong to its parent and are found there. */
export function docsOf(header: Header, events: readonly LogEvent[]): Doc[] {
  const first = (header.seedSeq ?? -1) + 1
  return events.flatMap((event) => (event.seq < first ? [] : docOf(header.id, event)))
}

function docOf(session: string, event: LogEvent): Doc[] {
  switch (event.type) {
    case 'user/message':
      return event.data.message.source.kind === 'user'
        ? doc(session, event.seq, 'prompt', textOf(event.data.message))
        : []
    case 'assistant/message':
      return doc(session, event.seq, 'answer', textOf(event.data.message))
    case 'tool/call':
      return doc(session, event.seq, 'tool', `${event.data.name} ${event.data.arguments}`)
    case 'tool/result':
      return doc(session, event.seq, 'tool', resultText(event.data.message))
    default:
      return []
  }
}

const resultText = (message: Message): string =>
  message.content.map((block) => (block.type === 'tool-result' ? textOf(block) : '')).join('\n')

const doc = (session: string, seq: number, kind: Doc['kind'], text: string): Doc[] => {
  // SQLite text is UTF-8: half a surrogate pair has no place in it.
  const body = text.slice(0, MAX_BODY).toWellFormed().trim()
  return body ? [{ session, seq, kind, body }] : []
}
