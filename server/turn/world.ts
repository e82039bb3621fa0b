import type { AbortCause } from '../wire/events.ts'
import type { CallConfig, Message } from '../wire/messages.ts'
import type { Draft } from '../wire/events.ts'
import type { GenerationRef } from '../wire/presets.ts'
import type { PreparedCall } from '../model/port.ts'
import type { Timers } from '../model/retry.ts'
import type { SystemPrompt } from '../prompt/prompt.ts'
import type { Tools } from '../tool/registry.ts'
import type { CompositionDigest } from './digest.ts'
import type { History } from './history.ts'
import type { Delta, Hooks, TurnAgent } from './hooks.ts'

/** The host's services as the loop uses them. */
export interface TurnWorld {
  hooks: Hooks
  prompt: SystemPrompt
  tools: Tools
  /** Binds one call to its route; throws ModelError (`Routes.prepare`). */
  prepare(config: CallConfig, signal: AbortSignal): Promise<PreparedCall>
  id?: () => string
  /** Milliseconds since the epoch. */
  now?: () => number
  random?: () => number
  timers?: Timers
  /** Stream timing kept with each answer; `full` when absent. */
  stream?: 'full' | 'frames' | 'none'
  maxParallelToolCalls?: number
  /** How long, in ms, a tool body or a model stream may take to end after an abort. */
  graceMs?: number
}

/** The queue as a turn uses it. Claimed rows stay in the durable inbox, marked in flight, until their removals are logged. */
export interface TurnInbox {
  /** Step 1 takes all of next-step and one next-turn row, later steps next-step only; parked rows stay. */
  claim(step: number): Message[]
  /** Removal drafts of the in-flight rows whose message is admitted; they go last into the batch of the request. */
  removals(admitted: ReadonlySet<string>): Draft[]
  /** The removals stand in the log. */
  settle(admitted: ReadonlySet<string>): void
  /** Puts the in-flight rows back: parked with `reason`, or queued as before when there is none. */
  putBack(reason: string | undefined): void
  hasNextStep(): boolean
}

/** What one agent instance remembers between its turns. */
export interface Instance {
  agent: TurnAgent
  inbox: TurnInbox
  /** Call ids already used in this session. */
  callIds: Set<string>
  /** Warnings already logged, so that each is logged once. */
  warned: Set<string>
  /** Retries made so far; counts against the ceiling of an `always` policy. */
  retries: number
  /** True once this instance logged a request header. */
  headerLogged: boolean
  digest: CompositionDigest
  history: History
  /** Digest of the preset declaration in force, for the composition digest. */
  presetDigest?: () => string | undefined
  /** The preset's revision that the agent is composed of, for the header. */
  composition?: () => GenerationRef | undefined
  /** The agent's deterministic path for replay (`main/sub:1`); `main` when absent. */
  lane?: string
  onDelta?: (delta: Delta) => void
}

/** Where one step stands. */
export interface StepAt {
  turn: number
  step: number
  signal: AbortSignal
}

/** The cause of an abort; a signal fired by foreign code counts as the user's. */
export function causeOf(signal: AbortSignal): AbortCause {
  const reason: unknown = signal.reason
  if (typeof reason === 'object' && reason !== null && 'kind' in reason) return reason as AbortCause
  return { kind: 'user' }
}
