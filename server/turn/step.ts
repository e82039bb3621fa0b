import { draft } from '../wire/events.ts'
import { newId } from '../wire/ids.ts'
import { textOf, type Message } from '../wire/messages.ts'
import type { Assembled } from '../model/assembler.ts'
import { Retries, waitFor } from '../model/retry.ts'
import type { Failure } from '../model/port.ts'
import { surface } from '../projection/surface.ts'
import type { Assembly } from '../prompt/assembly.ts'
import { renderContexts, renderPrompt } from '../prompt/template.ts'
import { abortable } from '../tool/abortable.ts'
import { runCalls } from '../tool/pipeline.ts'
import type { Tool } from '../tool/tool.ts'
import type { PreStep, RequestErrorDecision, TurnAgent } from './hooks.ts'
import { logRequest, prepareCall, proposalFor, type Step } from './request.ts'
import { failureOf, streamAttempt } from './stream.ts'
import { toolHooks } from './tool-hooks.ts'
import type { Instance, StepAt, TurnWorld } from './world.ts'

/** The model's failure after all retries: ends the turn with its facts. */
export class StepFailure extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.message)
    this.name = 'StepFailure'
    this.failure = failure
  }
}

export interface Prepared {
  assembly: Assembly
  tools: ReadonlyMap<string, Tool>
  /** Who brings the tools, by name. */
  owners: { [name: string]: string }
  decision: PreStep
}

/** Claims, assembles and asks the pre-step hooks: everything that happens before a step is entered. */
export async function prepareStep(world: TurnWorld, instance: Instance, at: StepAt): Promise<Prepared> {
  const { agent, inbox } = instance
  const { turn, step, signal } = at
  const messages = inbox.claim(step)
  for (const message of messages) world.hooks.emit('agent/inbox/claimed', agent, { agent, turn, step, message })
  const tools = world.tools.assemble(agent)
  const owners = world.tools.owners(agent)
  const { provider, model } = proposalFor(agent)
  const variables = { cwd: agent.cwd, ...(provider && model && { provider, model }) }
  const specs = tools.map((tool) => tool.spec)
  const assembly = await abortable(
    signal,
    world.prompt.assemble({ agent, scope: agent, signal, tools: specs, variables }),
  )
  const event = { agent, turn, step, signal, messages, assembly }
  const decision = await abortable(
    signal,
    world.hooks.waterfall('agent/pre-step', agent, event, (): PreStep => ({
      kind: 'enter',
      messages: [...messages, ...runtimeContext(world, instance, { assembly, messages, step })],
    })),
  )
  return { assembly, tools: new Map(tools.map((tool) => [tool.spec.name, tool])), owners, decision }
}

/** The runtime-context snapshot as a message, when it differs from the one the history shows last. */
function runtimeContext(
  world: TurnWorld,
  instance: Instance,
  { assembly, messages, step }: { assembly: Assembly; messages: readonly Message[]; step: number },
): Message[] {
  if (step === 1 && messages.length === 0) return []
  const text = renderContexts(assembly)
  if (text === '' || text === lastText(instance)) return []
  return [
    {
      id: (world.id ?? newId)(),
      role: 'user',
      content: [{ type: 'text', text }],
      source: { kind: 'runtime-context' },
    },
  ]
}

function lastText({ agent, history }: Instance): string | undefined {
  const { runtimeContext: last } = history.of(agent.log.state(surface))
  return last && textOf(last)
}

export interface StepOutcome {
  finish: 'more' | 'done' | 'concluded'
  maxTokens: boolean
}

/** One model call with its retries, then the tools it asked for. Rejects when the step fails or is aborted. */
export async function runStep(
  world: TurnWorld,
  instance: Instance,
  at: StepAt,
  prepared: Prepared,
): Promise<StepOutcome> {
  const { decision, assembly, owners } = prepared
  if (decision.kind === 'reject') throw new Error('a rejected step cannot run')
  const step: Step = {
    ...at,
    assembly,
    owners,
    system: renderPrompt(assembly),
    admitted: decision.messages,
    startsSeries: decision.startsRequestSeries ?? false,
  }
  const result = await callModel(world, instance, step)
  const maxTokens = result.finish.kind === 'max-tokens'
  const calls = result.blocks.flatMap((block) =>
    block.type === 'tool-call' ? [{ callId: block.id, name: block.name, arguments: block.arguments }] : [],
  )
  if (calls.length === 0) return { finish: 'done', maxTokens }
  const { concludesTurn } = await runCalls(
    calls,
    {
      agent: instance.agent,
      ...at,
      tools: offered(prepared),
      catalog: prepared.tools,
      guards: world.tools.guards(instance.agent),
      log: instance.agent.log,
      hooks: toolHooks(world.hooks, instance.agent),
      ...(world.graceMs !== undefined && { graceMs: world.graceMs }),
    },
    world,
  )
  return { finish: concludesTurn ? 'concluded' : 'more', maxTokens }
}

/** Only what the model was shown can be called. */
function offered({ tools, assembly }: Prepared): ReadonlyMap<string, Tool> {
  return new Map(
    assembly.tools.flatMap(({ name }) => {
      const tool = tools.get(name)
      return tool ? [[name, tool] as const] : []
    }),
  )
}

async function callModel(world: TurnWorld, instance: Instance, step: Step): Promise<Assembled> {
  const { agent } = instance
  let retries: Retries | undefined
  for (let attempt = 1; ; attempt++) {
    const call = await abortable(step.signal, prepareCall(world, agent, step, attempt))
    const headerSeq = logRequest(
      instance,
      attempt === 1 ? step : { ...step, admitted: [], startsSeries: false },
      call,
      world,
    )
    await agent.log.barrier()
    step.signal.throwIfAborted()
    const result = await streamAttempt(world, instance, step, { call, attempt, headerSeq })
    step.signal.throwIfAborted()
    const failure = failureOf(result)
    if (!failure) return result
    retries ??= new Retries(call.retry, world.random, instance.retries)
    const decision = await abortable(step.signal, decide(world, agent, { step, attempt, failure, retries }))
    if (decision.kind === 'fail') throw new StepFailure(failure)
    await backOff(world, instance, step, { attempt, failure, delayMs: decision.delayMs })
  }
}

function decide(
  world: TurnWorld,
  agent: TurnAgent,
  { step, attempt, failure, retries }: { step: Step; attempt: number; failure: Failure; retries: Retries },
): Promise<RequestErrorDecision> {
  const { turn, signal } = step
  const event = { agent, turn, step: step.step, signal, attempt, failure }
  return world.hooks.waterfall('agent/request-error', agent, event, (): RequestErrorDecision => {
    const delayMs = retries.next(failure)
    return delayMs === null ? { kind: 'fail' } : { kind: 'retry', delayMs }
  })
}

/** Both events frame the wait, so that a countdown survives a reload. */
async function backOff(
  world: TurnWorld,
  instance: Instance,
  { turn, step, signal }: Step,
  { attempt, failure, delayMs }: { attempt: number; failure: Failure; delayMs: number },
): Promise<void> {
  const { log } = instance.agent
  const until = (world.now ?? Date.now)() + delayMs
  const { code, message } = failure
  log.append(draft('llm/retry', { turn, step, attempt, code, message, delayMs, until }))
  instance.retries++
  await waitFor(delayMs, signal, world.timers)
  signal.throwIfAborted()
  log.append(draft('llm/retry-started', { turn, step, attempt: attempt + 1 }))
}
