import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

const LISTENING = '0A'

/** Name and pid of the process that listens on a TCP port, as far as this user may see it (Linux); undefined elsewhere. */
export function portOwner(port: number, proc = '/proc'): { pid: number; name: string } | undefined {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((table) => listeners(`${proc}/net/${table}`, port)))
  if (sockets.size === 0) return undefined
  for (const pid of numbers(proc)) {
    const links = entries(`${proc}/${pid}/fd`)
    const holds = links.some((fd) => sockets.has(linkOf(`${proc}/${pid}/fd/${fd}`)))
    if (holds) return { pid: Number(pid), name: textOf(`${proc}/${pid}/comm`).trim() || 'a process' }
  }
  return undefined
}

/** `socket:[inode]` of each listener on the port; columns as in proc(5): local address 1, state 3, inode 9. */
function listeners(file: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return textOf(file)
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(wanted) && columns[3] === LISTENING)
    .map((columns) => `socket:[${columns[9]}]`)
}

const numbers = (folder: string): string[] => entries(folder).filter((name) => /^\d+$/.test(name))

function entries(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // another user's, gone by now, or no such system
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return '' // closed by now
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // not this system, or gone by now
  }
}
