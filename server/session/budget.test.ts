import { expect, test } from 'vitest'
import { draft, type Draft, type LogEvent } from '../wire/events.ts'
import type { SpentRow } from '../log/index/usage.ts'
import { header } from '../log/samples.ts'
import { SessionLog } from '../log/session-log.ts'
import { sessionState } from '../projection/session-state.ts'
import { budgetRefusal, overBudget } from './budget.ts'
import { Spend } from './spend.ts'

const at = { turn: 1, step: 1 }
const paid = (dollars: number): Draft =>
  draft('assistant/message', {
    ...at,
    message: { id: 'a', role: 'assistant', content: [], source: { kind: 'model', provider: 'p', model: 'm' } },
    stream: [],
    usage: { inputTokens: 1e6, outputTokens: 0 },
    price: { in: dollars, out: 0 },
  })
const unpriced: Draft = draft('assistant/attempt', { ...at, stream: [] })
const own = (limit: number | null): Draft => draft('session/budget', { limit })
const stateOf = (...drafts: Draft[]) => {
  const log = SessionLog.memory(header())
  log.append(...drafts)
  return log.state(sessionState)
}
const numbered = (first: number, time: number, ...drafts: Draft[]): LogEvent[] =>
  drafts.map((each, n) => ({ ...each, seq: first + n, time }))

test('a limit that is reached refuses; the own one of the session wins, and null gives back', () => {
  const none = overBudget(stateOf(paid(5)), {}, undefined)
  expect(none).toBeUndefined()
  expect(overBudget(stateOf(paid(5)), { session: 5.01 }, undefined)).toBeUndefined()
  expect(overBudget(stateOf(paid(5)), { session: 5 }, undefined)?.code).toBe('BUDGET_EXCEEDED')
  expect(overBudget(stateOf(paid(5), own(6)), { session: 1 }, undefined)).toBeUndefined()
  expect(overBudget(stateOf(paid(5), own(2)), { session: 9 }, undefined)).toBeDefined()
  expect(overBudget(stateOf(paid(5), own(6), own(null)), { session: 1 }, undefined)).toBeDefined()
  // Even a session with room of its own stops for the day.
  expect(overBudget(stateOf(own(100)), { day: 1 }, { cost: 1, unpriced: 0 })).toBeDefined()
  expect(overBudget(stateOf(), { day: 1 }, { cost: 0.99, unpriced: 50 })).toBeUndefined()
})

test('the sentence names the sums, what is not counted, and the next step', () => {
  expect(overBudget(stateOf(paid(0.004), unpriced, unpriced), { session: 0.003 }, undefined)?.message).toBe(
    'This session has spent about $0.004000 (estimated from list prices) of a limit of $0.003000. 2 more requests have no known cost and are not counted. To go on, raise the limit of this session or the one in Settings > Sessions, then send again.',
  )
  expect(overBudget(stateOf(), { day: 20 }, { cost: 21.5, unpriced: 1 })?.message).toBe(
    'All sessions together have spent about $21.50 (estimated from list prices) of a limit of $20.00 for today. One more request has no known cost and is not counted. To go on, raise the limit in Settings > Sessions, then send again; tomorrow it starts anew.',
  )
})

test("what a fork inherited was its parent's money", () => {
  const state = stateOf(paid(5), draft('session/end-seed', { inherited: true }), paid(1))
  expect(overBudget(state, { session: 2 }, undefined)).toBeUndefined()
})

test('the day is asked for only where it has a limit', async () => {
  const log = SessionLog.memory(header())
  let asked = 0
  const spend = { today: async () => ({ cost: ++asked, unpriced: 0 }) }
  expect(await budgetRefusal(log, { budget: () => ({ session: 5 }), spend })).toBeUndefined()
  expect(asked).toBe(0)
  expect(await budgetRefusal(log, { budget: () => ({ day: 1 }), spend })).toBeDefined()
})

const NOON = new Date(2026, 4, 5, 12).getTime()

test('the sum of the day: what the index has and what it has not seen yet, each once', async () => {
  let now = NOON
  let rows: SpentRow[] = [{ session: 'a', seq: 10, cost: 2, unpriced: 1 }]
  const since: number[] = []
  const spend = new Spend({ now: () => now, spent: async (from) => (since.push(from), rows) })
  spend.committed('a', numbered(9, NOON - 1000, paid(1), paid(1), paid(4)))
  spend.committed('b', numbered(3, NOON, draft('turn/start', { turn: 1 }), unpriced))
  expect(await spend.today()).toEqual({ cost: 6, unpriced: 2 })
  spend.committed('b', numbered(5, NOON, paid(8)))
  expect(await spend.today()).toEqual({ cost: 14, unpriced: 2 })
  expect(since).toEqual([new Date(2026, 4, 5).getTime()])
  // Half a minute later the index has all of it, and what another host spent.
  now += 30_000
  rows = [
    { session: 'a', seq: 11, cost: 6, unpriced: 1 },
    { session: 'b', seq: 5, cost: 8, unpriced: 1 },
    { session: 'elsewhere', seq: 1, cost: 100, unpriced: 0 },
  ]
  expect(await spend.today()).toEqual({ cost: 114, unpriced: 2 })
  expect(since).toHaveLength(2)
})

test('at midnight the sum starts anew', async () => {
  let now = new Date(2026, 4, 5, 23, 59).getTime()
  const rows: { [day: number]: SpentRow[] } = {
    [new Date(2026, 4, 5).getTime()]: [{ session: 'a', seq: 1, cost: 7, unpriced: 0 }],
  }
  const spend = new Spend({ now: () => now, spent: async (since) => rows[since] ?? [] })
  spend.committed('b', numbered(1, now, paid(1)))
  expect((await spend.today()).cost).toBe(8)
  now = new Date(2026, 4, 6, 0, 1).getTime()
  expect((await spend.today()).cost).toBe(0)
  spend.committed('b', numbered(2, now, paid(2)))
  expect((await spend.today()).cost).toBe(2)
})

test('an index that cannot be read is told of, and what is known counts', async () => {
  const warnings: string[] = []
  const spent = () => Promise.reject(new Error('disk gone'))
  const spend = new Spend({ now: () => NOON, spent, warn: (message) => warnings.push(message) })
  spend.committed('a', numbered(1, NOON, paid(3)))
  expect(await spend.today()).toEqual({ cost: 3, unpriced: 0 })
  expect(warnings).toEqual(['what was spent today could not be read: disk gone'])
})
