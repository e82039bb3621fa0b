import { existsSync, readlinkSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { shellEnvironment } from './environment.ts'
import { EXPORTS, readExports, type Exports } from './exports.ts'
import { ENDED, Shell, type OpenedShell, type ShellOptions, type ShellRun } from './shell.ts'
import { endOf, NOTHING, notRun, outputOf, type CallResult, type NewShellReason, type Notice } from './result.ts'
import { commandName, readStat } from './process.ts'
import type { Screen, Watched } from './screen.ts'
import type { Confine } from '../sandbox/confined.ts'

export interface TerminalOptions {
  /** Where each new shell starts. A folder that is gone is replaced by its nearest parent that exists. */
  cwd: string
  /** The whole environment of the shell; default `shellEnvironment()`. Pagers, prompts and TERM are set in any case. */
  env?: Record<string, string>
  /** Milliseconds a call may run; default 300000. */
  timeoutMs?: number
  /** `null` (default): commands find their input empty. `tty`: they find the terminal. */
  stdin?: 'null' | 'tty'
  /** Asked for each new shell: the command line that confines it, or why there may be none. Absent: never confined. */
  confine?: Confine
  /** Where a path that the shell knows lies on this machine; default the same. */
  real?(path: string): string
  /** Names what `confine` would answer now. A shell that was started under another name is replaced before the next call. */
  mode?(): string
  /** Parent of the control directories; default `$XDG_RUNTIME_DIR/core-web`, else `/var/tmp/core-web-<uid>`. */
  controlRoot?: string
  /** Told what a closed shell left behind. */
  warn?(message: string): void
  /** Where people watch it. */
  screen?: Screen
}

export interface RunOptions {
  /** What those who watch know the call as. */
  callId?: string
  signal?: AbortSignal
  timeoutMs?: number
  onOutput?(text: string): void
  spill?: ShellRun['spill']
}

interface Waiting {
  command: string
  options: RunOptions & Pick<ShellRun, 'quiet'>
  begin(): void
  resolve(result: CallResult): void
}

const DEFAULT_TIMEOUT_MS = 300_000
const EXPORTS_MS = 5000

/** The persistent shell of one agent: started on first use, replaced when it is gone, one call at a time in order. */
export class Terminal implements Watched {
  readonly #options: TerminalOptions
  readonly #waiting: Waiting[] = []
  #pump: Promise<void> | undefined
  #shell: Shell | undefined
  #mode: string | undefined
  /** Why the next shell is not the session's first one. */
  #reason: NewShellReason | undefined
  #closed = false
  /** Where the last shell was after its last call. */
  #last: string | undefined
  #running: { callId: string; since: number } | undefined

  constructor(options: TerminalOptions) {
    this.#options = options
    options.screen?.use(this)
  }

  view(): ReturnType<Watched['view']> {
    const { pid } = this
    const cwd = this.cwd()
    const foreground = pid === undefined ? undefined : foregroundOf(pid)
    return {
      ...(pid !== undefined && { pid }),
      ...(cwd !== undefined && { cwd }),
      running: this.#running ? { ...this.#running, ...(foreground !== undefined && { foreground }) } : null,
      hidden: this.#shell?.typing.hidden ?? false,
    }
  }

  async asks(): ReturnType<Watched['asks']> {
    const asked = await this.#shell?.typing.asks()
    return asked && this.#running && { ...asked, callId: this.#running.callId }
  }

  type(text: string, before: () => void): boolean {
    return this.#shell?.typing.type(text, before) ?? false
  }

  answered(on: boolean): void {
    this.#shell?.typing.answered(on)
  }

  /** Where the shell is now; undefined without a shell or where the system does not say. */
  cwd(): string | undefined {
    if (this.pid === undefined) return undefined
    try {
      return readlinkSync(`/proc/${this.pid}/cwd`)
    } catch {
      return undefined // ended meanwhile, or no /proc
    }
  }

  get pid(): number | undefined {
    return this.#shell && this.#shell.unusable === undefined ? this.#shell.pid : undefined
  }

  /** A foreground or background process lives beside the shell: then its agent must not be disposed as idle. */
  hasProcesses(): boolean {
    const pid = this.pid
    if (pid === undefined) return false
    return this.#pump !== undefined || (this.#shell?.hasProcesses() ?? false)
  }

  /** The session had a shell that this Terminal does not know; the next one says why it is new. */
  markPrevious(reason: NewShellReason): void {
    this.#reason = reason
  }

  /** Ends the shell after the running call; the next call starts a new one and says why. */
  async replace(reason: NewShellReason): Promise<void> {
    await this.#pump
    if (!this.#shell) return
    this.#reason = reason
    await this.#retire()
  }

  /** Where the shell is and what it exports, once all calls before are done; undefined without a shell, or one that does not say. */
  async exports(signal: AbortSignal): Promise<Exports | undefined> {
    if (this.pid === undefined) return undefined
    let env: Exports['env'] | undefined
    await this.#enqueue(EXPORTS, { signal, timeoutMs: EXPORTS_MS, quiet: (control) => (env = readExports(control)) })
    const cwd = this.cwd()
    return env && cwd !== undefined ? { cwd, env } : undefined
  }

  /** Runs one command when all before it are done. After `close` a call ends as cancelled. Never rejects. */
  run(command: string, options: RunOptions = {}): Promise<CallResult> {
    return this.#enqueue(command, options)
  }

  #enqueue(command: string, options: Waiting['options']): Promise<CallResult> {
    const { signal } = options
    if (this.#closed || signal?.aborted) return Promise.resolve(notRun())
    const { promise, resolve } = Promise.withResolvers<CallResult>()
    const withdraw = () => {
      this.#waiting.splice(this.#waiting.indexOf(entry), 1)
      resolve(notRun())
    }
    const entry: Waiting = { command, options, resolve, begin: () => signal?.removeEventListener('abort', withdraw) }
    signal?.addEventListener('abort', withdraw, { once: true })
    this.#waiting.push(entry)
    this.#pump ??= this.#work()
    return promise
  }

  async #work(): Promise<void> {
    await Promise.resolve()
    for (let entry = this.#waiting.shift(); entry; entry = this.#waiting.shift()) {
      entry.begin()
      if (this.#closed) entry.resolve(notRun())
      else entry.resolve(await this.#watched(entry))
    }
    // In the same step as the last look at the queue: a call made a moment later has to find nobody at work.
    this.#pump = undefined
  }

  #runs(call: { callId: string; since: number } | undefined): void {
    this.#running = call
    this.#options.screen?.changed()
  }

  async #watched({ command, options }: Waiting): Promise<CallResult> {
    if (!options.quiet) this.#runs({ callId: options.callId ?? '', since: Date.now() })
    try {
      return await this.#run(command, options)
    } finally {
      this.#last = this.cwd() ?? this.#last
      this.#runs(undefined)
    }
  }

  async #run(command: string, options: Waiting['options']): Promise<CallResult> {
    const began = performance.now()
    const notices: Notice[] = []
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    for (let attempt = 1; ; attempt++) {
      const opened = await this.#ensure(notices)
      if ('end' in opened) return { ...opened, timeoutMs, notices, ms: performance.now() - began }
      if (options.signal?.aborted) return { ...notRun(), notices }
      const call = await opened.shell.run({ ...options, command, timeoutMs })
      if (call.between !== '') notices.push({ kind: 'between', text: call.between })
      if (call.outcome.kind === 'not-started' && attempt === 1 && !this.#closed && !options.signal?.aborted) continue
      const end = this.#closed ? ({ kind: 'cancelled', stateKept: false } as const) : endOf(call.outcome)
      const why = opened.shell.unusable
      if (end.kind === 'completed' && why !== undefined) notices.push({ kind: 'degraded', why })
      return { ...outputOf(call), end, timeoutMs, notices, ms: performance.now() - began }
    }
  }

  /** A shell that can be used, or the result of a call that cannot have one. */
  async #ensure(notices: Notice[]): Promise<{ shell: Shell } | Omit<CallResult, 'notices' | 'timeoutMs' | 'ms'>> {
    const mode = this.#options.mode?.()
    if (this.#shell && this.#shell.unusable === undefined && this.#mode === mode) return { shell: this.#shell }
    if (this.#shell?.unusable === undefined && this.#shell) {
      this.#reason = 'mode'
      const text = this.#shell.takeBetween()
      if (text !== '') notices.push({ kind: 'between', text })
      await this.#retire()
    }
    if (this.#shell) {
      this.#reason ??= 'death'
      const text = this.#shell.takeBetween()
      if (text !== '') notices.push({ kind: 'between', text })
      if (this.#shell.unusable !== ENDED) notices.push({ kind: 'replaced', why: this.#shell.unusable ?? '' })
      await this.#retire()
    }
    const directory = this.#directory()
    this.#mode = mode
    const { shell, failed, refused, reason } = await open(this.#options, directory)
    if (refused) return { ...NOTHING, end: { kind: 'refused', code: refused.code, reason: refused.reason } }
    this.#shell = shell
    if (failed || !shell) {
      this.#last = undefined
      await this.#retire()
      return { ...(failed ? outputOf(failed) : NOTHING), end: { kind: 'failed', reason: reason ?? 'it ended at once' } }
    }
    if (this.#closed) {
      await this.#retire()
      return notRun()
    }
    const told = notices.find((notice) => notice.kind === 'new-shell')
    if (told) told.directory = directory
    else if (this.#reason) notices.push({ kind: 'new-shell', reason: this.#reason, directory })
    this.#reason = undefined
    return { shell }
  }

  /** A shell that was lost is followed by one in the same place, as long as that is there. */
  #directory(): string {
    const { cwd, real = (path: string) => path } = this.#options
    const last = this.#reason === 'death' ? this.#last : undefined
    return last !== undefined && isFolder(real(last)) ? last : existing(cwd)
  }

  async #retire(): Promise<void> {
    const shell = this.#shell
    this.#shell = undefined
    const survivors = (await shell?.close()) ?? []
    if (survivors.length > 0) this.#options.warn?.(`a closed shell left running: ${survivors.join(', ')}`)
  }

  /** Ends the shell and its jobs; running and waiting calls end as cancelled. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#retire()
    await this.#pump
    await this.#retire()
    this.#options.screen?.left(this)
  }
}

async function open(options: TerminalOptions, cwd: string): Promise<Partial<OpenedShell> & { reason?: string }> {
  const { env = shellEnvironment(), stdin = 'null', controlRoot, confine, screen } = options
  const shellOptions: ShellOptions = { cwd, env, stdin }
  if (controlRoot !== undefined) shellOptions.controlRoot = controlRoot
  if (confine) shellOptions.confine = confine
  if (screen) shellOptions.screen = screen
  try {
    return await Shell.open(shellOptions)
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}

/** The program that owns the terminal, where that is not the shell itself. */
function foregroundOf(shell: number): string | undefined {
  const stat = readStat(shell)
  return stat && stat.foreground > 0 && stat.foreground !== stat.group ? commandName(stat.foreground) : undefined
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false // gone, or nothing that this user could go to
  }
}

function existing(directory: string): string {
  let found = directory
  while (!existsSync(found) && dirname(found) !== found) found = dirname(found)
  return found
}
