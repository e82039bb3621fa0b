import { draft, type LogEvent } from '../wire/events.ts'
import { newId } from '../wire/ids.ts'
import type { Message } from '../wire/messages.ts'
import { abortedBeforeDispatch, execute, type CallEnvironment, type ToolCall } from './execute.ts'
import type { ToolOutcome } from './tool.ts'

export interface PipelineOptions {
  /** Calls of parallel tools that may overlap; 10 when absent. */
  maxParallelToolCalls?: number
  id?: () => string
  now?: () => number
}

export const MAX_PARALLEL = 10

/** A tool result as the model reads it; `id` is the message's. */
export const resultMessage = (id: string, callId: string, outcome: ToolOutcome): Message => ({
  id,
  role: 'user',
  content: [
    { type: 'tool-result', toolCallId: callId, content: outcome.content, ...(outcome.isError && { isError: true }) },
  ],
  source: { kind: 'tool', callId },
})

/**
 * Runs one answer's calls. Parallel tools overlap, any other call is a barrier; `tool/call` and `tool/result` each stand in the
 * model's order. After an abort the rest is answered unrun and what runs is drained. Rejects with BarrierError once all is drained.
 */
export async function runCalls(
  calls: readonly ToolCall[],
  env: CallEnvironment,
  options: PipelineOptions = {},
): Promise<{ concludesTurn: boolean }> {
  const { maxParallelToolCalls = MAX_PARALLEL } = options
  const results = new OrderedResults(env, options)
  const running = new Set<Promise<void>>()
  let broken: unknown
  const start = (call: ToolCall) => {
    const place = results.open(call)
    const task = execute(call, env)
      .then(place.finish)
      .catch((error: unknown) => {
        broken ??= error
      })
      .finally(() => running.delete(task))
    running.add(task)
  }

  for (const call of calls) {
    const parallel = env.tools.get(call.name)?.parallel ?? false
    if (!parallel) await Promise.all(running)
    while (running.size >= maxParallelToolCalls) await Promise.race(running)
    if (env.signal.aborted || broken) break
    start(call)
    if (!parallel) await Promise.all(running)
  }
  await Promise.all(running)
  if (broken) throw broken
  for (const call of calls.slice(results.opened)) results.open(call).finish(abortedBeforeDispatch())
  return { concludesTurn: results.concludesTurn }
}

/** Holds back results that are ready before an earlier call's. */
class OrderedResults {
  opened = 0
  concludesTurn = false
  #env: CallEnvironment
  #options: PipelineOptions
  #ready = new Map<number, () => void>()
  #committed = 0

  constructor(env: CallEnvironment, options: PipelineOptions) {
    this.#env = env
    this.#options = options
  }

  open(call: ToolCall): { finish: (outcome: ToolOutcome) => void } {
    const place = this.opened++
    const { turn, step, log } = this.#env
    const { now = Date.now } = this.#options
    const startedAt = now()
    const [logged] = log.append(draft('tool/call', { turn, step, ...call }))
    return {
      finish: (outcome) => {
        const ms = now() - startedAt
        this.#ready.set(place, () => this.#commit(call, logged!, { outcome, ms }))
        for (let commit = this.#ready.get(this.#committed); commit; commit = this.#ready.get(this.#committed)) {
          this.#ready.delete(this.#committed++)
          commit()
        }
      },
    }
  }

  #commit(call: ToolCall, logged: LogEvent, { outcome, ms }: { outcome: ToolOutcome; ms: number }): void {
    const { turn, step, log, hooks } = this.#env
    const { id = newId } = this.#options
    hooks.result({ turn, step, callId: call.callId, name: call.name, outcome })
    if (outcome.concludesTurn) this.concludesTurn = true
    log.append(
      draft(
        'tool/result',
        {
          turn,
          step,
          message: resultMessage(id(), call.callId, outcome),
          ...(outcome.error && { error: outcome.error }),
          ...(outcome.meta !== undefined && { meta: outcome.meta }),
          ms,
        },
        { sourceEventSeqs: [logged.seq] },
      ),
    )
  }
}
