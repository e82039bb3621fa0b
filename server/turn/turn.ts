import { draft, type TurnEndReason, type TurnError } from '../wire/events.ts'
import { newId } from '../wire/ids.ts'
import { never } from '../wire/never.ts'
import { closers } from '../log/closers.ts'
import { ModelError } from '../model/port.ts'
import { turnBoundary } from '../projection/turn-boundary.ts'
import { abortable } from '../tool/abortable.ts'
import { turnError } from './stream.ts'
import { prepareStep, runStep, StepFailure } from './step.ts'
import { causeOf, type Instance, type StepAt, type TurnWorld } from './world.ts'

interface Ending {
  reason: TurnEndReason
  /** Why claimed rows that did not get into the history wait for a person; absent: they stay queued. */
  parked?: string
}

/**
 * Drives one turn to its logged end (contracts 2.3, steps 2 to 14). Failures of model, tools and plugins end the turn, not the
 * loop. Rejects only when the log itself refuses: then nothing durable can be said any more.
 */
export async function runTurn(world: TurnWorld, instance: Instance, signal: AbortSignal): Promise<TurnEndReason> {
  const { agent, inbox } = instance
  closeOpenTail(world, instance, 'interrupted')
  const turn = agent.log.state(turnBoundary).lastTurn + 1
  agent.log.append(draft('turn/start', { turn }))
  const at = { turn, step: 0, signal }
  const ending = await runSteps(world, instance, at).catch((error: unknown): Ending =>
    failed(world, instance, at, error),
  )
  inbox.putBack(ending.parked)
  closeOpenTail(world, instance, ending.reason)
  await agent.log.barrier()
  return ending.reason
}

/** `at.step` follows the loop, so that a failure knows where it happened. */
async function runSteps(world: TurnWorld, instance: Instance, at: StepAt): Promise<Ending> {
  const { agent, inbox } = instance
  const { turn, signal } = at
  let maxTokens = false
  const completed = (): Ending => ({ reason: { kind: maxTokens ? 'max-tokens' : 'completed' } })
  for (;;) {
    at.step++
    signal.throwIfAborted()
    const prepared = await prepareStep(world, instance, at)
    const { decision } = prepared
    if (decision.kind === 'reject') return blocked(decision.reason)
    if (at.step === 1 && decision.messages.length === 0) return { ...completed(), parked: 'held back by a hook' }
    agent.log.append(draft('step/start', { turn, step: at.step }))
    const outcome = await runStep(world, instance, { ...at }, prepared)
    // What a hook kept out of the history waits for a person.
    inbox.putBack('held back by a hook')
    agent.log.append(draft('step/end', { turn, step: at.step }))
    await agent.log.barrier()
    maxTokens ||= outcome.maxTokens
    signal.throwIfAborted()
    switch (outcome.finish) {
      case 'more':
        continue
      case 'concluded':
        return completed()
      case 'done':
        if (!inbox.hasNextStep())
          await abortable(signal, world.hooks.serial('agent/turn-stopping', agent, { agent, ...at }))
        if (inbox.hasNextStep()) continue
        return completed()
      default:
        return never(outcome.finish)
    }
  }
}

const blocked = (reason: string | undefined): Ending => ({
  reason: { kind: 'blocked', ...(reason !== undefined && { reason }) },
  parked: reason ?? 'blocked by a hook',
})

function failed(world: TurnWorld, instance: Instance, at: StepAt, thrown: unknown): Ending {
  const { agent } = instance
  if (at.signal.aborted) {
    const cause = causeOf(at.signal)
    const reason: TurnEndReason = { kind: 'aborted', reason: cause }
    // A host that shuts down is no reason to hold a prompt back: it runs when the session is driven again.
    return cause.kind === 'disposed' ? { reason } : { reason, parked: 'cancelled' }
  }
  const error = errorOf(thrown)
  world.hooks.emit('agent/error', agent, { agent, turn: at.turn, step: at.step, error })
  return { reason: { kind: 'error', error }, parked: error.message }
}

function errorOf(thrown: unknown): TurnError {
  if (thrown instanceof StepFailure || thrown instanceof ModelError) return turnError(thrown.failure)
  return { code: 'UNKNOWN', message: thrown instanceof Error ? thrown.message : String(thrown) }
}

/** Answers open calls, ends an open step and the open turn with `reason`; appends nothing when no turn is open. */
function closeOpenTail(world: TurnWorld, { agent }: Instance, reason: TurnEndReason | 'interrupted'): void {
  const { log } = agent
  if (log.state(turnBoundary).openTurnStartSeq === null) return
  const drafts = closers(log.events, { reason: 'interrupted', newId: world.id ?? newId })
  if (reason === 'interrupted') return void log.append(...drafts)
  log.append(
    ...drafts.map((each) => (each.type === 'turn/end' ? draft('turn/end', { turn: each.data.turn, reason }) : each)),
  )
}
