import type { Kept } from './ring.ts'
import type { ControlDir } from './control.ts'
import type { PtyExit } from './pty.ts'
import { callLine, endLine, redirections, typedMark } from './line.ts'
import { interrupt } from './ladder.ts'
import { Transcript } from './transcript.ts'
import { isAtPrompt, isInCommand, TICK, Watchdog, type Finding } from './watchdog.ts'

export type InterruptReason = 'timeout' | 'cancelled' | 'needs-input'

export type Outcome =
  /** `exitCode` is missing when the record of it was lost; `degraded` says why the shell must not be used again. */
  | { kind: 'completed'; exitCode?: number; degraded?: string }
  | { kind: 'exited'; exit: PtyExit; degraded?: string }
  | { kind: 'interrupted'; reason: InterruptReason; stateKept: boolean }
  /** The command has certainly not run; a new shell may run it. */
  | { kind: 'not-started'; why: string }

export interface CallRequest {
  nonce: string
  command: string
  timeoutMs: number
  signal?: AbortSignal
  /** Status of the call before. */
  previous: number
  /** The set-up of a new shell runs with the terminal itself as its input and output. */
  bare?: boolean
  onOutput?(chunk: Buffer): void
}

/** What a call needs of its shell. */
export interface CallShell {
  pid(): number
  control: ControlDir
  stdin: 'null' | 'tty'
  write(text: string): void
  /** Bytes that belong to no call. */
  between(bytes: Buffer): void
  kill(): void
  /** A person answers what commands ask: then waiting is no reason to interrupt. */
  answering(): boolean
  /** Now and then while the call runs. */
  tick?(): void
}

/** A status record without a fence is believed after this time: the fence was printed to nowhere. */
const FENCE_LATE = 250
const HEAL_PAUSE = 40
const MOST_HEALS = 4
const KILL_WAIT = 1000

/** One typed line until its end: completed, exited, interrupted or never started. Settles in any case. */
export class Call {
  readonly #shell: CallShell
  readonly #request: CallRequest
  readonly #transcript: Transcript
  readonly #watchdog: Watchdog
  readonly #timers: NodeJS.Timeout[] = []
  readonly #settled = Promise.withResolvers<Outcome>()
  #onStart: (() => void) | undefined
  #done = false
  #ended = false
  #exit: PtyExit | undefined
  #interrupted: InterruptReason | undefined
  #lastByte = performance.now()
  #statusSince: number | undefined
  #forgeries = 0
  #heals = 0

