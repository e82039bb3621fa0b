import { closeSync, constants, openSync } from 'node:fs'
import { constants as system } from 'node:os'
import { spawn } from 'node-pty'
import { echoOf, setEcho } from './echo.ts'
import { withoutInherited } from './inherit.ts'

export interface PtyOptions {
  cwd: string
  env: Record<string, string>
  onData(chunk: Buffer): void
}

export interface PtyExit {
  exitCode?: number
  signal?: string
}

export interface Pty {
  /** The process that was spawned: the shell itself, or the sandbox around it. */
  pid: number
  write(text: string): void
  /** Whether the terminal shows what is typed; undefined when that cannot be told. */
  echo(): Promise<boolean | undefined>
  setEcho(on: boolean): Promise<void>
  /** Settles when the process is gone and its output was read to the end. */
  exited: Promise<PtyExit>
}

const COLUMNS = 200
const ROWS = 40

/**
 * Starts a process on a terminal of its own, bytes in and out. Throws the system's error when there is no terminal to have.
 * The host keeps the terminal's other end open: without that the kernel drops output that was not read when the process
 * ends (microsoft/node-pty#72). The exit is then reported about 200 ms later, which is the library's own limit.
 */
export function openPty(argv: string[], options: PtyOptions): Pty {
  const [file, ...args] = withoutInherited(argv)
  if (file === undefined) throw new Error('nothing to start')
  const { cwd, env } = options
  const terminal = spawn(file, args, { cwd, env, encoding: null, cols: COLUMNS, rows: ROWS })
  let slave = openSlave((terminal as unknown as { ptsName?: string }).ptsName)
  terminal.onData((chunk) => options.onData(chunk as unknown as Buffer))
  const exited = new Promise<PtyExit>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      if (slave !== undefined) closeSync(slave)
      slave = undefined
      resolve(signal ? { signal: signalName(signal) } : { exitCode })
    })
  })
  return {
    pid: terminal.pid,
    write: (text) => terminal.write(text),
    echo: async () => (slave === undefined ? undefined : echoOf(slave)),
    setEcho: async (on) => (slave === undefined ? undefined : setEcho(slave, on)),
    exited,
  }
}

function openSlave(name: string | undefined): number | undefined {
  if (name === undefined) return undefined
  try {
    return openSync(name, constants.O_RDWR | constants.O_NOCTTY)
  } catch {
    return undefined // the process has ended already; only the tail of its output is at risk
  }
}

const signalName = (number: number) =>
  Object.entries(system.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`
