import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import type { BuiltRequest, Failure, FailureCode, PreparedCall, RetryPolicy, StreamEvent } from './port.ts'
import {
  ALWAYS_RETRY,
  delayFor,
  NO_RETRY,
  NORMAL_RETRY,
  Retries,
  streamWithRetry,
  waitFor,
  type Timers,
} from './retry.ts'

const failure = (code: FailureCode, providerRetryAfterMs?: number): Failure => ({
  code,
  message: code,
  ...(providerRetryAfterMs !== undefined && { providerRetryAfterMs }),
})
const middle = () => 0.5

test('normal: five retries, 500 ms doubling to 10 s, ten per cent either way', () => {
  const delays = [1, 2, 3, 4, 5, 6].map((attempt) => delayFor(NORMAL_RETRY, attempt, failure('SERVER'), middle))
  expect(delays).toEqual([500, 1000, 2000, 4000, 8000, null])
  expect(delayFor(NORMAL_RETRY, 1, failure('SERVER'), () => 0)).toBe(450)
  expect(delayFor(NORMAL_RETRY, 1, failure('SERVER'), () => 1)).toBe(550)
  expect(delayFor({ ...NORMAL_RETRY, retries: 9 }, 9, failure('SERVER'), middle)).toBe(10_000)
})

test('codes that a retry cannot cure end at once', () => {
  for (const code of ['ABORTED', 'AUTH', 'QUOTA', 'INVALID_REQUEST', 'CONTEXT_WINDOW_EXCEEDED', 'UNKNOWN'] as const)
    for (const policy of [NORMAL_RETRY, ALWAYS_RETRY]) expect(delayFor(policy, 1, failure(code), middle)).toBeNull()
})

test('a wait that the provider asks for replaces ours; above the cap normal gives up and always waits', () => {
  expect(delayFor(NORMAL_RETRY, 1, failure('RATE_LIMIT', 3000), middle)).toBe(3000)
  expect(delayFor(NORMAL_RETRY, 1, failure('RATE_LIMIT', 60_000), middle)).toBeNull()
  expect(delayFor(ALWAYS_RETRY, 1, failure('RATE_LIMIT', 90_000), middle)).toBe(90_000)
})

test('an unreadable answer is retried once; always has a ceiling per session', () => {
  const retries = new Retries(NORMAL_RETRY, middle)
  expect(retries.next(failure('RATE_LIMIT'))).toBe(500)
  expect(retries.next(failure('MALFORMED_RESPONSE'))).toBe(1000)
  expect(retries.next(failure('MALFORMED_RESPONSE'))).toBeNull()
  const ceiling = new Retries({ ...ALWAYS_RETRY, retries: 3 }, middle, 2)
  expect(ceiling.next(failure('SERVER'))).toBe(2000)
  expect(ceiling.next(failure('SERVER'))).toBeNull()
})

test('B64 the wait is abortable and leaves no timer behind', async () => {
  const cleared: unknown[] = []
  const timers: Timers = { set: () => 'timer', clear: (timer) => cleared.push(timer) }
  const controller = new AbortController()
  const waiting = waitFor(60_000, controller.signal, timers)
  controller.abort()
  expect(await waiting).toBe('aborted')
  expect(cleared).toEqual(['timer'])
  expect(await waitFor(1, AbortSignal.abort(), timers)).toBe('aborted')
})

const request: BuiltRequest = {
  system: '',
  messages: [],
  tools: [],
  signal: new AbortController().signal,
  sessionId: 's',
  lane: 'main/title',
  turn: 0,
  step: 0,
  attempt: 1,
}
const events = (list: StreamEvent[]): PreparedCall => ({
  header: { config: { provider: 'p', model: 'm' } },
  facts: { id: 'm', name: 'm', inputs: ['text'], reasoning: false, efforts: [], listed: false },
  retry: NORMAL_RETRY,
  stream: async function* () {
    yield* list
  },
})

