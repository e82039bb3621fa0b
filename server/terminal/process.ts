import { readFileSync, readdirSync, statSync } from 'node:fs'

/** What `/proc/<pid>/stat` says, as far as job control needs it. Linux only: elsewhere every function here knows nothing. */
export interface Stat {
  pid: number
  state: string
  group: number
  session: number
  /** The process group that owns the terminal. */
  foreground: number
}

export function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, , group, session, , foreground] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    if (state === undefined) return undefined
    return { pid, state, group: Number(group), session: Number(session), foreground: Number(foreground) }
  } catch {
    return undefined // the process is gone, or this system has no /proc
  }
}

type Wait = 'read' | 'poll' | 'select'
const CALLS: Record<string, Record<number, Wait>> = {
  x64: { 0: 'read', 7: 'poll', 23: 'select', 270: 'select', 271: 'poll' },
  arm64: { 63: 'read', 72: 'select', 73: 'poll' },
}

/** The system call that a sleeping process waits in. `fd` is the file read, or for select the highest one watched. */
export function waitOf(pid: number): { call: Wait; fd: number | undefined } | undefined {
  try {
    const [number, first] = readFileSync(`/proc/${pid}/syscall`, 'latin1').split(' ')
    const call = CALLS[process.arch]?.[Number(number)]
    if (!call || first === undefined) return undefined
    if (call === 'poll') return { call, fd: undefined }
    return { call, fd: call === 'read' ? Number(first) : Number(first) - 1 }
  } catch {
    return undefined // gone, or not ours to look at
  }
}

const TTY_MAJORS = [136, 143]

/** By device number, since the path of a descriptor from inside a sandbox means nothing out here. */
export function isTerminal(pid: number, fd: number): boolean {
  try {
    const info = statSync(`/proc/${pid}/fd/${fd}`)
    if (!info.isCharacterDevice()) return false
    const major = (info.rdev >> 8) & 0xfff
    return (major >= TTY_MAJORS[0]! && major <= TTY_MAJORS[1]!) || (major === 5 && (info.rdev & 0xff) === 0)
  } catch {
    return false // closed meanwhile
  }
}

/** Asleep in a read of its terminal (or a select whose highest file is the terminal): how bash looks at its prompt. */
export function readsTerminal(pid: number): boolean {
  const wait = waitOf(pid)
  return wait?.fd !== undefined && isTerminal(pid, wait.fd)
}

const MOST_PROCESSES = 500

export function descendants(root: number): number[] {
  const found: number[] = []
  const open = [root]
  for (let pid = open.pop(); pid !== undefined && found.length < MOST_PROCESSES; pid = open.pop()) {
    const children = childrenOf(pid)
    found.push(...children)
    open.push(...children)
  }
  return found
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    )
  } catch {
    return [] // gone meanwhile
  }
}

/** Every process of a terminal session, whoever its parent is now. Reads all of /proc: for teardown only. */
export function sessionMembers(session: number): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readStat(Number(name)))
      .filter((stat) => stat !== undefined && stat.session === session && stat.state !== 'Z')
      .map((stat) => stat!.pid)
  } catch {
    return [] // no /proc
  }
}

export function commandName(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return undefined // gone
  }
}

/** Negative pids are process groups, as for kill(2). False: nobody there, or not ours. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false // ESRCH and EPERM both mean: nothing more we can do to it
  }
}
