import { expect, test } from 'vitest'
import type { BuiltRequest, Failure, FailureCode, PreparedCall, StreamEvent } from './port.ts'
import { ALWAYS_RETRY, delayFor, NORMAL_RETRY, Retries, streamWithRetry, waitFor, type Timers } from './retry.ts'

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
