import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'

/** What the status record of a call says. `gone`: the whole directory was removed. */
export type Status = number | 'absent' | 'gone'

/** The typed line names the directory four times and has to stay well under the 4095 bytes of a terminal line. */
const LONGEST_PATH = 120
const PLAIN_PATH = /^\/[A-Za-z0-9/._-]+$/

/** In the path of every control directory of this process: a line that holds it is the wrapper's. */
export const OWN_MARK = `/s-${process.pid}-`

export const newNonce = () => randomBytes(8).toString('hex')

/**
 * The private directory by which host and shell talk. It belongs to the user whose commands run in the shell, so any call
 * here may fail at any moment; each failure is an answer, never a throw (opening excepted).
 */
export class ControlDir {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Throws the system's error when no directory can be made. */
  static open(root: string = defaultRoot()): ControlDir {
    mkdirSync(root, { recursive: true, mode: 0o700 })
    const info = statSync(root)
    if (process.getuid && info.uid !== process.getuid()) throw new Error(`${root} belongs to another user`)
    if ((info.mode & 0o077) !== 0) chmodSync(root, 0o700)
    sweep(root)
    const path = mkdtempSync(`${root}${OWN_MARK}`)
    if (PLAIN_PATH.test(path) && path.length <= LONGEST_PATH) return new ControlDir(path)
    rmSync(path, { recursive: true, force: true })
    throw new Error(
      `${root} cannot hold shell control files: use a short path of letters, digits, "/", ".", "_" and "-"`,
    )
  }

  script(nonce: string): string {
    return `${this.path}/${nonce}.sh`
  }

  /** False: the directory cannot be used any more (removed, disk full, made read-only). */
  write(nonce: string, command: string): boolean {
    try {
      const file = openSync(this.script(nonce), 'wx', 0o600)
      try {
        const bytes = Buffer.from(`${command}\n`)
        return writeSync(file, bytes) === bytes.length
      } finally {
        closeSync(file)
      }
    } catch {
      return false // see above: the caller replaces directory and shell
    }
  }

  /** False: it could not be made. */
  mark(name: string): boolean {
    try {
      closeSync(openSync(join(this.path, name), 'a', 0o600))
      return true
    } catch {
      return false // as above
    }
  }

  #names(): string[] | undefined {
    try {
      return readdirSync(this.path)
    } catch {
      return undefined // removed by a command
    }
  }

  started(nonce: string): boolean {
    return this.#names()?.includes(`${nonce}.s`) ?? false
  }

  status(nonce: string): Status {
    const names = this.#names()
    if (!names) return 'gone'
    for (const name of names) {
      if (!name.startsWith(nonce)) continue
      const digits = /^\.(\d{1,3})$/.exec(name.slice(nonce.length))
      if (digits) return Number(digits[1])
    }
    return 'absent'
  }

  /** Takes every file away, those of late records of earlier calls too: only one call runs at a time. */
  clear(): void {
    for (const name of this.#names() ?? []) {
      try {
        unlinkSync(join(this.path, name))
      } catch {
        // not ours any more, or gone already
      }
    }
  }

  remove(): void {
    try {
      rmSync(this.path, { recursive: true, force: true })
    } catch {
      // what a command has locked stays behind; it is an empty shell of a directory
    }
  }
}

const STALE_MS = 24 * 3600 * 1000
const swept = new Set<string>()

/**
 * A host that was killed leaves its directories behind. Those of dead pids and of trials go, after a day: a pid that is dead here may
 * live in a container that shares the folder, and each of its calls makes its directory young again.
 */
function sweep(root: string): void {
  if (swept.has(root)) return
  swept.add(root)
  try {
    for (const name of readdirSync(root)) {
      const pid = Number(/^s-(\d+)-/.exec(name)?.[1])
      const old = Date.now() - statSync(join(root, name)).mtimeMs > STALE_MS
      const isLeft = name.startsWith('probe-') || (pid > 0 && !isAlive(pid))
      if (old && isLeft) rmSync(join(root, name), { recursive: true, force: true })
    }
  } catch {
    // another host sweeps at the same time; the rest stays for the next start
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

export function defaultRoot(env: Record<string, string | undefined> = process.env): string {
  const runtime = env.XDG_RUNTIME_DIR
  if (runtime && PLAIN_PATH.test(runtime) && runtime.length < 80 && isOwn(runtime)) return join(runtime, 'core-web')
  return `/var/tmp/core-web-${process.getuid?.() ?? 0}`
}

function isOwn(path: string): boolean {
  try {
    return statSync(path).uid === process.getuid?.()
  } catch {
    return false // named in the environment, not there
  }
}
