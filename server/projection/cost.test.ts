import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { draft, type Draft, type Header, type LogEvent, type TurnError } from '../wire/events.ts'
import type { Usage } from '../wire/messages.ts'
import type { Price } from '../wire/models.ts'
import { costOf, savedBy } from './cost.ts'
import { fold } from './projection.ts'
import { sessionState } from './session-state.ts'
import { usage } from './usage.ts'
import { usageCall } from './usage-call.ts'

const tokens = fc.nat(2_000_000)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const pruned = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T
const counts = fc
  .record({
    inputTokens: maybe(tokens),
    cacheReadTokens: maybe(tokens),
    cacheWriteTokens: maybe(tokens),
    outputTokens: maybe(tokens),
    reasoningTokens: maybe(tokens),
  })
  .map((value) => pruned(value) as Usage)
const dollars = fc.double({ min: 0, max: 200, noNaN: true })
const price: fc.Arbitrary<Price> = fc
  .record({ in: dollars, out: dollars, cacheRead: maybe(dollars), cacheWrite: maybe(dollars) })
  .map((value) => pruned(value) as Price)

describe('cost', () => {
  test('is the list price of each kind of token; caches without a price of their own cost what input does', () => {
    const million = {
      inputTokens: 1e6,
      cacheReadTokens: 1e6,
      cacheWriteTokens: 1e6,
      outputTokens: 1e6,
      reasoningTokens: 1e6,
    }
    const full = { in: 3, cacheRead: 0.3, cacheWrite: 3.75, out: 15 }
    expect(costOf(million, full)).toEqual({ input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15, total: 22.05 })
    expect(costOf(million, { in: 3, out: 15 })).toMatchObject({ cacheRead: 3, cacheWrite: 3, total: 24 })
    expect(savedBy(million, full)).toBeCloseTo(2.7, 12)
    expect([savedBy(million, { in: 3, out: 1 }), savedBy(million, { in: 1, cacheRead: 2, out: 1 })]).toEqual([0, 0])
  })

  test('is unknown without a price, and without any count of input or output', () => {
    expect(costOf({ inputTokens: 1 }, undefined)).toBeNull()
    expect(costOf(undefined, { in: 1, out: 1 })).toBeNull()
    expect(costOf({ reasoningTokens: 5 }, { in: 1, out: 1 })).toBeNull()
    expect(costOf({ outputTokens: 0 }, { in: 1, out: 1 })).toEqual({
      input: 0,
      cacheRead: 0,
      cacheWrite: 0,
      output: 0,
      total: 0,
    })
  })

  test('two parts of a call cost what the call does, and nothing is ever negative', () => {
    fc.assert(
      fc.property(counts, price, fc.double({ min: 0, max: 1, noNaN: true }), (all, at, share) => {
        const whole = costOf(all, at)
        const part = (of: (count: number) => number): Usage =>
          Object.fromEntries(Object.entries(all).map(([name, count]) => [name, of(count as number)]))
        const one = costOf(
          part((count) => Math.floor(count * share)),
          at,
        )
        const two = costOf(
          part((count) => count - Math.floor(count * share)),
          at,
        )
        expect([one === null, two === null]).toEqual([whole === null, whole === null])
        expect(savedBy(all, at)).toBeGreaterThanOrEqual(0)
        if (!whole || !one || !two) return
        for (const name of ['input', 'cacheRead', 'cacheWrite', 'output', 'total'] as const) {
          expect(whole[name]).toBeGreaterThanOrEqual(0)
          expect(Math.abs(one[name] + two[name] - whole[name])).toBeLessThanOrEqual(1e-9 * (1 + whole[name]))
        }
      }),
    )
  })
})

const HEADER: Header = { type: 'session', version: 1, id: 's', createdAt: 1, isSeeded: false, writer: 'test' }
const at = { turn: 1, step: 1 }
const numbered = (drafts: readonly Draft[]): LogEvent[] => drafts.map((each, seq) => ({ ...each, seq, time: seq }))

const model = fc.constantFrom('a', 'b', 'c')
const provider = fc.constantFrom('p', 'q')
const failure = fc.constantFrom<TurnError>(
  { code: 'RATE_LIMIT', message: 'slow down', status: 429 },
  { code: 'TRANSPORT', message: 'no such host', transport: 'dns' },
  { code: 'TRANSPORT', message: 'cut', transport: 'reset' },
)
const answer = fc.record({ provider, model, usage: maybe(counts), price: maybe(price) }).map((call): Draft =>
  draft('assistant/message', {
    ...at,
    message: {
      id: 'm',
      role: 'assistant',
      content: [],
      source: { kind: 'model', provider: call.provider, model: call.model },
    },
    stream: [],
    ...pruned({ usage: call.usage, price: call.price }),
  }),
)
const attempt = fc
  .record({ provider: maybe(provider), model: maybe(model), usage: maybe(counts), price: maybe(price), error: failure })
  .map((call): Draft => draft('assistant/attempt', { ...at, stream: [], ...pruned(call) }))
