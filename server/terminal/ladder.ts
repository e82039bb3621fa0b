import { setTimeout as wait } from 'node:timers/promises'
import { descendants, readStat, signalProcess } from './process.ts'
import { isAtPrompt, ownsForeground } from './watchdog.ts'

/** What the ladder may know of the call it interrupts, and do to its shell. */
export interface Interruptible {
  /** The shell's pid in the host's numbering. */
  shell: number
  write(text: string): void
  /** Types the end of the line once more, for a shell that has thrown the first one away. */
  typeEnd(): void
  started(): boolean
  /** The call's end was seen. */
  ended(): boolean
  exited(): boolean
}

const POLL = 20
const SOFT = 1500
const HARD = 500

/**
 * Ends a call step by step: ctrl-C, SIGTERM, SIGKILL to whoever owns the terminal. True: the shell is free and its state is
 * kept. False: it is not, and has to be killed. Takes at most 4.5 s.
 * The end of the line is typed only while the shell itself owns the foreground: another program would read it as input.
 */
export async function interrupt(call: Interruptible): Promise<boolean> {
  const done = () => call.ended() || call.exited()
  const free = (ms: number) => until(() => done() || ownsForeground(call.shell), ms)
  call.write('\x03')
  if (!call.started()) return unstarted(call)
  if ((await free(SOFT)) && (await confirm(call, SOFT))) return !call.exited()
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (call.exited()) return false
    signalForeground(call.shell, signal)
    if ((await free(HARD)) && (await confirm(call, HARD))) return !call.exited()
  }
  return false
}

async function confirm(call: Interruptible, ms: number): Promise<boolean> {
  const done = () => call.ended() || call.exited()
  if (!done()) call.typeEnd()
  return until(done, ms)
}

/** Ctrl-C has thrown the unread line away, so a shell at its prompt is free; typing an end would invent a completed call. */
async function unstarted(call: Interruptible): Promise<boolean> {
  await until(() => call.exited() || call.started() || isAtPrompt(call.shell), SOFT)
  if (call.started()) return confirm(call, SOFT).then((done) => done && !call.exited())
  return !call.exited() && isAtPrompt(call.shell)
}

/** Where job control is off, commands run in the shell's own group: then everyone in it but the shell is meant. */
function signalForeground(shell: number, signal: NodeJS.Signals): void {
  const stat = readStat(shell)
  if (!stat) return
  if (stat.foreground > 0 && stat.foreground !== stat.group) {
    signalProcess(-stat.foreground, signal)
    return
  }
  for (const pid of descendants(shell)) if (readStat(pid)?.group === stat.group) signalProcess(pid, signal)
}

/** Polls, because neither the kernel nor the shell reports a change of the foreground group. */
async function until(condition: () => boolean, ms: number): Promise<boolean> {
  const end = performance.now() + ms
  while (performance.now() < end) {
    await wait(POLL)
    if (condition()) return true
  }
  return condition()
}