test('a one-shot call runs under the policy: prepared anew for each attempt, partial text discarded', async () => {
  const waits: number[] = []
  const timers: Timers = {
    set: (callback, ms) => {
      waits.push(ms)
      queueMicrotask(callback)
    },
    clear: () => undefined,
  }
  const failed: StreamEvent[] = [
    { t: 'open', i: 0, kind: 'text' },
    { t: 'delta', i: 0, s: 'half' },
    { t: 'end', finish: { kind: 'error', failure: failure('TRANSPORT') } },
  ]
  const good: StreamEvent[] = [
    { t: 'open', i: 0, kind: 'text' },
    { t: 'delta', i: 0, s: 'whole' },
    { t: 'end', finish: { kind: 'stop' } },
  ]
  const calls = [events(failed), events(failed), events(good)]
  let prepared = 0
  const result = await streamWithRetry(async () => calls[prepared++]!, request, { random: middle, timers })
  expect(result.blocks).toEqual([{ type: 'text', text: 'whole' }])
  expect(waits).toEqual([500, 1000])
  expect(prepared).toBe(3)
})

test('the policies as a route has them without a word of the settings', () => {
  expect(NORMAL_RETRY).toEqual({ mode: 'normal', retries: 5, baseMs: 500, capMs: 10_000, jitter: 0.1 })
  expect(ALWAYS_RETRY).toEqual({ mode: 'always', retries: 500, baseMs: 500, capMs: 60_000, jitter: 0.1 })
  expect(NO_RETRY).toMatchObject({ mode: 'off', retries: 0 })
})

const CURABLE = [
  'EMPTY_RESPONSE',
  'RATE_LIMIT',
  'SERVER',
  'TIMEOUT',
  'TRANSPORT',
  'STREAM_CLOSED',
  'MALFORMED_RESPONSE',
] as const satisfies FailureCode[]
const HOPELESS = [
  'ABORTED',
  'AUTH',
  'UNKNOWN_MODEL',
  'HTTP_418',
  'QUOTA',
  'CONTEXT_WINDOW_EXCEEDED',
  'INVALID_REQUEST',
  'MISSING_CREDENTIAL',
  'INVALID_CREDENTIAL',
  'UNSUPPORTED_CONTENT',
  'UNSUPPORTED_REASONING_EFFORT',
  'NO_ADAPTER',
  'CONTENT_FILTER',
  'BUDGET_EXCEEDED',
  'UNKNOWN',
] as const satisfies FailureCode[]

test.each([...CURABLE])('%s is tried again, unless the route never does', (code) => {
  for (const policy of [NORMAL_RETRY, ALWAYS_RETRY]) expect(delayFor(policy, 1, failure(code), middle)).toBe(500)
  expect(delayFor(NO_RETRY, 1, failure(code), middle)).toBeNull()
  expect(delayFor({ ...NO_RETRY, retries: 9 }, 1, failure(code, 10), middle)).toBeNull()
  expect(new Retries(NO_RETRY, middle).next(failure(code))).toBeNull()
})

test.each([...HOPELESS])('%s is never tried again', (code) => {
  for (const policy of [NORMAL_RETRY, ALWAYS_RETRY]) {
    expect(delayFor(policy, 1, failure(code), middle)).toBeNull()
    expect(delayFor(policy, 1, failure(code, 5), middle)).toBeNull()
    expect(new Retries(policy, middle).next(failure(code))).toBeNull()
  }
})

test('a certificate that does not hold is not tried again; every other failure of the network is', () => {
  for (const policy of [NORMAL_RETRY, ALWAYS_RETRY]) {
    expect(delayFor(policy, 1, { ...failure('TRANSPORT'), transport: 'tls' }, middle)).toBeNull()
    for (const transport of ['dns', 'refused', 'reset', 'unreachable', 'connect-timeout'] as const)
      expect(delayFor(policy, 1, { ...failure('TRANSPORT'), transport }, middle)).toBe(500)
  }
})

test('a wait of exactly the cap is still waited for; none at all is no wait of ours', () => {
  expect(delayFor(NORMAL_RETRY, 1, failure('RATE_LIMIT', 10_000), middle)).toBe(10_000)
  expect(delayFor(NORMAL_RETRY, 1, failure('RATE_LIMIT', 10_001), middle)).toBeNull()
  expect(delayFor(NORMAL_RETRY, 3, failure('RATE_LIMIT', 0), middle)).toBe(0)
  expect(delayFor(NORMAL_RETRY, 6, failure('RATE_LIMIT', 5), middle)).toBeNull()
})

test('always tries an unreadable answer again and again, and its waits grow to a minute', () => {
  const retries = new Retries(ALWAYS_RETRY, middle)
  const waits = Array.from({ length: 9 }, () => retries.next(failure('MALFORMED_RESPONSE')))
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  // What a session spent before counts for `always` only: each step of `normal` has its own five.
  expect(new Retries(NORMAL_RETRY, middle, 400).next(failure('SERVER'))).toBe(500)
  expect(new Retries(ALWAYS_RETRY, middle, 499).next(failure('SERVER'))).toBe(60_000)
  expect(new Retries(ALWAYS_RETRY, middle, 500).next(failure('SERVER'))).toBeNull()
})

