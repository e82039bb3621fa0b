import type { LogEvent } from '../wire/events.ts'
import { textOf } from '../wire/messages.ts'
import type { Block, ImageBlock, Message } from '../wire/messages.ts'
import { at, type Draft, type Of, type Transcript } from './transcript-draft.ts'
import type { ItemOf, ToolItem, ToolResult } from './transcript-items.ts'
import {
  asked,
  attempt,
  countCall,
  modelPicked,
  requestHeader,
  retry,
  retryStarted,
  toldModel,
} from './transcript-model.ts'

export type { Transcript } from './transcript-draft.ts'

/** `first` is the seq of the window's first event: a window that starts later belongs to a session that has begun. */
export const emptyTranscript = (first: number, preset?: string): Transcript => ({
  items: [],
  cursor: { calls: new Map(), begun: first > 0, ...(preset !== undefined && { preset }) },
})

export const transcriptOf = (events: readonly LogEvent[], preset?: string): Transcript =>
  extend(emptyTranscript(events[0]?.seq ?? 0, preset), events)

/** Folds further events, in log order, into a new transcript; items that did not change keep their identity. */
export function extend(transcript: Transcript, events: readonly LogEvent[]): Transcript {
  if (events.length === 0) return transcript
  const { cursor } = transcript
  const draft: Draft = { items: [...transcript.items], ...cursor, calls: new Map(cursor.calls) }
  for (const event of events) apply(draft, event)
  const { items, ...rest } = draft
  return { items, cursor: rest }
}

function apply(draft: Draft, event: LogEvent): void {
  switch (event.type) {
    case 'turn/start':
      draft.begun = true
      draft.turn = { turn: event.data.turn, startedAt: event.time }
      return
    case 'turn/end':
      return endTurn(draft, event)
    case 'user/message':
      return userMessage(draft, event)
    case 'developer/message':
      return notice(draft, event, event.data.message)
    case 'assistant/message':
      return assistantMessage(draft, event)
    case 'assistant/attempt':
      return attempt(draft, event)
    case 'llm/retry':
      return retry(draft, event)
    case 'llm/retry-started':
      return retryStarted(draft, event)
    case 'llm/warning': {
      const { feature, detail } = event.data
      draft.items.push({ ...at(event), kind: 'warning', feature, ...(detail !== undefined && { detail }) })
      return
    }
    case 'tool/call':
      return toolCall(draft, event)
    case 'tool/result':
      return toolResult(draft, event)
    case 'todo/write':
      return todoWrite(draft, event)
    case 'request/header':
      return requestHeader(draft, event)
    case 'agent-preset/notice': {
      const { data } = event
      draft.items.push({
        ...at(event),
        kind: 'notice',
        source: 'agent-preset',
        summary: data.message,
        body: data.message,
        about: data,
      })
      return
    }
    case 'model/selection':
      return modelPicked(draft, event)
    case 'agent-preset/selected':
      if (draft.begun && draft.preset !== event.data.agentPreset)
        draft.items.push({ ...at(event), kind: 'mark', mark: { type: 'preset', preset: event.data.agentPreset } })
      draft.preset = event.data.agentPreset
      return
    default:
      // Steps, requests, titles, pins and queue changes are shown elsewhere; types of a newer version are passed over.
      return
  }
}

export const blockKey = (turn: number, step: number, block: number): string => `${turn}.${step}.${block}`

const imagesOf = (content: readonly Block[]): ImageBlock[] => content.filter((block) => block.type === 'image')

function userMessage(draft: Draft, event: Of<'user/message'>): void {
  const { message, turn } = event.data
  if (message.source.kind !== 'user') return notice(draft, event, message)
  const images = imagesOf(message.content)
  const item: ItemOf<'user'> = { ...at(event, message.id), kind: 'user', text: textOf(message), images }
  draft.items.push(turn === undefined ? item : { ...item, turn })
}

function notice(draft: Draft, event: LogEvent, message: Message): void {
  const { source } = message
  const body = textOf(message)
  if (source.kind === 'model-selection' && toldModel(draft, body)) return
  const summary = 'summary' in source && source.summary ? source.summary : (body.trim().split('\n')[0] ?? '')
  const from = source.kind === 'plugin' ? source.plugin : source.kind
  draft.items.push({ ...at(event, message.id), kind: 'notice', source: from, summary, body })
}

