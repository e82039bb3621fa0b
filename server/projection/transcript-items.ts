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
  | { kind: 'retry'; error: TurnError; waitMs?: number; until?: number; started?: true }
  | { kind: 'warning'; feature: string; detail?: string }
  | { kind: 'todo'; todos: Todo[] }
  | { kind: 'error'; error: TurnError }
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
export type Mark = { type: 'preset'; preset: string } | ({ type: 'model' } & Selection)

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
  selection?: Selection
  preset?: string
  /** The preset's revision behind the turn's last request; absent without a preset, or when it was logged on an older page. */
  composition?: GenerationRef
  /** The last step that asked the model: `turn` and `step` name what produced this turn. Absent when none did. */
  step?: number
}
