import type { Json } from './json.ts'

export interface TextBlock {
  type: 'text'
  text: string
}
export interface ReasoningBlock {
  type: 'reasoning'
  text: string
}
/** A reference to a stored attachment, never its bytes. */
export interface ImageBlock {
  type: 'image'
  sha256: string
  mediaType: string
  bytes: number
}
/** `arguments` is the raw JSON text of the model, never re-serialised. */
export interface ToolCallBlock {
  type: 'tool-call'
  id: string
  name: string
  arguments: string
}
export interface ToolResultBlock {
  type: 'tool-result'
  toolCallId: string
  content: (TextBlock | ImageBlock)[]
  isError?: boolean
}
export type Block = TextBlock | ReasoningBlock | ImageBlock | ToolCallBlock | ToolResultBlock

/** Replay metadata of one assistant message; returned only to a route with the same adapter and wire (1.9 of the model spec). */
export interface ReplayState {
  adapter: string
  v: number
  wire: WireFamily
  response?: Json
  blocks: (Json | null)[]
}
export type WireFamily = 'chat' | 'responses' | 'messages' | 'gemini'

export type Source =
  | { kind: 'user' }
  | { kind: 'plugin'; plugin: string; form?: string; summary?: string }
  | { kind: 'model-selection'; form: 'notice'; summary: string }
  | { kind: 'runtime-context' }
  | { kind: 'system' }
  | { kind: 'model'; provider: string; model: string; replayState?: ReplayState }
  | { kind: 'tool'; callId: string }

/** Immutable; tool results are user-role messages. */
export interface Message {
  id: string
  role: 'system' | 'user' | 'assistant'
  content: Block[]
  source: Source
}

/** Disjoint token counts; unknown is absent, never 0. `inputTokens` counts uncached input only, `reasoningTokens` is part of output. */
export interface Usage {
  inputTokens?: number
  cacheReadTokens?: number
  cacheWriteTokens?: number
  outputTokens?: number
  reasoningTokens?: number
  raw?: Json
}

export interface ToolSpec {
  name: string
  description: string
  parameters: { [key: string]: Json }
}

export interface CallConfig {
  provider: string
  model: string
  reasoningEffort?: string
  maxTokens?: number
  temperature?: number
  topP?: number
  stop?: readonly string[]
  toolChoice?: 'auto' | 'none' | 'required'
  extraBody?: Json
}

export interface RequestHeader {
  config: CallConfig
  adapterDefaults?: { reasoningEffort?: true; maxTokens?: true }
  tools?: readonly ToolSpec[]
}

export interface Selection {
  provider: string
  model: string
  reasoningEffort?: string
}

/** The text of a message's text blocks, joined without separator. */
export const textOf = (message: { content: readonly Block[] }): string =>
  message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
