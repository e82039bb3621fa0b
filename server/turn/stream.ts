import { draft, type TurnError } from '../wire/events.ts'
import { newId } from '../wire/ids.ts'
import type { Message } from '../wire/messages.ts'
import { Assembler, type Assembled, type DeltaFrame } from '../model/assembler.ts'
import type { Failure, PreparedCall } from '../model/port.ts'
import { buildRequest, type Step } from './request.ts'
import type { Instance, TurnWorld } from './world.ts'

/** Reads one attempt to its end: deltas to the screen and the journal, the answer or the failed attempt into the log. */
export async function streamAttempt(
  world: TurnWorld,
  instance: Instance,
  step: Step,
  { call, attempt, headerSeq }: { call: PreparedCall; attempt: number; headerSeq: number },
): Promise<Assembled> {
  const { agent } = instance
  const { log } = agent
  const at = { turn: step.turn, step: step.step, attempt }
  const show = showDeltas(world, instance, at)
  const assembler = new Assembler({ usedCallIds: instance.callIds, stream: world.stream ?? 'full' })
  log.journal.begin({ ...at, requestHeaderSeq: headerSeq })
  world.hooks.emit('agent/assistant-stream', agent, { agent, ...at, frame: 'start' })
  const request = buildRequest(instance, step, call.header.config.provider, attempt)
  await readAll(call, request, { assembler, show, graceMs: world.graceMs ?? STREAM_GRACE_MS })
  const result = assembler.result()
  logWarnings(instance, step, result)
  log.append(result.kind === 'message' ? answer(world, step, call, result) : failedAttempt(step, attempt, call, result))
  log.journal.end()
  for (const block of result.blocks)
    if (result.kind === 'message' && block.type === 'tool-call') instance.callIds.add(block.id)
  world.hooks.emit('agent/assistant-stream', agent, { agent, ...at, frame: 'end', outcome: result.kind })
  return result
}

/** An abort reaches the socket within milliseconds; a stream that still hangs after this is left behind. */
const STREAM_GRACE_MS = 5000

interface Reading {
  assembler: Assembler
  show: (frame: DeltaFrame) => void
  graceMs: number
}

async function readAll(
  call: PreparedCall,
  request: ReturnType<typeof buildRequest>,
  { assembler, show, graceMs }: Reading,
): Promise<void> {
  const { signal } = request
  const left = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  let open = true
  const onAbort = () => {
    timer = setTimeout(() => left.resolve(), graceMs)
  }
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  const read = async () => {
    for await (const event of call.stream(request)) {
      if (!open) return
      const frame = assembler.push(event)
      if (frame) show(frame)
    }
  }
  try {
    await Promise.race([read(), left.promise])
    if (!assembler.ended && signal.aborted) assembler.push({ t: 'end', finish: aborted })
  } catch (error) {
    // A stream promises to end with data; what it throws all the same becomes the attempt's failure (LP-02).
    if (!assembler.ended)
      assembler.push({ t: 'end', finish: signal.aborted ? aborted : { kind: 'error', failure: unknownFailure(error) } })
  } finally {
    open = false
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

const aborted = { kind: 'aborted' as const, failure: { code: 'ABORTED' as const, message: 'Cancelled.' } }

const unknownFailure = (error: unknown): Failure => ({
  code: 'UNKNOWN',
  message: (error instanceof Error ? error.message : String(error)).slice(0, 300),
})

function showDeltas(
  world: TurnWorld,
  { agent, onDelta }: Instance,
  at: { turn: number; step: number; attempt: number },
): (frame: DeltaFrame) => void {
  const { hooks } = world
  const kinds = new Set<number>()
  return (frame) => {
    agent.log.journal.note({
      i: frame.block,
      k: frame.kind,
      s: frame.text,
      ...(!kinds.has(frame.block) && frame.callId !== undefined && { id: frame.callId, n: frame.name ?? '' }),
    })
    kinds.add(frame.block)
    const delta = { ...at, ...frame }
    onDelta?.(delta)
    if (hooks.has('agent/assistant-stream'))
      hooks.emit('agent/assistant-stream', agent, { agent, ...at, frame: 'chunk', delta })
  }
}

function answer(world: TurnWorld, step: Step, call: PreparedCall, result: Assembled) {
  const { provider, model } = call.header.config
  const { replayState, usage, interrupted, requestId, firstDeltaMs } = result
  const message: Message = {
    id: (world.id ?? newId)(),
    role: 'assistant',
    content: result.blocks,
    source: { kind: 'model', provider, model, ...(replayState && { replayState }) },
  }
  return draft('assistant/message', {
    turn: step.turn,
    step: step.step,
    message,
    stream: result.stream,
    ...(usage && { usage }),
    ...(call.facts.price && { price: call.facts.price }),
    ...(interrupted && { interrupted }),
    ...(requestId !== undefined && { requestId }),
    ...(firstDeltaMs !== undefined && { firstDeltaMs }),
    ms: result.ms,
  })
}

function failedAttempt(step: Step, attempt: number, call: PreparedCall, result: Assembled) {
  const error = failureOf(result)
  const { provider, model } = call.header.config
  const { stream, usage, firstDeltaMs, ms } = result
  return draft('assistant/attempt', {
    turn: step.turn,
    step: step.step,
    attempt,
    stream,
    ...(error && { error: turnError(error) }),
    ...(usage && { usage }),
    ...(call.facts.price && { price: call.facts.price }),
    provider,
    model,
    ...(firstDeltaMs !== undefined && { firstDeltaMs }),
    ms,
  })
}

/** Why an attempt gave no answer. */
export function failureOf({ finish }: Assembled): Failure | undefined {
  switch (finish.kind) {
    case 'error':
    case 'aborted':
      return finish.failure
    case 'content-filter':
      return { code: 'CONTENT_FILTER', message: 'The provider withheld the answer (content filter).' }
    default:
      return undefined
  }
}

/** The failure's facts as the log keeps them. */
export const turnError = ({ code, message, ...facts }: Failure): TurnError => ({ code, message, ...facts })

function logWarnings(instance: Instance, { turn, step }: Step, result: Assembled): void {
  for (const { feature, detail } of result.warnings) {
    const key = `${feature}\n${detail ?? ''}`
    if (instance.warned.has(key)) continue
    instance.warned.add(key)
    instance.agent.log.append(draft('llm/warning', { turn, step, feature, ...(detail !== undefined && { detail }) }))
  }
}
