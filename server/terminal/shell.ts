import { Call, type CallRequest, type Outcome } from './call.ts'
import { cleanKept, cleanText, decode, looksBinary, type Scrub } from './clean.ts'
import { ControlDir, newNonce } from './control.ts'
import { Live } from './live.ts'
import { commandName, descendants, readStat, sessionMembers, signalProcess } from './process.ts'
import { openPty, type Pty, type PtyExit } from './pty.ts'
import { Ring } from './ring.ts'
import { Spill, type Spilled, type SpillPlace } from './spill.ts'
import { retire } from './teardown.ts'
import { Typing } from './typing.ts'
import type { Screen } from './screen.ts'
import type { Confine, Confined } from '../sandbox/confined.ts'

/** No readline, so TAB and control bytes mean nothing; interactive, so jobs work and SIGINT does not end it. */
export const BASH = ['/bin/bash', '--noprofile', '--norc', '--noediting', '-i', '+H']

export interface ShellOptions {
  cwd: string
  env: Record<string, string>
  stdin: 'null' | 'tty'
  controlRoot?: string
  confine?: Confine
  /** Where people watch it. */
  screen?: Screen
}

/** `failed`: what was said by a shell that did not come up. `refused`: nothing was started. */
export interface OpenedShell {
  shell?: Shell
  failed?: ShellCall
  refused?: Extract<Confined, { kind: 'refused' }>
}

export interface ShellCall {
  outcome: Outcome
  output: string
  seam?: number
  omitted: number
  totalBytes: number
  binary: boolean
  /** Text that arrived before this call and belongs to none. */
  between: string
  /** The file with the whole output of a call whose result is cut. */
  spill?: Spilled
}

export interface ShellRun {
  command: string
  timeoutMs: number
  signal?: AbortSignal
  onOutput?(text: string): void
  /** What is longer than `from` characters is kept in a file; `files` is a folder that the shell's commands see. */
  spill?: { from: number; place(files: SpillPlace | undefined): SpillPlace }
  /** The host's own question to the shell: it leaves no trace in `$?` and takes no text of jobs. Called before its files go. */
  quiet?(control: ControlDir): void
}

/** Pagers and editors would wait for a person; colours and prompts are noise to a reader of text. */
const FIXED_ENV = {
  TERM: 'dumb',
  PS1: '',
  PS2: '',
  PROMPT_COMMAND: '',
  HISTFILE: '/dev/null',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  NO_COLOR: '1',
  LANG: 'C.UTF-8',
}
const SET_UP = 'set +o history; stty -echo -ixon </dev/tty'
const SET_UP_MS = 10_000
const BETWEEN = 4096
/** The reason that needs no words of its own: the result of the last call has told it. */
export const ENDED = 'it had ended'

/** One bash process on a terminal, one call at a time. It is replaced, not repaired, once `usable` is false. */
export class Shell {
  readonly cwd: string
  readonly #options: ShellOptions
  readonly #control: ControlDir
  readonly #between = new Ring(0, BETWEEN)
  readonly #pty: Pty
  readonly typing: Typing
  readonly #sandboxed: boolean
  readonly #files: SpillPlace | undefined
  #pid: number
  #call: Call | undefined
  #exit: PtyExit | undefined
  #previous = 0
  #degraded: string | undefined
  #closing: Promise<string[]> | undefined