  constructor(shell: CallShell, request: CallRequest) {
    this.#shell = shell
    this.#request = request
    this.#watchdog = new Watchdog(shell.pid(), shell.stdin)
    this.#transcript = new Transcript(request.nonce, {
      started: (before) => this.#before(before),
      ended: () => this.#fence(),
      output: (chunk) => request.onOutput?.(chunk),
    })
  }

  /** `started` is called once, when what the terminal says next is this call's. */
  run(started?: () => void): Promise<Outcome> {
    this.#onStart = started
    const { nonce, command, timeoutMs, signal, previous, bare } = this.#request
    const { control, stdin } = this.#shell
    if (!control.write(nonce, command))
      return Promise.resolve({ kind: 'not-started', why: 'its control directory could not be used' })
    this.#timers.push(
      setInterval(() => this.#tick(), TICK),
      setTimeout(() => this.#interrupt('timeout'), timeoutMs),
    )
    const abort = () => this.#interrupt('cancelled')
    signal?.addEventListener('abort', abort, { once: true })
    this.#shell.write(callLine(control, nonce, { previous, redirect: bare ? '' : redirections(stdin) }))
    if (signal?.aborted) abort()
    return this.#settled.promise.finally(() => signal?.removeEventListener('abort', abort))
  }

  kept(): Kept {
    return this.#transcript.kept()
  }

  data(chunk: Buffer): void {
    this.#lastByte = performance.now()
    const rest = this.#transcript.push(chunk)
    if (rest.length > 0) this.#shell.between(rest)
  }

  exited(exit: PtyExit): void {
    this.#exit = exit
    if (this.#interrupted) return
    if (this.#started()) return this.#settle({ kind: 'exited', exit })
    this.#settle({ kind: 'not-started', why: 'it had ended' })
  }

  #started(): boolean {
    return this.#transcript.startSeen || this.#shell.control.started(this.#request.nonce)
  }

  /** An echo of the typed line (`stty echo`, line editing) is the wrapper's, not a job's. */
  #before(before: Kept): void {
    const bytes = Buffer.concat([before.head, before.tail])
    if (bytes.length > 0 && !/7777|builtin/.test(bytes.toString('latin1'))) this.#shell.between(bytes)
    this.#onStart?.()
  }

  #fence(): boolean {
    const status = this.#shell.control.status(this.#request.nonce)
    if (status === 'absent') {
      this.#forgeries++
      return false
    }
    this.#ended = true
    if (status === 'gone') this.#settle({ kind: 'completed', degraded: 'its control directory was removed' })
    else this.#settle({ kind: 'completed', exitCode: status })
    return true
  }

  #tick(): void {
    if (this.#done || this.#interrupted) return
    const now = performance.now()
    const status = this.#shell.control.status(this.#request.nonce)
    if (typeof status === 'number') {
      this.#statusSince ??= now
      if (now - this.#statusSince < FENCE_LATE) return
      this.#settle({ kind: 'completed', exitCode: status, degraded: 'it could not print to its terminal' })
      return
    }
    const finding = this.#watchdog.look({ now, lastByte: this.#lastByte, started: this.#started() })
    this.#shell.tick?.()
    if (this.#shell.answering() && this.#isAsking(finding)) return
    if (finding === 'prompt') this.#heal()
    if (finding === 'not-started') this.#settle({ kind: 'not-started', why: 'it did not read the command' })
    if (finding === 'needs-input') this.#interrupt('needs-input')
  }

  /**
   * The shell is at its prompt and has thrown the rest of the line away (SIGINT to itself, `exec bash`), or a `read` builtin
   * waits for a person. Ctrl-C first: the builtin would take the typed line as its input.
   */
  #heal(): void {
    if (this.#forgeries > 0 && this.#heals > 0) {
      this.#settle({ kind: 'completed', degraded: 'it could not record an exit code' })
      return
    }
    if (this.#heals++ >= MOST_HEALS) {
      this.#shell.kill()
      this.#settle({ kind: 'exited', exit: {}, degraded: 'it no longer ran what was typed' })
      return
    }
    this.#shell.write('\x03')
    this.#timers.push(setTimeout(() => this.#typeEnd(), HEAL_PAUSE))
    this.#watchdog.forget()
  }

  /** A `read` of the command looks like the prompt from outside. */
  #isAsking(finding: Finding): boolean {
    return finding === 'needs-input' || (finding === 'prompt' && isInCommand(this.#shell.pid()))
  }

  /** What is typed now is read by the command, not by the shell. */
  takesInput(): boolean {
    if (this.#done || this.#interrupted || !this.#started()) return false
    const pid = this.#shell.pid()
    return !isAtPrompt(pid) || isInCommand(pid)
  }

  /** Somebody reads the terminal right now. */
  waits(): boolean {
    return this.takesInput() && this.#watchdog.waits()
  }

  /** False: it was not typed. */
  type(text: string): boolean {
    const { nonce } = this.#request
    if (!this.takesInput() || !this.#shell.control.mark(typedMark(nonce))) return false
    this.#watchdog.forget()
    this.#shell.write(text)
    return true
  }

  #typeEnd(): void {
    this.#shell.write(endLine(this.#shell.control, this.#request.nonce))
  }

  #interrupt(reason: InterruptReason): void {
    if (this.#done || this.#interrupted) return
    this.#interrupted = reason
    void this.#climb(reason)
  }

  async #climb(reason: InterruptReason): Promise<void> {
    const stateKept = await interrupt({
      shell: this.#shell.pid(),
      write: (text) => this.#shell.write(text),
      typeEnd: () => this.#typeEnd(),
      started: () => this.#started(),
      ended: () => this.#ended,
      exited: () => this.#exit !== undefined,
    })
    if (!stateKept) {
      this.#shell.kill()
      await this.#gone()
    }
    this.#finish({ kind: 'interrupted', reason, stateKept })
  }

  /** The caller waits for no process that cannot die. */
  async #gone(): Promise<void> {
    const end = performance.now() + KILL_WAIT
    while (this.#exit === undefined && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  #settle(outcome: Outcome): void {
    if (!this.#interrupted) this.#finish(outcome)
  }

  #finish(outcome: Outcome): void {
    if (this.#done) return
    this.#done = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#settled.resolve(outcome)
  }
}
