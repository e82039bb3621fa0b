import type { JsonObject } from '../wire/json.ts'
import type { Draft, LogEvent } from '../wire/events.ts'
import { abortable } from './abortable.ts'
import { failure, type Admission, type AgentFacts, type Tool, type ToolContext, type ToolOutcome } from './tool.ts'

/** One call as the model wrote it; `arguments` is its raw JSON text. */
export interface ToolCall {
  callId: string
  name: string
  arguments: string
}

/** What hooks and guards see of a call whose tool is known and whose arguments are an object. */
export interface CallEvent {
  agent: AgentFacts
  turn: number
  step: number
  callId: string
  name: string
  tool: Tool
  args: JsonObject
  signal: AbortSignal
  /** From the gate, for the tool and for hooks behind it. */
  admission?: Admission
}

export type PreExecute =
  { kind: 'proceed'; args?: JsonObject; admission?: Admission } | { kind: 'refuse'; outcome: ToolOutcome }

/** Undefined lets the call pass; an outcome refuses it; a throw refuses it too. */
export type ToolGuard = (event: CallEvent) => ToolOutcome | undefined | Promise<ToolOutcome | undefined>

/** The pipeline's waterfalls and announcements, bound to the calling agent's scope. */
export interface ToolHooks {
  preExecute(event: CallEvent, inner: () => Promise<PreExecute>): Promise<PreExecute>
  execute(event: CallEvent, inner: () => Promise<ToolOutcome>): Promise<ToolOutcome>
  postExecute(event: CallEvent & { outcome: ToolOutcome }, inner: () => Promise<ToolOutcome>): Promise<ToolOutcome>
  result(event: { turn: number; step: number; callId: string; name: string; outcome: ToolOutcome }): void
  output(event: { turn: number; step: number; callId: string; text: string }): void
}

/** The part of a session log that a call needs. */
export interface CallLog {
  append(...drafts: Draft[]): LogEvent[]
  barrier(): Promise<void>
}

export interface CallEnvironment {
  agent: AgentFacts
  turn: number
  step: number
  signal: AbortSignal
  /** The tools offered to the model in this step, by name. */
  tools: ReadonlyMap<string, Tool>
  /** All tools of the agent, for calls that a tool makes; `tools` when absent. */
  catalog?: ReadonlyMap<string, Tool>
  guards: readonly ToolGuard[]
  log: CallLog
  hooks: ToolHooks
  /** How long, in ms, a body may take to return after its signal fired. */
  graceMs?: number
}

/** Long enough for the shell's interrupt ladder (about 4 s) with room for a slow machine. */
export const DEFAULT_GRACE_MS = 15_000