const policies = fc.record({
  mode: fc.constantFrom<RetryPolicy['mode']>('normal', 'always', 'off'),
  retries: fc.nat(20),
  baseMs: fc.integer({ min: 1, max: 5000 }),
  capMs: fc.integer({ min: 1, max: 100_000 }),
  jitter: fc.double({ min: 0, max: 0.5, noNaN: true }),
})
const failures = fc.record(
  {
    code: fc.constantFrom<FailureCode>(...CURABLE, ...HOPELESS),
    message: fc.constant('x'),
    providerRetryAfterMs: fc.nat(200_000),
  },
  { requiredKeys: ['code', 'message'] },
)

test('property: a wait is the provider’s, or ours within cap and jitter; never after the last retry', () => {
  fc.assert(
    fc.property(
      policies,
      fc.integer({ min: 1, max: 2000 }),
      failures,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (policy, attempt, failed, random) => {
        const delay = delayFor(policy, attempt, failed, () => random)
        const hopeless =
          policy.mode === 'off' || (HOPELESS as readonly string[]).includes(failed.code) || attempt > policy.retries
        const asked = failed.providerRetryAfterMs
        if (hopeless || (asked !== undefined && policy.mode === 'normal' && asked > policy.capMs)) return delay === null
        if (asked !== undefined) return delay === asked
        const low = Math.min(policy.capMs, policy.baseMs) * (1 - policy.jitter)
        return delay !== null && delay >= Math.floor(low) && delay <= Math.ceil(policy.capMs * (1 + policy.jitter))
      },
    ),
    { numRuns: 500 },
  )
})

test('property: one step retries as often as its policy says at most, and without jitter never waits less than before', () => {
  fc.assert(
    fc.property(policies, fc.array(failures, { maxLength: 40 }), (policy, list) => {
      const retries = new Retries({ ...policy, jitter: 0 }, () => 0.5)
      const waits = list.map(({ code, message }) => retries.next({ code, message })).filter((wait) => wait !== null)
      expect(waits.length).toBeLessThanOrEqual(policy.mode === 'off' ? 0 : policy.retries)
      expect(waits).toEqual(waits.toSorted((a, b) => a - b))
    }),
    { numRuns: 300 },
  )
})

test('the wait ends by itself, and leaves no listener on a signal that lives on', async () => {
  const { signal } = new AbortController()
  const remove = vi.spyOn(signal, 'removeEventListener')
  expect(await waitFor(1, signal)).toBe('elapsed')
  expect(remove).toHaveBeenCalledTimes(1)
})

const failing: StreamEvent[] = [{ t: 'end', finish: { kind: 'error', failure: failure('SERVER') } }]

test('a one-shot call numbers its attempts, gives up with the last failure, and ends at a stop', async () => {
  const attempts: number[] = []
  const call: PreparedCall = {
    ...events(failing),
    retry: { ...NORMAL_RETRY, retries: 2 },
    stream: async function* (asked) {
      attempts.push(asked.attempt)
      yield* failing
    },
  }
  const timers: Timers = { set: (callback) => queueMicrotask(callback), clear: () => undefined }
  const given = await streamWithRetry(async () => call, { ...request, attempt: 7 }, { timers, random: middle })
  expect(given.finish).toMatchObject({ kind: 'error', failure: { code: 'SERVER' } })
  expect(attempts).toEqual([1, 2, 3])
  const stop = new AbortController()
  const stopping: Timers = { set: () => queueMicrotask(() => stop.abort()), clear: () => undefined }
  let prepared = 0
  const prepare = async () => {
    prepared++
    return call
  }
  await streamWithRetry(prepare, { ...request, signal: stop.signal }, { timers: stopping, random: middle })
  expect(prepared).toBe(1)
})

test('an answer that was stopped is not tried again', async () => {
  const aborted: StreamEvent[] = [{ t: 'end', finish: { kind: 'aborted', failure: failure('SERVER') } }]
  let prepared = 0
  const result = await streamWithRetry(async () => {
    prepared++
    return events(aborted)
  }, request)
  expect([prepared, result.finish.kind]).toEqual([1, 'aborted'])
})
