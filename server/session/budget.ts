import type { EventLog } from '../log/port.ts'
import { ModelError, type Failure } from '../model/port.ts'
import { sessionState, type SessionState } from '../projection/session-state.ts'
import type { Hooks, TurnAgent } from '../turn/hooks.ts'
import type { Budget } from '../wire/models.ts'
import type { Spend, Spent } from './spend.ts'

export interface BudgetOptions {
  /** The host's limits, asked at every request. */
  budget: () => Budget
  spend: Pick<Spend, 'today'>
}

/**
 * Why no further request may be paid for; undefined: it may. The session's own limit wins over the host's for each session.
 * `today` is needed only where there is a limit for the day.
 */
export function overBudget(state: SessionState, budget: Budget, today: Spent | undefined): Failure | undefined {
  const limit = state.budget?.limit ?? budget.session
  const { own } = state.usage
  if (limit !== undefined && own.cost >= limit)
    return refusal(`This session has spent ${about(own, limit)}`, own, SESSION)
  if (budget.day !== undefined && today && today.cost >= budget.day)
    return refusal(`All sessions together have spent ${about(today, budget.day)} for today`, today, DAY)
  return undefined
}

const SESSION = 'To go on, raise the limit of this session or the one in Settings > Sessions, then send again.'
const DAY = 'To go on, raise the limit in Settings > Sessions, then send again; tomorrow it starts anew.'

/** The day's sum is read only when there is a limit for it. */
export async function budgetRefusal(
  log: Pick<EventLog, 'state'>,
  { budget, spend }: BudgetOptions,
): Promise<Failure | undefined> {
  const limits = budget()
  const today = limits.day === undefined ? undefined : await spend.today()
  return overBudget(log.state(sessionState), limits, today)
}

/**
 * Stops before a request, never within one: what is under way ends, so a limit is overrun by one request of each session that
 * runs. Each attempt is asked for, a retry too. The disposer removes the listener.
 */
export function installBudget(hooks: Hooks, agent: TurnAgent, options: BudgetOptions): () => void {
  return hooks.on(
    agent.scope,
    'agent/request',
    async (_event, next) => {
      const failure = await budgetRefusal(agent.log, options)
      if (failure) throw new ModelError(failure)
      return next()
    },
    { prepend: true },
  )
}

const refusal = (what: string, spent: Spent, next: string): Failure => ({
  code: 'BUDGET_EXCEEDED',
  message: [`${what}.`, ...uncounted(spent), next].join(' '),
})

const about = ({ cost }: Spent, limit: number): string =>
  `about ${dollars(cost)} (estimated from list prices) of a limit of ${dollars(limit)}`

function uncounted({ unpriced }: Spent): string[] {
  if (unpriced === 0) return []
  if (unpriced === 1) return ['One more request has no known cost and is not counted.']
  return [`${unpriced} more requests have no known cost and are not counted.`]
}

/** Cents, and more places for sums that cents would show as nothing. */
const dollars = (sum: number): string => `$${sum.toFixed(sum > 0 && sum < 0.01 ? 6 : 2)}`
