import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** Temporary folders that the product makes and has to take away itself; a test's own scratch ends with the run. */
const PRODUCT = /^core-web-(output|replay|work)-/
/** Ms that a process may take to end after the runner that used it. */
const PATIENCE_MS = 10_000

/** A temporary folder and a runtime folder of one run's own, so that what is left of it can be told from everything else. */
export interface Ground {
  env: { TMPDIR: string; XDG_RUNTIME_DIR: string }
  /** What the product left behind, a line each, once it had time to end. Takes everything away: folders and processes. */
  leftovers(patienceMs?: number): Promise<string[]>
}

export function ground(): Ground {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'cw-')))
  // Tests as root let another user work below it.
  chmodSync(scratch, 0o755)
  // Shells keep their control folders here, and a sandbox shows another /tmp.
  const runtime = mkdtempSync('/var/tmp/cw-')
  return {
    env: { TMPDIR: scratch, XDG_RUNTIME_DIR: runtime },
    async leftovers(patienceMs = PATIENCE_MS) {
      const processes = await lastProcesses([scratch, runtime], patienceMs)
      for (const { pid } of processes) end(pid)
      const folders = [
        ...namesIn(scratch).filter((name) => PRODUCT.test(name)),
        ...namesIn(join(runtime, 'core-web')).map((name) => join('control folders', name)),
      ]
      for (const folder of [scratch, runtime]) rmSync(folder, { recursive: true, force: true })
      return [
        ...processes.map(({ pid, command }) => `process ${pid}: ${command}`),
        ...folders.map((folder) => `folder ${folder}`),
      ]
    },
  }
}

interface Left {
  pid: number
  command: string
}

async function lastProcesses(folders: readonly string[], patienceMs: number): Promise<Left[]> {
  const late = performance.now() + patienceMs
  for (;;) {
    const left = processesOf(folders)
    if (left.length === 0 || performance.now() > late) return left
    await pause(100)
  }
}

/** Processes that name a folder in their command line, environment or working folder. Their terminals end with them. */
function processesOf(folders: readonly string[]): Left[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const command = read(() => readFileSync(`/proc/${name}/cmdline`, 'utf8'))
      // A zombie has no command line, holds nothing, and is its parent's to collect.
      if (command === '') return []
      const facts = [
        command,
        read(() => readFileSync(`/proc/${name}/environ`, 'utf8')),
        read(() => readlinkSync(`/proc/${name}/cwd`)),
      ]
      if (!folders.some((folder) => facts.some((fact) => fact.includes(folder)))) return []
      return [{ pid: Number(name), command: command.replaceAll('\0', ' ').trim().slice(0, 200) }]
    })
}

function read(source: () => string): string {
  try {
    return source()
  } catch {
    return '' // ended meanwhile, or another user's
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // no such folder: nothing was put there (or a system without /proc, where processes cannot be told)
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended meanwhile
  }
}
