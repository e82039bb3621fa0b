import type { Json } from './json.ts'
import type { Message, RequestHeader, Usage } from './messages.ts'
import type { Price } from './models.ts'
import type { ApprovalOutcome, PendingApproval, Rule, SandboxMode } from './safety.ts'
import type { ContextView, GenerationRef, SectionView } from './presets.ts'

/** First record of every session log. Frozen at creation: later changes are events. */
export interface Header {
  type: 'session'
  version: number
  id: string
  createdAt: number
  cwd?: string
  parentSession?: string
  isSeeded: boolean
  seedSeq?: number
  seedCrc?: string
  origin?: 'subagent'
  delegationDepth?: number
  agentPreset?: string
  writer: string
}

export type AbortCause =
  { kind: 'user' } | { kind: 'parent' } | { kind: 'hook'; reason: string } | { kind: 'disposed' } | { kind: 'legacy' }

export interface TurnError {
  code: string
  message: string
  status?: number
  providerRetryAfterMs?: number
  requestId?: string
  transport?: 'dns' | 'tls' | 'refused' | 'reset' | 'unreachable' | 'connect-timeout'
}

export type TurnEndReason =
  | { kind: 'completed' }
  | { kind: 'aborted'; reason: AbortCause }
  | { kind: 'blocked'; reason?: string }
  | { kind: 'error'; error: TurnError }
  | { kind: 'max-tokens' }
  | { kind: 'interrupted' }
  | { kind: 'forked' }

/**
 * One run of same-block stream deltas: block index, kind, start offset in ms, delta lengths in UTF-16 units, gaps in ms;
 * `s` is the joined text and stands here only when no message block of the same event holds it.
 */
export interface StreamRow {
  i: number
  k: 'text' | 'reasoning' | 'tool'
  id?: string
  n?: string
  at: number
  l: number[]
  d: number[]
  s?: string
}

export type InboxTarget = 'next-turn' | 'next-step'

export interface ToolError {
  name?: string
  code: string
  reason?: string
}

/** Event data by type. A state-carrying event holds the whole new value, never a delta. */
export interface EventData {
  'turn/start': { turn: number }
  'turn/end': { turn: number; reason: TurnEndReason }
  'step/start': { turn: number; step: number }
  'step/end': { turn: number; step: number }
  'user/message': { turn?: number; step?: number; message: Message }
  'system/message': { turn: number; step: number; message: Message }
  'developer/message': { turn: number; step: number; message: Message; headerSeq?: number }
  'assistant/message': {
    turn: number
    step: number
    message: Message
    stream: StreamRow[]
    usage?: Usage
    /** The list price in force when it was asked; absent: unknown. Cost follows from it and `usage`, as an estimate. */
    price?: Price
    interrupted?: boolean
    requestId?: string
    /** Milliseconds from dispatch to the first delta, and to the end. */
    firstDeltaMs?: number
    ms?: number
  }
  'assistant/attempt': {
    turn: number
    step: number
    attempt?: number
    stream: StreamRow[]
    error?: TurnError
    usage?: Usage
    price?: Price
    /** Absent in logs of older versions. */
    provider?: string
    model?: string
    firstDeltaMs?: number
    ms?: number
  }
  'tool/call': { turn: number; step: number; callId: string; name: string; arguments: string }
  'tool/result': { turn: number; step: number; message: Message; error?: ToolError; meta?: Json; ms?: number }
  'request/header': {
    turn?: number
    step?: number
    header: RequestHeader
    compositionDigest: string
    /** The preset's revision that the agent was composed from; absent without a preset. */
    composition?: GenerationRef
    reason: 'initial' | 'resume' | 'change' | 'series'
    startsSeries?: boolean
  }
  /** Where the prompt of the requests from here on comes from; logged beside the header, whenever it differs. */
  'request/origins': {
    turn: number
    step: number
    sections: SectionView[]
    contexts: ContextView[]
    /** Owners of tools by name, where known. */
    tools: { [name: string]: string }
  }
  /** What a person should know of the preset of a resumed session. `message` is a sentence. */
  'agent-preset/notice': {
    kind: 'changed' | 'renamed' | 'retired-key'
    agentPreset: string
    message: string
    from?: GenerationRef
    to?: GenerationRef
  }
  'request/context': { provider: string; model: string; contextWindow?: number; systemPromptUpdate?: boolean }
  'session/end-seed': { inherited?: boolean }
  'agent/inbox/spliced': {
    target: InboxTarget
    start: number
    removedCount?: number
    inserted: Message[]
    outcome?: 'canceled'
    /** Why rows stay parked after a turn that could not take them; absent otherwise. */
    parked?: string
  }
  'agent-preset/selected': { agentPreset: string }
  'model/selection': { provider: string; model: string; reasoningEffort?: string }
  'session/title': { title: string; source: 'rule' | 'user' | 'model' }
  /** One call that asked for a title: it costs like any other, and its answer may have come too late to be used. */
  'session/title-llm-request': {
    provider: string
    model: string
    usage?: Usage
    price?: Price
    ms: number
    title?: string
    error?: TurnError
  }
  /** US dollars that this session may spend; null: what the host's settings say. */
  'session/budget': { limit: number | null }
  /** Id of a permission preset, `custom` for a choice of its own; always beside the two that follow. */
  'permission/preset': { preset: string }
  /** Absent `network`: on. `source` says who set it when it was no person: `default`, `no-runner`, `container`. */
  'sandbox/mode': { mode: SandboxMode; network?: boolean; source?: string }
  'approval/policy': {
    policy: 'prompt' | 'deny' | 'allow'
    edits?: 'auto' | 'ask'
    commands?: 'auto' | 'ask'
    source?: string
  }
  /** The session's own rules, all of them. */
  'permission/rules': { rules: Rule[] }
  'approval/asked': Omit<PendingApproval, 'askedAt'>
  /** `note` is what the person wrote for the model. */
  'approval/decided': { turn: number; step: number; id: string; outcome: ApprovalOutcome; note?: string }
  /** Who looks at the agent's shell and answers what it asks; what they typed, without `text` where it was not shown. */
  'terminal/watch': { watching: boolean; answering: boolean }
  'terminal/input': { callId?: string; bytes: number; text?: string }
  'todo/write': { todos: { content: string; status: 'pending' | 'in_progress' | 'completed' }[] }
  'llm/sent': {
    turn: number
    step: number
    attempt: number
    route: string
    path: string
    bytes: number
    sha256: string
  }
  'llm/retry': {
    turn: number
    step: number
    attempt: number
    code: string
    message?: string
    delayMs: number
    until: number
  }
  'llm/retry-started': { turn: number; step: number; attempt: number }
  'llm/warning': { turn: number; step: number; feature: string; detail?: string }
  'session/vocabulary': { types: string[]; plugin: string; version: string }
}
export type EventType = keyof EventData
export type SurfaceOp = 'append' | { op: 'replace'; startSeq: number; endSeq: number }

