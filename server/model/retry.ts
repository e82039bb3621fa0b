import { Assembler, type Assembled, type AssemblerOptions } from './assembler.ts'
import type { BuiltRequest, Failure, FailureCode, PreparedCall, RetryPolicy } from './port.ts'

export const NORMAL_RETRY: RetryPolicy = { mode: 'normal', retries: 5, baseMs: 500, capMs: 10_000, jitter: 0.1 }
/** `retries` is the ceiling per session here: a rollout may not burn money unseen. */
export const ALWAYS_RETRY: RetryPolicy = { mode: 'always', retries: 500, baseMs: 500, capMs: 60_000, jitter: 0.1 }
export const NO_RETRY: RetryPolicy = { ...NORMAL_RETRY, mode: 'off', retries: 0 }

const RETRYABLE: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'EMPTY_RESPONSE',
  'RATE_LIMIT',
  'SERVER',
  'TIMEOUT',
  'TRANSPORT',
  'STREAM_CLOSED',
  'MALFORMED_RESPONSE',
])

/**
 * Milliseconds to wait before the next attempt, or null to give up. `attempt` is the number of the attempt that
 * failed, from 1. A wait that the provider asked for replaces ours; above the cap a `normal` policy gives up.
 */
export function delayFor(
  policy: RetryPolicy,
  attempt: number,
  failure: Failure,
  random: () => number = Math.random,
): number | null {
  if (policy.mode === 'off' || !RETRYABLE.has(failure.code)) return null
  // A certificate that does not hold will not hold in ten seconds either.
  if (failure.transport === 'tls') return null
  if (attempt > policy.retries) return null
  const asked = failure.providerRetryAfterMs
  if (asked !== undefined) return asked > policy.capMs && policy.mode === 'normal' ? null : asked
  const backoff = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(attempt - 1, 30))
  return Math.round(backoff * (1 + policy.jitter * (2 * random() - 1)))
}

/** Counts the retries of one step: five in all, but one only for an unreadable answer under `normal`. */
export class Retries {
  readonly #policy: RetryPolicy
  readonly #random: () => number
  #failed = 0
  #malformed = 0

  /** `spent` are the retries this session made before (they count against the ceiling of an `always` policy). */
  constructor(policy: RetryPolicy, random: () => number = Math.random, spent = 0) {
    this.#policy = policy
    this.#random = random
    this.#failed = policy.mode === 'always' ? spent : 0
  }

  /** Milliseconds before the next attempt, or null to give up. */
  next(failure: Failure): number | null {
    this.#failed++
    if (failure.code === 'MALFORMED_RESPONSE') this.#malformed++
    if (this.#policy.mode === 'normal' && this.#malformed > 1) return null
    return delayFor(this.#policy, this.#failed, failure, this.#random)
  }
}

export interface Timers {
  set(callback: () => void, ms: number): unknown
  clear(timer: unknown): void
}
const realTimers: Timers = { set: setTimeout, clear: (timer) => clearTimeout(timer as NodeJS.Timeout) }

/** Waits `ms`; the abort ends it at once. */
export function waitFor(ms: number, signal: AbortSignal, timers: Timers = realTimers): Promise<'elapsed' | 'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted')
  return new Promise((resolve) => {
    const abort = () => {
      timers.clear(timer)
      resolve('aborted')
    }
    const timer = timers.set(() => {
      signal.removeEventListener('abort', abort)
      resolve('elapsed')
    }, ms)
    signal.addEventListener('abort', abort, { once: true })
  })
}

/** Reads one call to its end. */
export async function assemble(
  call: PreparedCall,
  request: BuiltRequest,
  options?: AssemblerOptions,
): Promise<Assembled> {
  const assembler = new Assembler(options)
  for await (const event of call.stream(request)) assembler.push(event)
  return assembler.result()
}

/**
 * Direct one-shot calls (titles, compaction) under the route's policy. `prepare` runs again for each attempt; what it
 * throws (no credential, no adapter) reaches the caller.
 */
export async function streamWithRetry(
  prepare: () => Promise<PreparedCall>,
  request: BuiltRequest,
  options: { random?: () => number; timers?: Timers; assembler?: AssemblerOptions } = {},
): Promise<Assembled> {
  let call = await prepare()
  const retries = new Retries(call.retry, options.random)
  for (let attempt = 1; ; attempt++) {
    const result = await assemble(call, { ...request, attempt }, options.assembler)
    if (result.finish.kind !== 'error') return result
    const delay = retries.next(result.finish.failure)
    if (delay === null) return result
    if ((await waitFor(delay, request.signal, options.timers)) === 'aborted') return result
    call = await prepare()
  }
}
