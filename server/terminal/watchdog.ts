import { descendants, readStat, readsTerminal, isTerminal, waitOf, signalProcess } from './process.ts'

/** Milliseconds; all measured with bash 5.2 on a loaded machine of two cores. */
export const TICK = 100
const QUIET_AT_PROMPT = 150
const AT_PROMPT = 200
const NOT_STARTED = 350
const QUIET_CHILD = 500
const BLOCKED_CHILD = 1000

export interface Facts {
  now: number
  /** Time of the last byte from the terminal. */
  lastByte: number
  /** The shell has begun to run the typed line. */
  started: boolean
}

export type Finding = 'nothing' | 'prompt' | 'not-started' | 'needs-input'

/** Watches one call from outside, by what the kernel says of the processes. Without `/proc` it finds nothing. */
export class Watchdog {
  readonly #shell: number
  readonly #stdin: 'null' | 'tty'
  #promptSince: number | undefined
  #blocked: { pid: number; since: number } | undefined

  constructor(shell: number, stdin: 'null' | 'tty') {
    this.#shell = shell
    this.#stdin = stdin
  }

  /** Somebody reads the terminal now: a program in the foreground, or the command itself with `read`. */
  waits(): boolean {
    const stat = readStat(this.#shell)
    if (!stat) return false
    if (isAtPrompt(this.#shell)) return isInCommand(this.#shell)
    return this.#blockedChild(stat.foreground) !== undefined
  }

  /** After something was typed, what was seen before counts no more. */
  forget(): void {
    this.#promptSince = undefined
    this.#blocked = undefined
  }

  look({ now, lastByte, started }: Facts): Finding {
    const stat = readStat(this.#shell)
    if (!stat) return 'nothing'
    if (stat.state === 'T') signalProcess(this.#shell, 'SIGCONT')
    const quiet = now - lastByte
    if (!isAtPrompt(this.#shell)) {
      this.#promptSince = undefined
      return this.#child(stat.foreground, quiet, now)
    }
    this.#promptSince ??= now
    const since = now - this.#promptSince
    if (!started) return since >= NOT_STARTED ? 'not-started' : 'nothing'
    return since >= AT_PROMPT && quiet >= QUIET_AT_PROMPT ? 'prompt' : 'nothing'
  }

  #child(foreground: number, quiet: number, now: number): Finding {
    const pid = quiet < QUIET_CHILD ? undefined : this.#blockedChild(foreground)
    if (pid === undefined) this.#blocked = undefined
    else if (this.#blocked?.pid !== pid) this.#blocked = { pid, since: now }
    return this.#blocked && now - this.#blocked.since >= BLOCKED_CHILD ? 'needs-input' : 'nothing'
  }

  #blockedChild(foreground: number): number | undefined {
    return descendants(this.#shell).find(
      (pid) => readStat(pid)?.group === foreground && (readsTerminal(pid) || this.#pollsTerminal(pid)),
    )
  }

  /** Where standard input is empty, a program that watches a terminal as its input has opened it by itself. */
  #pollsTerminal(pid: number): boolean {
    if (this.#stdin !== 'null') return false
    const wait = waitOf(pid)
    return wait !== undefined && wait.call !== 'read' && isTerminal(pid, 0)
  }
}

/** The shell owns the terminal and sleeps in a read of it: at its prompt, or in a `read` builtin, which looks the same. */
export function isAtPrompt(shell: number): boolean {
  return ownsForeground(shell) && readsTerminal(shell)
}

/** While it sources a command, bash keeps its own input and output aside, from descriptor 10 on. */
export const isInCommand = (shell: number): boolean => isTerminal(shell, 10)

export function ownsForeground(shell: number): boolean {
  const stat = readStat(shell)
  return stat !== undefined && stat.foreground === stat.group
}
