import type { EventData, ToolError, TurnEndReason, TurnError } from '../wire/events.ts'
import type { Json } from '../wire/json.ts'
import type { ImageBlock, Selection, Usage } from '../wire/messages.ts'
import type { GenerationRef } from '../wire/presets.ts'

/**
 * What a reader sees of a session, in log order. Keys come from the log (message ids, call ids, or turn, step and block), so
 * that a logged message takes the place of its streamed text and a prepended page moves no other row.
 */
export type Item = { key: string; seq: number; time: number } & (
  | { kind: 'user'; text: string; images: ImageBlock[]; turn?: number }
  | NoticeItem
  | { kind: 'thinking'; text: string; ms?: number; interrupted?: true }
  | { kind: 'text'; text: string; interrupted?: true }
  | ToolItem
  | { kind: 'mark'; mark: Mark }
  | RetryItem
  | { kind: 'warning'; feature: string; detail?: string }
  | { kind: 'todo'; todos: Todo[] }
  /** `selection`: what the turn asked, or was to ask. */
  | { kind: 'error'; error: TurnError; selection?: Selection }
  | TurnFooter
)
export type ItemOf<K extends Item['kind']> = Extract<Item, { kind: K }>

/** `about` is there for a notice of the preset (`source` is then `agent-preset`), so that it can be told in other languages. */
interface NoticeItem {
  kind: 'notice'
  source: string
  summary: string
  body: string
  about?: EventData['agent-preset/notice']
}

export type Todo = EventData['todo/write']['todos'][number]
export type Mark = { type: 'preset'; preset: string } | ModelMark

/** The model changed here. `used`: a request has gone to it; until then it is picked for the next one. */
export interface ModelMark extends Selection {
  type: 'model'
  /** What the request before it used; absent when that is on an older page, or there was none. */
  from?: Selection
  used?: true
  /** What the model was told of it. */
  told?: string
}

/** A failed attempt; with `until` (ms since the epoch, the server's clock) another one follows. Times in ms. */
export interface RetryItem {
  kind: 'retry'
  error: TurnError
  /** Which attempt of its step failed, from 1. */
  failed?: number
  waitMs?: number
  until?: number
  started?: true
  /** How long it really took to the next attempt. */
  waitedMs?: number
}

/** US dollars, estimated; `unpriced` counts the requests that are not in `cost`, because their price or counts are unknown. */
export interface Money {
  cost: number
  unpriced: number
}

export interface ToolResult {
  text: string
  images: ImageBlock[]
  isError: boolean
  error?: ToolError
  meta?: Json
}

export interface ToolItem {
  kind: 'tool'
  callId: string
  /** Absent when only the result is in the window: the call is on an older page. */
  name?: string
  arguments: string
  turn: number
  step: number
  /** `stopped`: the turn ended before a result; `called`: asked for, not begun. */
  state: 'called' | 'running' | 'done' | 'stopped'
  startedAt?: number
  ms?: number
  result?: ToolResult
  todos?: Todo[]
}

interface TurnFooter {
  kind: 'footer'
  turn: number
  reason: TurnEndReason
  /** Time and usage are absent when the turn began on an older page. */
  ms?: number
  usage?: Usage
  money?: Money
  selection?: Selection
  preset?: string
  /** The preset's revision behind the turn's last request; absent without a preset, or when it was logged on an older page. */
  composition?: GenerationRef
  /** The last step that asked the model: `turn` and `step` name what produced this turn. Absent when none did. */
  step?: number
}
