import { draft, type Draft, type EventData } from '../wire/events.ts'
import { newId } from '../wire/ids.ts'
import { textOf, type CallConfig, type Message, type RequestHeader } from '../wire/messages.ts'
import { stripMarked } from '../model/header.ts'
import { ModelError, type BuiltRequest, type PreparedCall } from '../model/port.ts'
import { inherited } from '../projection/inherited.ts'
import { request as requestFold } from '../projection/request.ts'
import { surface } from '../projection/surface.ts'
import type { Assembly } from '../prompt/assembly.ts'
import type { CallProposal, TurnAgent } from './hooks.ts'
import { sameJson } from './digest.ts'
import type { Instance, StepAt, TurnWorld } from './world.ts'

/** Everything of a step that its attempts share. */
export interface Step extends StepAt {
  assembly: Assembly
  /** Who brings the tools, by name. */
  owners: { [name: string]: string }
  /** The rendered system prompt. */
  system: string
  admitted: readonly Message[]
  startsSeries: boolean
}

/** What the next request would be made of, before hooks: agent options at first, the last header's own wishes afterwards. */
export function proposalFor(agent: TurnAgent): CallProposal {
  const { header } = agent.log.state(requestFold)
  if (header) return stripMarked(header)
  const { cwd: _cwd, ...options } = agent.options
  return options
}

/** Runs `agent/request` and resolves the route. Throws ModelError when no model is chosen or the route refuses. */
export async function prepareCall(
  world: TurnWorld,
  agent: TurnAgent,
  step: Step,
  attempt: number,
): Promise<PreparedCall> {
  const { turn, signal, assembly } = step
  const event = { agent, turn, step: step.step, signal, attempt, assembly }
  const proposal = await world.hooks.waterfall('agent/request', agent, event, () => proposalFor(agent))
  const { provider, model } = proposal
  if (!provider || !model)
    throw new ModelError({
      code: 'NO_ADAPTER',
      message: 'No model is chosen for this session. Choose one and send again.',
    })
  return world.prepare({ ...proposal, provider, model } satisfies CallConfig, signal)
}

/**
 * Logs in one batch what the request adds to the history: the changed system prompt, the admitted messages, a header and a
 * context that differ, and last the inbox removals. Returns the seq of the header in force.
 */
export function logRequest(instance: Instance, step: Step, call: PreparedCall, world: TurnWorld): number {
  const { agent, inbox } = instance
  const admitted = new Set(step.admitted.map((message) => message.id))
  const header = { ...call.header, tools: step.assembly.tools }
  const system = systemDraft(instance, step, world.id ?? newId)
  const headerDraft = changedHeader(instance, step, header)
  const origins = changedOrigins(agent, step)
  const context = changedContext(agent, call, system?.surfaceOp !== undefined && system.surfaceOp !== 'append')
  agent.log.append(
    ...(system ? [system] : []),
    ...step.admitted.map((message) => draft('user/message', { turn: step.turn, step: step.step, message })),
    ...(headerDraft ? [headerDraft] : []),
    ...(origins ? [origins] : []),
    ...(context ? [context] : []),
    ...inbox.removals(admitted),
  )
  inbox.settle(admitted)
  if (headerDraft) instance.headerLogged = true
  return agent.log.state(requestFold).headerSeq!
}

function systemDraft({ agent, history }: Instance, step: Step, id: () => string): Draft<'system/message'> | undefined {
  const node = history.of(agent.log.state(surface)).system
  if (step.system === (node ? textOf(node.message) : '')) return undefined
  const message: Message = {
    id: id(),
    role: 'system',
    content: [{ type: 'text', text: step.system }],
    source: { kind: 'system' },
  }
  const surfaceOp = node && { op: 'replace' as const, startSeq: node.seq, endSeq: node.seq }
  return draft('system/message', { turn: step.turn, step: step.step, message }, surfaceOp ? { surfaceOp } : {})
}

function changedHeader(instance: Instance, step: Step, header: RequestHeader): Draft<'request/header'> | undefined {
  const last = instance.agent.log.state(requestFold)
  const digest = instance.digest.of({
    preset: instance.presetDigest?.(),
    system: step.system,
    tools: step.assembly.tools,
    provider: header.config.provider,
    model: header.config.model,
  })
  const composition = instance.composition?.()
  const reason = headerReason(instance, step.startsSeries)
  // The digest covers the tools: only the rest of the header is left to compare.
  const rest = sameJson(withoutTools(last.header), withoutTools(header))
  const same = last.compositionDigest === digest && rest && sameJson(last.composition, composition ?? null)
  if (same && reason === 'change') return undefined
  return draft('request/header', {
    turn: step.turn,
    step: step.step,
    header,
    compositionDigest: digest,
    ...(composition && { composition }),
    reason,
    ...(step.startsSeries && { startsSeries: true }),
  })
}

/** Who made what of the prompt, when the log does not say so already: mostly its provenance is the very one that was logged. */
function changedOrigins(
  agent: TurnAgent,
  { turn, step, assembly, owners }: Step,
): Draft<'request/origins'> | undefined {
  const { sections, contexts } = assembly.provenance
  const known = assembly.tools.flatMap(({ name }) =>
    Object.hasOwn(owners, name) ? [[name, owners[name]!] as const] : [],
  )
  const tools = Object.fromEntries(known)
  const { origins: last } = agent.log.state(requestFold)
  if (last && sameJson(last.sections, sections) && sameJson(last.contexts, contexts) && sameJson(last.tools, tools))
    return undefined
  return draft('request/origins', { turn, step, sections, contexts, tools })
}

const withoutTools = (header: RequestHeader | null) => header && { ...header, tools: undefined }

function headerReason(instance: Instance, startsSeries: boolean): EventData['request/header']['reason'] {
  if (!instance.agent.log.state(requestFold).header) return 'initial'
  if (!instance.headerLogged) return 'resume'
  return startsSeries ? 'series' : 'change'
}

function changedContext(
  agent: TurnAgent,
  call: PreparedCall,
  systemReplaced: boolean,
): Draft<'request/context'> | undefined {
  const { provider, model } = call.header.config
  const { contextWindow } = call.facts
  const context = { provider, model, ...(contextWindow !== undefined && { contextWindow }) }
  const { systemPromptUpdate: _update, ...last } = agent.log.state(requestFold).context ?? {}
  if (sameJson(last, context) && !systemReplaced) return undefined
  return draft('request/context', { ...context, ...(systemReplaced && { systemPromptUpdate: true }) })
}

/**
 * The request over the whole repaired history: every call answered, every answer called for, and what a fork cannot call
 * any more retold. All of it follows from the log and the header's tools, so the body can be built again.
 */
export function buildRequest(instance: Instance, step: Step, route: string, attempt: number): BuiltRequest {
  const { agent } = instance
  const { turn, signal } = step
  return {
    system: step.system,
    messages: instance.history.sent(agent.log.state(surface), agent.log.state(inherited), step.assembly.tools),
    tools: step.assembly.tools,
    signal,
    sessionId: agent.id,
    lane: instance.lane ?? 'main',
    turn,
    step: step.step,
    attempt,
    onSent: (sent) => void agent.log.append(draft('llm/sent', { turn, step: step.step, attempt, route, ...sent })),
  }
}