  private constructor(options: ShellOptions, control: ControlDir, confined: Exclude<Confined, { kind: 'refused' }>) {
    const sandbox = confined.kind === 'sandboxed' ? confined : undefined
    this.#options = options
    this.#sandboxed = sandbox !== undefined
    this.#files = sandbox?.files
    this.cwd = options.cwd
    this.#control = control
    this.#pty = openPty(sandbox?.argv ?? BASH, {
      // A sandbox goes there itself: the folder may be one that only it knows by this name.
      cwd: sandbox ? '/' : options.cwd,
      env: { ...options.env, ...FIXED_ENV },
      onData: (chunk) => (this.#call ? this.#call.data(chunk) : this.#apart(chunk)),
    })
    this.typing = new Typing(this.#pty, options.screen)
    this.#pid = this.#pty.pid
    void this.#pty.exited.then((exit) => {
      this.#exit = exit
      this.#call?.exited(exit)
      // At once, while the session id still cannot belong to somebody else: its jobs would outlive it.
      void this.close()
    })
  }

  /** Throws the system's error when there is no control directory or no terminal to have. */
  static async open(options: ShellOptions): Promise<OpenedShell> {
    const control = ControlDir.open(options.controlRoot)
    try {
      const place = { cwd: options.cwd, control: control.path }
      const confined = (await options.confine?.(BASH, place)) ?? ({ kind: 'bare' } as const)
      if (confined.kind === 'refused') {
        control.remove()
        return { refused: confined }
      }
      const shell = new Shell(options, control, confined)
      const first = await shell.#run({ command: SET_UP, timeoutMs: SET_UP_MS }, true)
      if (first.outcome.kind !== 'completed') return { shell, failed: first }
      if (shell.#sandboxed) shell.#pid = innerShell(shell.#pty.pid)
      return { shell }
    } catch (error) {
      control.remove()
      throw error
    }
  }

  /** The shell's pid in the host's numbering, also when it runs inside a sandbox. */
  get pid(): number {
    return this.#pid
  }

  /** A process lives beside the shell, in the foreground or the background. */
  hasProcesses(): boolean {
    const others = this.#sandboxed
      ? descendants(this.#pty.pid).filter((pid) => commandName(pid) !== 'bwrap')
      : [...descendants(this.#pid), ...sessionMembers(this.#pid)]
    return others.some((pid) => pid !== this.#pid)
  }

  /** Why this shell must not run another call; undefined while it may. */
  get unusable(): string | undefined {
    if (this.#degraded !== undefined) return this.#degraded
    return this.#exit || this.#closing ? ENDED : undefined
  }

  /** Text that arrived while no call ran, and is told once. */
  takeBetween(): string {
    const { tail } = this.#between.kept()
    this.#between.clear()
    const own = (line: string) => (line.includes(this.#control.path) ? undefined : line)
    return tail.length === 0 ? '' : cleanText(decode(tail), own)
  }

  run(request: ShellRun): Promise<ShellCall> {
    return this.#run(request, false)
  }

  async #run(run: ShellRun, bare: boolean): Promise<ShellCall> {
    const { command, timeoutMs, signal, onOutput, quiet } = run
    const nonce = newNonce()
    const scrub = this.#scrub(nonce)
    const live = onOutput && new Live(onOutput, scrub, this.#control.path)
    const spill = this.#spill(run, { mark: nonce, line: scrub })
    const previous = this.#previous
    const request: CallRequest = { nonce, command, timeoutMs, previous, bare }
    if (signal) request.signal = signal
    const shown = bare || quiet ? undefined : this.#options.screen
    request.onOutput = (chunk) => {
      live?.push(chunk)
      shown?.output(chunk)
      spill?.push(chunk)
    }
    const call = new Call(
      {
        pid: () => this.#pid,
        control: this.#control,
        stdin: this.#options.stdin,
        write: (text) => this.#pty.write(text),
        between: (bytes) => !bare && this.#apart(bytes),
        kill: () => this.#kill(),
        answering: () => shown?.answering ?? false,
        tick: () => shown?.watched && this.typing.look(),
      },
      request,
    )
    this.#call = call
    if (shown) await this.typing.begin(call)
    let between: string | undefined
    const told = () => (quiet ? '' : this.takeBetween())
    const outcome = await call.run(() => (between = told()))
    if (shown) await this.typing.end()
    this.#call = undefined
    live?.end()
    quiet?.(this.#control)
    this.#control.clear()
    const result = this.#result(call, outcome, scrub)
    if (quiet && result.outcome.kind === 'completed') this.#previous = previous
    const spilled = spill?.end(result.binary || result.omitted > 0 || result.output.length > (run.spill?.from ?? 0))
    return { ...result, between: between ?? told(), ...(spilled && { spill: spilled }) }
  }

  /** Text that belongs to no call. */
  #apart(bytes: Buffer): void {
    this.#between.push(bytes)
    this.#options.screen?.output(bytes)
  }

  #spill({ spill }: ShellRun, scrub: { mark: string; line: Scrub }): Spill | undefined {
    return spill && new Spill({ from: spill.from, place: () => spill.place(this.#files), scrub })
  }

  #result(call: Call, outcome: Outcome, scrub: Scrub): Omit<ShellCall, 'between'> {
    const kept = call.kept()
    const { text: output, omitted, seam } = cleanKept(kept, scrub)
    const binary = looksBinary(kept.head)
    const result = { output, omitted, totalBytes: kept.total, binary, ...(seam !== undefined && { seam }) }
    this.#previous = outcome.kind === 'completed' ? (outcome.exitCode ?? 0) : 130
    if (outcome.kind === 'interrupted') this.#degraded = outcome.stateKept ? undefined : 'it could not be interrupted'
    if (outcome.kind === 'not-started') this.#degraded = outcome.why
    if (outcome.kind === 'completed' || outcome.kind === 'exited') this.#degraded = outcome.degraded
    if (!this.#neverRead(kept.head, outcome)) return { outcome, ...result }
    this.#degraded = 'it could not read the command'
    return { outcome: { kind: 'not-started', why: this.#degraded }, ...result }
  }

  /** `bash: <file>: <reason>` without a line number: the file could not be opened or read, so nothing of it ran. */
  #neverRead(output: Buffer, outcome: Outcome): boolean {
    if (outcome.kind !== 'completed' || outcome.exitCode === 0 || output.length > BETWEEN) return false
    const said = output.toString('latin1')
    const at = said.indexOf(`: ${this.#control.path}/`)
    return at >= 0 && at < 40 && !said.slice(0, at).includes('\n') && /\.sh: (?!line \d)/.test(said.slice(at, at + 400))
  }

  /** The wrapper is never seen: its file is called `command`, and a line that holds the nonce is its own trace. */
  #scrub(nonce: string): Scrub {
    const file = this.#control.script(nonce)
    return (line) => {
      const shown = line.includes(file) ? line.replaceAll(file, 'command') : line
      return shown.includes(nonce) ? undefined : shown
    }
  }

  #kill(): void {
    if (this.#exit) return
    for (const pid of new Set([this.#pid, this.#pty.pid])) signalProcess(pid, 'SIGKILL')
  }

  /** Ends everything that the shell has started; names what it cannot reach. Never rejects. */
  close(): Promise<string[]> {
    this.#closing ??= this.#retire()
    return this.#closing
  }

  async #retire(): Promise<string[]> {
    const survivors = await retire({
      pid: this.#pid,
      spawned: this.#pty.pid,
      sandboxed: this.#sandboxed,
      exited: this.#pty.exited,
      ended: this.#exit !== undefined,
    })
    this.#control.remove()
    // A process that cannot die must not hold its call.
    this.#call?.exited(this.#exit ?? {})
    return survivors
  }
}

/** In a sandbox the spawned process is the sandbox; the shell is the first bash below it. */
function innerShell(spawned: number): number {
  if (readStat(spawned) === undefined) return spawned
  return descendants(spawned).find((pid) => commandName(pid) === 'bash') ?? spawned
}
