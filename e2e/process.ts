import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, addressOf } from './client.ts'
import { ROOT } from './host.ts'

/** The server as a process of its own: what a person starts, and what a test may kill. */
export interface Served {
  child: ChildProcess
  /** With the token in the fragment, so that it opens more than once. */
  url: string
  /** As printed: with a code that works once. */
  link: string
  base: string
  token: string
  /** Everything the process wrote so far. */
  output(): string
  connect(): Promise<Client>
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
}

export interface ServeOptions {
  dataDir: string
  args?: string[]
  /** Modules to load before the server. */
  preload?: string
  env?: NodeJS.ProcessEnv
}

function start({ dataDir, args = [], preload, env = {} }: ServeOptions) {
  const command = [
    ...(preload ? ['--import', preload] : []),
    join(ROOT, 'server/start.mjs'),
    'serve',
    ...(args.includes('--port') ? [] : ['--port', '0']),
    '--no-open',
    '--data',
    dataDir,
    ...args,
  ]
  const child = spawn(process.execPath, command, {
    env: { HOME: dataDir, PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (output += data.toString()))
  const gone = once(child, 'exit').then(() => child.exitCode)
  return { child, output: () => output, gone }
}

/** Starts the server and waits until it listens; rejects with its output when it ends instead. */
export async function startServer(options: ServeOptions): Promise<Served> {
  const { child, output, gone } = start(options)
  const link = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const found = /core-web is ready: (\S+)/.exec(output())
      if (found) resolve(found[1]!)
    }
    child.stdout?.on('data', look)
    void gone.then((code) => reject(new Error(`the server ended with ${code}:\n${output()}`)))
  })
  const { base } = addressOf(link)
  const file = join(options.dataDir, 'token')
  const token = options.env?.['CORE_WEB_TOKEN'] ?? (existsSync(file) ? readFileSync(file, 'utf8').trim() : '')
  const url = token && !options.args?.includes('--no-auth') ? `${base}#token=${token}` : base
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    return gone
  }
  return {
    child,
    url,
    link,
    base,
    token,
    output,
    connect: () => Client.connect(url),
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  }
}

/** Runs a server that is expected to end by itself. */
export async function runServer(options: ServeOptions): Promise<{ code: number | null; output: string }> {
  const { output, gone } = start(options)
  const code = await gone
  return { code, output: output() }
}
