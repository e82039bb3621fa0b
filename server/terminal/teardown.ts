import { setTimeout as wait } from 'node:timers/promises'
import { commandName, descendants, readStat, sessionMembers, signalProcess } from './process.ts'
import type { PtyExit } from './pty.ts'

export interface Retiring {
  /** The shell, and the process that was spawned around it (the same without a sandbox). */
  pid: number
  spawned: number
  sandboxed: boolean
  exited: Promise<PtyExit>
  /** The shell has ended by itself; its pid may be another process's soon. */
  ended: boolean
}

/** Milliseconds a job gets to react to SIGHUP, and the whole to be gone. */
const GRACE = 200
const LIMIT = 2000
const POLL = 20

/**
 * Ends a shell and the processes of its terminal session. A process that has made a session of its own (`setsid`) is out of
 * reach without a sandbox: it is named (`1234 name`), not hunted. In a sandbox its end takes all of them along.
 */
export async function retire({ pid, spawned, sandboxed, exited, ended }: Retiring): Promise<string[]> {
  // The spawned process leads the terminal's session; a shell inside of a sandbox has no session of its own.
  const session = sandboxed ? spawned : ended ? pid : (readStat(pid)?.session ?? pid)
  const strays = sandboxed || ended ? [] : descendants(pid).filter((child) => readStat(child)?.session !== session)
  if (sandboxed && !ended) signalProcess(spawned, 'SIGKILL')
  for (const member of sessionMembers(session)) {
    signalProcess(member, 'SIGHUP')
    signalProcess(member, 'SIGCONT')
  }
  await gone(session, GRACE)
  for (const member of sessionMembers(session)) signalProcess(member, 'SIGKILL')
  if (!ended) signalProcess(spawned, 'SIGKILL')
  await Promise.race([exited, wait(LIMIT, undefined, { ref: false })])
  return strays.filter((stray) => readStat(stray)).map((stray) => `${stray} ${commandName(stray) ?? ''}`.trim())
}

async function gone(session: number, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (sessionMembers(session).length > 0 && performance.now() < end) await wait(POLL)
}