/** A durable barrier failed: the turn must stop, this is no result for the model. */
export class BarrierError extends Error {
  constructor(cause: unknown) {
    super(`the session log could not be written: ${messageOf(cause)}`, { cause })
    this.name = 'BarrierError'
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const abortedBeforeDispatch = (): ToolOutcome =>
  failure('ABORTED_BEFORE_DISPATCH', 'Not run: the turn was cancelled before this call was dispatched.')

/** Parses, checks, runs and finishes one logged call. Rejects only with BarrierError: everything else is an outcome. */
export async function execute(call: ToolCall, env: CallEnvironment): Promise<ToolOutcome> {
  const tool = env.tools.get(call.name)
  if (!tool) {
    const known = [...env.tools.keys()].join(', ') || 'none'
    return failure('TOOL_UNKNOWN', `There is no tool named "${call.name}". Available tools: ${known}.`)
  }
  const args = parseArguments(call)
  if (args.kind === 'invalid') return args.outcome
  const { agent, turn, step, signal } = env
  const event: CallEvent = { agent, turn, step, callId: call.callId, name: call.name, tool, args: args.value, signal }
  try {
    return finalize(await guarded(event, env))
  } catch (error) {
    if (error instanceof BarrierError) throw error
    if (signal.aborted) return failure('ABORTED', `Cancelled while running: ${messageOf(error)}`)
    return failure('TOOL_FAILED', `${call.name} failed: ${messageOf(error)}`)
  }
}

function parseArguments(
  call: ToolCall,
): { kind: 'object'; value: JsonObject } | { kind: 'invalid'; outcome: ToolOutcome } {
  const invalid = (why: string) => ({
    kind: 'invalid' as const,
    outcome: failure(
      'TOOL_ARGUMENTS_INVALID',
      `The arguments of ${call.name} ${why}. Send one JSON object that matches the tool's parameters.`,
    ),
  })
  let value: unknown
  try {
    value = call.arguments.trim() === '' ? {} : JSON.parse(call.arguments)
  } catch (error) {
    return invalid(`are not valid JSON (${messageOf(error)})`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid('are not a JSON object')
  return { kind: 'object', value: value as JsonObject }
}

async function guarded(event: CallEvent, env: CallEnvironment): Promise<ToolOutcome> {
  const admitted = await admit(event, env)
  if ('outcome' in admitted) return admitted.outcome
  try {
    await env.log.barrier()
  } catch (error) {
    throw new BarrierError(error)
  }
  if (env.signal.aborted) return abortedBeforeDispatch()
  const outcome = await env.hooks.execute(admitted.event, () => body(admitted.event, env))
  return env.hooks.postExecute({ ...admitted.event, outcome }, async () => outcome)
}

/** Asks hooks, then guards. One that waits for a person must not outlive the turn: an abort refuses the call at once. */
async function admit(
  event: CallEvent,
  { hooks, guards, signal }: CallEnvironment,
): Promise<{ event: CallEvent } | { outcome: ToolOutcome }> {
  try {
    const decision = await abortable(
      signal,
      hooks.preExecute(event, async () => ({ kind: 'proceed' })),
    )
    if (decision.kind === 'refuse') return { outcome: decision.outcome }
    const { args, admission } = decision
    const admitted = { ...event, ...(args && { args }), ...(admission && { admission }) }
    for (const guard of guards) {
      const outcome = await abortable(signal, guard(admitted))
      if (outcome) return { outcome }
    }
    return { event: admitted }
  } catch (error) {
    if (signal.aborted) return { outcome: abortedBeforeDispatch() }
    throw error
  }
}

/** Runs the tool itself: its time limit and the turn's signal reach it, and it gets a grace period to return what it has. */
async function body(event: CallEvent, env: CallEnvironment): Promise<ToolOutcome> {
  const { tool, args } = event
  const stop = new AbortController()
  const onAbort = () => stop.abort(env.signal.reason)
  env.signal.addEventListener('abort', onAbort, { once: true })
  let timedOut = false
  const limit =
    tool.timeoutMs &&
    setTimeout(() => {
      timedOut = true
      stop.abort(new Error(`timed out after ${tool.timeoutMs} ms`))
    }, tool.timeoutMs)
  const context = contextFor(event, env, stop.signal)
  try {
    const outcome = await withGrace(tool.run(args, context.value), stop.signal, env.graceMs ?? DEFAULT_GRACE_MS)
    if (timedOut) return timeoutOutcome(event, outcome)
    if (outcome) return outcome
    return failure('TOOL_OUTCOME_UNKNOWN', 'Cancelled; the tool did not confirm that it stopped.')
  } catch (error) {
    if (!timedOut) throw error
    return timeoutOutcome(event, undefined)
  } finally {
    context.close()
    clearTimeout(limit)
    env.signal.removeEventListener('abort', onAbort)
  }
}

function timeoutOutcome(event: CallEvent, partial: ToolOutcome | undefined): ToolOutcome {
  const seconds = event.tool.timeoutMs! / 1000
  const timeout = failure('TOOL_TIMEOUT', `${event.name} was stopped: it ran longer than ${seconds} s.`, partial?.meta)
  return { ...timeout, content: [...(partial?.content ?? []), ...timeout.content] }
}

/** The work's outcome, or undefined when it has not ended `graceMs` after the signal. */
async function withGrace<T>(work: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T | undefined> {
  const gone = Promise.withResolvers<undefined>()
  let timer: NodeJS.Timeout | undefined
  const onAbort = () => {
    timer = setTimeout(() => gone.resolve(undefined), graceMs)
  }
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, gone.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

function contextFor(
  event: CallEvent,
  env: CallEnvironment,
  signal: AbortSignal,
): { value: ToolContext; close(): void } {
  const { agent, callId, turn, step, admission } = event
  let open = true
  let dispatched = 0
  return {
    value: {
      agent,
      callId,
      turn,
      step,
      cwd: agent.cwd,
      signal,
      ...(admission && { admission }),
      // Late text of a body that outlived its call has no result to stand before.
      output: (text) => open && env.hooks.output({ turn, step, callId, text }),
      log: (type, data) => void (open && env.log.append({ type, data })),
      dispatch: async (name, args) => {
        if (!open) return failure('ABORTED', 'The call that asked for this has ended.')
        const inner = { callId: `${callId}/${++dispatched}`, name, arguments: JSON.stringify(args) }
        return execute(inner, { ...env, signal, tools: env.catalog ?? env.tools })
      },
    },
    close() {
      open = false
    },
  }
}

/** Makes sure that the log can hold the outcome: content is there, `meta` is plain JSON. */
function finalize(outcome: ToolOutcome): ToolOutcome {
  if (!Array.isArray(outcome?.content)) throw new Error('the tool returned no content')
  const { meta, ...rest } = outcome
  const content = outcome.content.length ? outcome.content : [{ type: 'text' as const, text: '' }]
  return { ...rest, content, ...(meta !== undefined && { meta: JSON.parse(JSON.stringify(meta)) }) }
}