/** What a writer hands to the log; the log adds `seq` and `time`. */
export type Draft<T extends EventType = EventType> = {
  [K in T]: { type: K; data: EventData[K]; ignorable?: true; surfaceOp?: SurfaceOp; sourceEventSeqs?: number[] }
}[T]

/** A committed record: `seq` is 0-based and contiguous within the session, `time` in ms since the epoch. */
export type LogEvent<T extends EventType = EventType> = Draft<T> & { seq: number; time: number }

const TYPES: { [K in EventType]: true } = {
  'turn/start': true,
  'turn/end': true,
  'step/start': true,
  'step/end': true,
  'user/message': true,
  'system/message': true,
  'developer/message': true,
  'assistant/message': true,
  'assistant/attempt': true,
  'tool/call': true,
  'tool/result': true,
  'request/header': true,
  'request/context': true,
  'request/origins': true,
  'agent-preset/notice': true,
  'session/end-seed': true,
  'agent/inbox/spliced': true,
  'agent-preset/selected': true,
  'model/selection': true,
  'session/title': true,
  'session/title-llm-request': true,
  'session/budget': true,
  'permission/preset': true,
  'sandbox/mode': true,
  'approval/policy': true,
  'permission/rules': true,
  'approval/asked': true,
  'approval/decided': true,
  'terminal/watch': true,
  'terminal/input': true,
  'todo/write': true,
  'llm/sent': true,
  'llm/retry': true,
  'llm/retry-started': true,
  'llm/warning': true,
  'session/vocabulary': true,
}
export const EVENT_TYPES = Object.keys(TYPES) as EventType[]

/** Message events that make up the model's history (the surface). */
export const SURFACE_TYPES = [
  'user/message',
  'system/message',
  'developer/message',
  'assistant/message',
  'tool/result',
] as const satisfies readonly EventType[]

/** Informational events: a reader that does not know one may pass it over (SL-19). */
export const IGNORABLE_TYPES = [
  'llm/retry',
  'llm/retry-started',
  'llm/warning',
  'llm/sent',
  'request/origins',
  'agent-preset/notice',
  'session/title',
  'session/title-llm-request',
  'session/budget',
  'session/vocabulary',
  'approval/asked',
  'approval/decided',
  'terminal/watch',
  'terminal/input',
] as const satisfies readonly EventType[]

/** Values pinned at creation: alone they never create a file (tools spec 6.1). */
export const PINNED_TYPES = [
  'permission/preset',
  'sandbox/mode',
  'approval/policy',
] as const satisfies readonly EventType[]

/** Builds a draft with the envelope marks that its type demands. */
export function draft<T extends EventType>(
  type: T,
  data: EventData[T],
  extra: { surfaceOp?: SurfaceOp; sourceEventSeqs?: number[] } = {},
): Draft<T> {
  const isOne = (types: readonly string[]): boolean => types.includes(type)
  return {
    type,
    data,
    ...(isOne(IGNORABLE_TYPES) && { ignorable: true }),
    ...(isOne(SURFACE_TYPES) && { surfaceOp: extra.surfaceOp ?? 'append' }),
    ...(extra.sourceEventSeqs && { sourceEventSeqs: extra.sourceEventSeqs }),
  } as unknown as Draft<T>
}