const titled = fc
  .record({ provider, model, usage: maybe(counts), price: maybe(price), error: maybe(failure) })
  .map((call): Draft => draft('session/title-llm-request', { ms: 1, ...pruned(call) }))
const header = fc
  .record({ provider, model })
  .map((config): Draft => draft('request/header', { header: { config }, compositionDigest: 'd', reason: 'change' }))
const other = fc.constantFrom<Draft>(
  draft('turn/start', { turn: 1 }),
  draft('session/end-seed', { inherited: true }),
  draft('session/end-seed', {}),
)
const log = fc.array(fc.oneof({ weight: 4, arbitrary: answer }, attempt, titled, header, other), { maxLength: 40 })

describe('usage', () => {
  test('sums of a log equal a plain recount: whole, own and by model, title calls and failures among them', () => {
    fc.assert(
      fc.property(log, (drafts) => {
        const events = numbered(drafts)
        const state = fold(usage, HEADER, events)
        let route: { provider: string; model: string } | null = null
        let begin = 0
        const calls = events.flatMap((event, index) => {
          if (event.type === 'request/header') route = event.data.header.config
          if (event.type === 'session/end-seed' && event.data.inherited) begin = index
          const call = usageCall(event, route)
          return call ? [{ ...call, index }] : []
        })
        const recount = (chosen: typeof calls) => {
          const total = (name: keyof Usage) => {
            const known = chosen.flatMap(({ usage: one }) => (one?.[name] === undefined ? [] : [one[name] as number]))
            return known.length === 0 ? undefined : known.reduce((a, b) => a + b, 0)
          }
          return pruned({
            calls: chosen.length,
            failed: chosen.filter(({ failed }) => failed).length,
            unpriced: chosen.filter(({ cost }) => cost === null).length,
            cost: chosen.reduce((sum, { cost }) => sum + (cost?.total ?? 0), 0),
            inputTokens: total('inputTokens'),
            cacheReadTokens: total('cacheReadTokens'),
            cacheWriteTokens: total('cacheWriteTokens'),
            outputTokens: total('outputTokens'),
            reasoningTokens: total('reasoningTokens'),
          })
        }
        expect(state.total).toEqual(recount(calls))
        expect(state.own).toEqual(recount(calls.filter(({ index }) => index >= begin)))
        const models = new Set(calls.map((call) => `${call.provider}/${call.model}`))
        expect(state.byModel.map((row) => `${row.provider}/${row.model}`)).toEqual([...models])
        for (const { provider: p, model: m, ...sums } of state.byModel)
          expect(sums).toEqual(recount(calls.filter((call) => call.provider === p && call.model === m)))
        expect(fold(sessionState, HEADER, events).usage).toEqual(state)
      }),
      { numRuns: 300 },
    )
  })

  test('what was refused before anything came costs nothing; what broke off is unknown', () => {
    const cost = (error: TurnError, more = {}) =>
      usageCall(numbered([draft('assistant/attempt', { ...at, stream: [], error, ...more })])[0]!, null)!.cost?.total
    expect(cost({ code: 'RATE_LIMIT', message: '', status: 429 })).toBe(0)
    expect(cost({ code: 'TRANSPORT', message: '', transport: 'refused' })).toBe(0)
    expect(cost({ code: 'TRANSPORT', message: '', transport: 'reset' })).toBeUndefined()
    expect(cost({ code: 'TIMEOUT', message: '' })).toBeUndefined()
    const stream = [{ i: 0, k: 'text' as const, at: 0, l: [1], d: [], s: 'x' }]
    expect(cost({ code: 'SERVER', message: '', status: 500 }, { stream })).toBeUndefined()
    expect(
      cost({ code: 'SERVER', message: '', status: 500 }, { usage: { inputTokens: 1e6 }, price: { in: 2, out: 1 } }),
    ).toBe(2)
  })

  test('an attempt of an older log went the way of the latest header', () => {
    const old = [
      draft('request/header', {
        header: { config: { provider: 'p', model: 'm' } },
        compositionDigest: 'd',
        reason: 'initial',
      }),
      draft('assistant/attempt', { ...at, stream: [] }),
    ]
    expect(fold(usage, HEADER, numbered(old)).byModel).toMatchObject([
      { provider: 'p', model: 'm', calls: 1, failed: 1 },
    ])
  })

  test('title calls leave the latest answered call as it is', () => {
    const drafts = [
      draft('assistant/message', {
        ...at,
        message: { id: 'm', role: 'assistant', content: [], source: { kind: 'model', provider: 'p', model: 'm' } },
        stream: [],
        usage: { inputTokens: 7 },
      }),
      draft('session/title-llm-request', { provider: 'p', model: 't', ms: 1, usage: { inputTokens: 9 } }),
    ]
    expect(fold(usage, HEADER, numbered(drafts))).toMatchObject({
      last: { inputTokens: 7 },
      total: { inputTokens: 16 },
    })
  })
})
