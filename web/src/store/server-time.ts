/**
 * The server's clock as far as the page knows it. Every time that comes from the server lies in its past, so what a time seems
 * to be behind the browser's clock is never less than the clocks differ: the smallest such difference is the best one.
 */
export class ServerTime {
  readonly #now: () => number
  #behind = Infinity

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** `ms` since the epoch by the server's clock, of something that has just arrived or is older; NaN is passed over. */
  note(ms: number): void {
    if (!Number.isNaN(ms)) this.#behind = Math.min(this.#behind, this.#now() - ms)
  }

  /** By the server's clock. Differences that travel time and whole seconds explain are none. */
  now(): number {
    const far = Number.isFinite(this.#behind) && Math.abs(this.#behind) > SLACK_MS
    return this.#now() - (far ? this.#behind : 0)
  }
}

/** A Date header counts whole seconds, and a busy line takes its time. */
const SLACK_MS = 2_000

const time = new ServerTime()
export const noteServerTime = (ms: number): void => time.note(ms)
export const serverNow = (): number => time.now()
