import type { AbortCause, InboxTarget, TurnError } from '../wire/events.ts'
import type { CallConfig, Message } from '../wire/messages.ts'
import type { EventLog } from '../log/port.ts'
import type { Failure } from '../model/port.ts'
import type { AssembleEvent, Assembly } from '../prompt/assembly.ts'
import { Listeners } from '../scope/listeners.ts'
import type { CallEvent, PreExecute } from '../tool/execute.ts'
import type { AgentFacts, ToolOutcome } from '../tool/tool.ts'

export interface AgentOptions {
  provider?: string
  model?: string
  reasoningEffort?: string
  maxTokens?: number
  cwd: string
}

/** The agent as hooks and the turn loop know it; its scope key is the agent object itself. */
export interface TurnAgent extends AgentFacts {
  log: EventLog
  options: AgentOptions
}

/** Where one step stands; `signal` fires with an `AbortCause` as its reason. */
interface At {
  agent: TurnAgent
  turn: number
  step: number
  signal: AbortSignal
}

export interface PreStepEvent extends At {
  /** What was claimed for this step; the default decision adds the runtime context when it changed. */
  messages: readonly Message[]
  assembly: Assembly
}

/** `enter` names the messages that go into the history; claimed ones left out stay in the inbox, parked. */
export type PreStep =
  { kind: 'enter'; messages: Message[]; startsRequestSeries?: boolean } | { kind: 'reject'; reason?: string }

/** A call config on its way: provider and model may still be missing. */
export type CallProposal = Omit<CallConfig, 'provider' | 'model'> & { provider?: string; model?: string }

export interface RequestEvent extends At {
  attempt: number
  assembly: Assembly
}

export interface RequestErrorEvent extends At {
  attempt: number
  failure: Failure
}

/** `delayMs` is the wait before the next attempt. */
export type RequestErrorDecision = { kind: 'retry'; delayMs: number } | { kind: 'fail' }

export interface Delta {
  turn: number
  step: number
  attempt: number
  block: number
  kind: 'text' | 'reasoning' | 'tool'
  /** UTF-16 units of this block already delivered. */
  offset: number
  text: string
  callId?: string
  name?: string
}

export type StreamFrame = { agent: TurnAgent; turn: number; step: number; attempt: number } & (
  { frame: 'start' } | { frame: 'chunk'; delta: Delta } | { frame: 'end'; outcome: 'message' | 'attempt' }
)

interface CallAt {
  agent: TurnAgent
  turn: number
  step: number
  callId: string
}

/** Every hook of the loop: waterfalls and serials have a `result`, announcements have none. */
export interface HookMap {
  'system-prompt/assemble': { event: AssembleEvent; result: Assembly }
  'agent/pre-step': { event: PreStepEvent; result: PreStep }
  'agent/request': { event: RequestEvent; result: CallProposal }
  'agent/request-error': { event: RequestErrorEvent; result: RequestErrorDecision }
  'tools/pre-execute': { event: CallEvent; result: PreExecute }
  'tools/execute': { event: CallEvent; result: ToolOutcome }
  'tools/post-execute': { event: CallEvent & { outcome: ToolOutcome }; result: ToolOutcome }
  'agent/turn-stopping': { event: At; result: true }
  'agent/inbox/inserted': { event: { agent: TurnAgent; target: InboxTarget; message: Message } }
  'agent/inbox/claimed': { event: { agent: TurnAgent; turn: number; step: number; message: Message } }
  'agent/status': { event: { agent: TurnAgent; status: 'idle' | 'running' } }
  'agent/cancelled': { event: { agent: TurnAgent; cause: AbortCause } }
  'agent/assistant-stream': { event: StreamFrame }
  'tools/result': { event: CallAt & { name: string; outcome: ToolOutcome } }
  'tool/output': { event: CallAt & { text: string } }
  'agent/error': { event: { agent: TurnAgent; turn: number; step: number; error: TurnError } }
  'agent/created': { event: { agent: TurnAgent } }
  'agent/disposed': { event: { agent: TurnAgent } }
  /** An agent of the loop's config did not start (N-10); heard by unscoped listeners. */
  'agent-loop/config-start-failed': { event: { sessionId: string; error: unknown } }
}
export type HookName = keyof HookMap

/** The loop's own listener registry; a bridge may forward each hook to a plugin kernel with one listener. */
export class Hooks extends Listeners<HookMap> {}
