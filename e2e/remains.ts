import { readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the product has on this machine now: one line each, the same for the same thing as long as it is there. */
export interface Remains {
  /** `pid command`: its shells, its sandboxes, and whatever works in one of its temporary folders. */
  processes: string[]
  /** Temporary folders, and control folders of processes that are dead. */
  folders: string[]
  /** Terminals that this process holds open. */
  terminals: string[]
}

/** As shells and sandboxes are started, argument by argument. */
const SHELL = '--noprofile\0--norc\0--noediting\0-i\0+H'
const OWN_FOLDER = /^core-web-/
const OWN_PATH = /\/core-web-[^/]+(\/|$)/

/**
 * Linux only; elsewhere it finds folders alone. Given what was there before, only what has come since: other work on the same
 * machine that began earlier is not counted.
 */
export function remains(before: Remains = { processes: [], folders: [], terminals: [] }): Remains {
  const now = { processes: processes(), folders: folders(), terminals: terminals() }
  const since = (kind: keyof Remains) => now[kind].filter((each) => !before[kind].includes(each))
  return { processes: since('processes'), folders: since('folders'), terminals: since('terminals') }
}

const list = (folder: string): string[] => read(() => readdirSync(folder)) ?? []

function read<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined // gone meanwhile, or not ours to look at
  }
}

function processes(): string[] {
  return list('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid || isDead(pid)) return []
    if (read(() => statSync(`/proc/${pid}`).uid) !== process.getuid?.()) return []
    const line = read(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1')) ?? ''
    const cwd = read(() => readlinkSync(`/proc/${pid}/cwd`)) ?? ''
    const isOwn = line.includes(SHELL) || /^[^\0]*\/bwrap\0--ro-bind\0/.test(line) || OWN_PATH.test(cwd)
    return isOwn ? [`${pid} ${line.replaceAll('\0', ' ').trim().slice(0, 200)}`] : []
  })
}

const isDead = (pid: string): boolean =>
  / \(.*\) [ZX] /s.test(read(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? ' () X ')

function folders(): string[] {
  const control = `/var/tmp/core-web-${process.getuid?.() ?? 0}`
  const temporary = [...new Set([tmpdir(), '/tmp', '/var/tmp'])].flatMap((parent) =>
    list(parent)
      .filter((name) => OWN_FOLDER.test(name))
      .map((name) => join(parent, name)),
  )
  const left = list(control)
    .filter((name) => name.startsWith('probe-') || isOfDead(name))
    .map((name) => join(control, name))
  return [...temporary.filter((path) => path !== control), ...left]
}

function isOfDead(name: string): boolean {
  const pid = /^s-(\d+)-/.exec(name)?.[1]
  return pid !== undefined && isDead(pid)
}

function terminals(): string[] {
  return list('/proc/self/fd').flatMap((fd) => {
    const path = read(() => readlinkSync(`/proc/self/fd/${fd}`)) ?? ''
    return /\/(ptmx|pts\/\d+)$/.test(path) ? [`${fd} ${path}`] : []
  })
}