function assistantMessage(draft: Draft, event: Of<'assistant/message'>): void {
  const { turn, step, message, stream, interrupted } = event.data
  asked(draft, step)
  const last = message.content.length - 1
  message.content.forEach((block, index) => {
    const place = at(event, blockKey(turn, step, index))
    const cut = interrupted && index === last ? { interrupted: true as const } : {}
    if (block.type === 'text' && block.text !== '')
      draft.items.push({ ...place, kind: 'text', text: block.text, ...cut })
    if (block.type === 'reasoning' && block.text !== '') {
      const row = stream.find((candidate) => candidate.i === index && candidate.k === 'reasoning')
      const ms = row && { ms: row.d.reduce((sum, gap) => sum + gap, 0) }
      draft.items.push({ ...place, kind: 'thinking', text: block.text, ...ms, ...cut })
    }
    if (block.type === 'tool-call')
      openCall(draft, event, { turn, step, callId: block.id, name: block.name, arguments: block.arguments })
  })
  countCall(draft, event)
}

type Call = Pick<ToolItem, 'turn' | 'step' | 'callId' | 'arguments'> & { name: string }

function openCall(draft: Draft, event: LogEvent, call: Call): void {
  if (draft.calls.has(call.callId)) return
  draft.calls.set(call.callId, draft.items.length)
  draft.items.push({ ...at(event, call.callId), kind: 'tool', state: 'called', ...call })
}

function toolCall(draft: Draft, event: Of<'tool/call'>): void {
  openCall(draft, event, event.data)
  replaceCall(draft, event.data.callId, (item) => ({ ...item, state: 'running', startedAt: event.time }))
}

function replaceCall(draft: Draft, callId: string, change: (item: ItemOf<'tool'>) => ItemOf<'tool'>): boolean {
  const index = draft.calls.get(callId)
  const item = index === undefined ? undefined : draft.items[index]
  if (index === undefined || item?.kind !== 'tool') return false
  draft.items[index] = change(item)
  return true
}

function toolResult(draft: Draft, event: Of<'tool/result'>): void {
  const { message, error, meta, ms, turn, step } = event.data
  const block = message.content.find((candidate) => candidate.type === 'tool-result')
  if (!block) return
  const result: ToolResult = {
    text: textOf(block),
    images: imagesOf(block.content),
    isError: block.isError === true,
    ...(error && { error }),
    ...(meta !== undefined && { meta }),
  }
  const callId = block.toolCallId
  const end = (item: ItemOf<'tool'>): ItemOf<'tool'> => {
    const took = ms ?? (item.startedAt === undefined ? undefined : event.time - item.startedAt)
    return { ...item, state: 'done', result, ...(took !== undefined && { ms: took }) }
  }
  if (!replaceCall(draft, callId, end)) {
    const orphan: ItemOf<'tool'> = {
      ...at(event, callId),
      kind: 'tool',
      callId,
      arguments: '',
      turn,
      step,
      state: 'done',
    }
    draft.items.push(end(orphan))
  }
  draft.calls.delete(callId)
}

function todoWrite(draft: Draft, event: Of<'todo/write'>): void {
  const { todos } = event.data
  for (const callId of draft.calls.keys()) {
    const item = draft.items[draft.calls.get(callId) ?? -1]
    if (item?.kind !== 'tool' || !item.name?.includes('todo')) continue
    replaceCall(draft, callId, (call) => ({ ...call, todos }))
    return
  }
  draft.items.push({ ...at(event), kind: 'todo', todos })
}

function endTurn(draft: Draft, event: Of<'turn/end'>): void {
  const { turn, reason } = event.data
  for (const callId of draft.calls.keys()) replaceCall(draft, callId, (item) => ({ ...item, state: 'stopped' }))
  draft.calls.clear()
  const own = draft.turn?.turn === turn ? draft.turn : undefined
  const selection = own?.selection ?? draft.selection
  if (reason.kind === 'error')
    draft.items.push({
      ...at(event, `error${turn}`),
      kind: 'error',
      error: reason.error,
      ...(selection && { selection }),
    })
  draft.items.push({
    ...at(event, `turn${turn}`),
    kind: 'footer',
    turn,
    reason,
    ...(own?.startedAt !== undefined && { ms: event.time - own.startedAt }),
    ...(own?.usage && { usage: own.usage }),
    ...(own?.money && { money: own.money }),
    ...(selection && { selection }),
    ...(draft.preset !== undefined && { preset: draft.preset }),
    ...(draft.composition && { composition: draft.composition }),
    ...(own?.step !== undefined && { step: own.step }),
  })
  delete draft.turn
}
