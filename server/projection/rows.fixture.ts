import { draft } from '../wire/events.ts'
import type { EventData, EventType, LogEvent } from '../wire/events.ts'
import type { Block, ImageBlock, Message, Source, TextBlock, ToolResultBlock } from '../wire/messages.ts'
import { transcriptOf } from './transcript.ts'
import type { Item } from './transcript-items.ts'

export type Entry = { [T in EventType]: [T, EventData[T]] }[EventType]

/** One event per entry, a second apart, from seq 0 at 1000 ms. */
export const log = (...entries: Entry[]): LogEvent[] =>
  entries.map(([type, data], seq) => ({ ...draft(type, data as never), seq, time: 1000 * (seq + 1) }))
/** The rows of a log, whole. */
export const rows = (...entries: Entry[]): readonly Item[] => transcriptOf(log(...entries)).items

export const step = { turn: 1, step: 1 }
export const image: ImageBlock = { type: 'image', sha256: 'ab', mediaType: 'image/png', bytes: 1 }
export const text = (value: string): TextBlock => ({ type: 'text', text: value })
export const message = (id: string, content: Block[], source: Source = { kind: 'user' }): Message => ({
  id,
  role: source.kind === 'model' ? 'assistant' : 'user',
  content,
  source,
})
export const MODEL: Source = { kind: 'model', provider: 'p', model: 'm' }
export const start: Entry = ['turn/start', { turn: 1 }]
export const end: Entry = ['turn/end', { turn: 1, reason: { kind: 'completed' } }]
export const answer = (content: Block[], extra: Partial<EventData['assistant/message']> = {}): Entry => [
  'assistant/message',
  { ...step, message: message('a', content, MODEL), stream: [], ...extra },
]
export const call = (callId: string, name = 'bash'): Entry => ['tool/call', { ...step, callId, name, arguments: '{}' }]
export const result = (
  callId: string,
  block: Partial<ToolResultBlock> = {},
  extra: Partial<EventData['tool/result']> = {},
): Entry => [
  'tool/result',
  {
    ...step,
    message: message(`r${callId}`, [{ type: 'tool-result', toolCallId: callId, content: [text('out')], ...block }], {
      kind: 'tool',
      callId,
    }),
    ...extra,
  },
]
export const header = (reasoningEffort?: string): Entry => [
  'request/header',
  {
    header: { config: { provider: 'p', model: 'm', ...(reasoningEffort && { reasoningEffort }) } },
    compositionDigest: 'd',
    reason: 'initial',
  },
]
