import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { defineTool, failure } from '../tool/tool.ts'
import { never } from '../wire/never.ts'
import { cleanText } from './clean.ts'
import { shellEnvironment } from './environment.ts'
import { withoutInherited } from './inherit.ts'
import { commandName, descendants, signalProcess } from './process.ts'
import type { ChildProcess } from 'node:child_process'
import type { Confine } from '../sandbox/confined.ts'
import type { WriteStream } from 'node:fs'
import type { AgentFacts, Tool, ToolContext, ToolOutcome } from '../tool/tool.ts'

export interface OneShotOptions {
  description?: string
  /** Milliseconds a command may run when the call names no limit; default 120000. */
  timeoutMs?: number
  /** Characters of output the model reads; default 16000. The end is kept. */
  maxOutputChars?: number
  env?: Record<string, string>
  /** Asked for each command: how it is confined, or that it may not run. */
  confine?(context: ToolContext): Confine
}

const DEFAULT_TIMEOUT_MS = 120_000
const MAX_TIMEOUT_MS = 600_000
/** Between asking a command to end and ending it. */
const TERM_GRACE_MS = 2000
/** After the shell has ended, for what a child that it left behind has already written. */
const DRAIN_MS = 100
/** Bytes of one command's output that are kept on disk. */
const SPILL_BYTES = 50 * 1024 * 1024

const DESCRIPTION = `Runs a command in a new bash shell and returns its output.
- Every call starts afresh in the working directory: directory changes, variables and functions do not survive it.
- Standard input is empty.
- Of a long output the end is returned; the result then names the file that holds all of it.`

const schema = z.strictObject({
  command: z.string().refine((command) => command.trim() !== '', 'must not be blank'),
  description: z.string().optional().describe('What the command does, in a few words, for the user.'),
  timeoutMs: z.int().positive().max(MAX_TIMEOUT_MS).optional().describe('Limit in milliseconds.'),
  workdir: z.string().optional().describe('Where to run; relative to the working directory.'),
})

type End =
  { kind: 'exit'; code: number | null; signal: NodeJS.Signals | null } | { kind: 'timeout' } | { kind: 'cancelled' }

/** The last `limit` characters of a stream, and all of it in a file once it is longer. */
class Output {
  readonly #limit: number
  readonly #decoder = new TextDecoder()
  #tail = ''
  #bytes = 0
  #spill: WriteStream | undefined
  path: string | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  async take(chunk: Buffer, place: () => Promise<SpillPlace>): Promise<string> {
    const text = this.#decoder.decode(chunk, { stream: true })
    this.#bytes += chunk.length
    if (!this.#spill && this.#tail.length + text.length > this.#limit) {
      const { shown, real } = await place()
      this.path = shown
      // Exclusive: a command may have laid a link of this name into its own folder.
      this.#spill = createWriteStream(real, { mode: 0o600, flags: 'wx' })
      // Losing the copy on disk must not lose the call; the tail in memory is the result.
      this.#spill.on('error', () => (this.path = undefined))
      this.#spill.write(this.#tail)
    }
    if (this.#bytes <= SPILL_BYTES) this.#spill?.write(chunk)
    this.#tail = (this.#tail + text).slice(-2 * this.#limit)
    return text
  }

  async end(): Promise<{ text: string; cut: boolean }> {
    if (this.#spill) await new Promise<void>((done) => this.#spill!.end(done))
    const cut = this.#spill !== undefined
    const tail = cut ? this.#tail.slice(-this.#limit) : this.#tail
    // A cut inside a line would show half of an escape sequence or of a character.
    return { text: cut ? tail.slice(tail.indexOf('\n') + 1) : tail, cut }
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // The group is gone already.
  }
}

/** A sandbox would end at once and take its commands along: they are asked one by one. */
function askToEnd(child: ChildProcess, sandboxed: boolean): void {
  if (!sandboxed || child.pid === undefined) return signalGroup(child, 'SIGTERM')
  for (const pid of descendants(child.pid)) if (commandName(pid) !== 'bwrap') signalProcess(pid, 'SIGTERM')
}

async function stop(child: ChildProcess, exited: Promise<unknown>, sandboxed: boolean): Promise<void> {
  askToEnd(child, sandboxed)
  await Promise.race([exited, delay(TERM_GRACE_MS, undefined, { ref: false })])
  signalGroup(child, 'SIGKILL')
  await exited
}

function noteOf(end: End, timeoutMs: number): string | undefined {
  switch (end.kind) {
    case 'timeout':
      return `[timed out after ${timeoutMs} ms; the command was ended]`
    case 'cancelled':
      return '[cancelled; the command was ended]'
    case 'exit':
      if (end.signal) return `[killed by signal: ${end.signal}]`
      return end.code === 0 ? undefined : `[exit code: ${end.code}]`
    default:
      return never(end)
  }
}

// The folder of an agent's long outputs, made with the first one and removed with the agent.
const folders = new WeakMap<AgentFacts, Promise<string>>()

interface SpillPlace {
  shown: string
  real: string
}

/** In a sandbox a folder that its commands see; of a plain name there, so that no folder on the way can be exchanged. */
async function spillPlace({ agent, callId }: ToolContext, files: SpillPlace | undefined): Promise<SpillPlace> {
  const name = `${callId.replaceAll(/[^\w-]/g, '_')}-${randomBytes(4).toString('hex')}.log`
  if (files) return { shown: join(files.shown, name), real: join(files.real, name) }
  const path = join(await spillFolder(agent), name)
  return { shown: path, real: path }
}

function spillFolder(agent: AgentFacts): Promise<string> {
  const known = folders.get(agent)
  if (known) return known
  const made = mkdtemp(join(tmpdir(), 'core-web-output-'))
  folders.set(agent, made)
  agent.onClose(async () => rm(await made, { recursive: true, force: true }))
  return made
}

async function run(
  { command, workdir, timeoutMs }: z.output<typeof schema> & { timeoutMs: number },
  context: ToolContext,
  options: OneShotOptions,
): Promise<ToolOutcome> {
  const cwd = workdir === undefined || isAbsolute(workdir) ? (workdir ?? context.cwd) : resolve(context.cwd, workdir)
  // One stream for both, so that the order of the lines is the real one.
  const argv = ['/bin/bash', '-c', `exec 2>&1; ${command}`]
  const confined = (await options.confine?.(context)(argv, { cwd })) ?? ({ kind: 'bare' } as const)
  if (confined.kind === 'refused') return failure(confined.code, `[not run] ${confined.reason}`)
  const sandboxed = confined.kind === 'sandboxed'
  const [file = '', ...args] = withoutInherited(sandboxed ? confined.argv : argv)
  const child = spawn(file, args, {
    // The sandbox goes there itself: the folder may be one that only it knows by this name.
    cwd: sandboxed ? '/' : cwd,
    env: options.env ?? shellEnvironment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = new Output(options.maxOutputChars ?? 16_000)
  let taken = Promise.resolve()
  const take = (chunk: Buffer): void => {
    taken = taken
      .then(() => output.take(chunk, () => spillPlace(context, sandboxed ? confined.files : undefined)))
      .then((text) => context.output(text))
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  const closed = new Promise<void>((done) => child.once('close', () => done()))
  const exited = new Promise<End>((done, fail) => {
    child.once('error', fail)
    child.once('exit', (code, signal) => done({ kind: 'exit', code, signal }))
  })
  const began = performance.now()
  const limit = Promise.withResolvers<End>()
  const timer = setTimeout(() => limit.resolve({ kind: 'timeout' }), timeoutMs)
  const cancel = (): void => limit.resolve({ kind: 'cancelled' })
  context.signal.addEventListener('abort', cancel, { once: true })
  if (context.signal.aborted) cancel()
  try {
    const end = await Promise.race([exited, limit.promise])
    if (end.kind !== 'exit') await stop(child, exited, sandboxed)
    // A background child keeps the pipe open; it goes on, its later output does not belong to this call.
    await Promise.race([closed, delay(DRAIN_MS, undefined, { ref: false })])
    child.stdout.destroy()
    child.stderr.destroy()
    await taken
    return await outcomeOf(end, output, { timeoutMs, ms: performance.now() - began })
  } catch (error) {
    const reason = `The command could not be started in ${cwd}: ${(error as Error).message}`
    return { content: [{ type: 'text', text: reason }], isError: true, error: { code: 'COMMAND_NOT_STARTED', reason } }
  } finally {
    clearTimeout(timer)
    context.signal.removeEventListener('abort', cancel)
  }
}

async function outcomeOf(
  end: End,
  output: Output,
  { timeoutMs, ms }: { timeoutMs: number; ms: number },
): Promise<ToolOutcome> {
  const { text, cut } = await output.end()
  const where = output.path === undefined ? '' : `; all of it is in ${output.path}`
  const parts = [
    ...(cut ? [`[only the end of the output follows${where}]`] : []),
    cleanText(text).replaceAll('exec 2>&1; ', '').trimEnd(),
    noteOf(end, timeoutMs) ?? '',
  ].filter((part) => part !== '')
  // An exit code is for the model to judge; an error is what kept the command from ending by itself.
  const failed = end.kind !== 'exit' || end.signal !== null
  return {
    content: [{ type: 'text', text: parts.join('\n') || '[no output]' }],
    ...(failed && { isError: true }),
    meta: {
      end: end.kind,
      ms: Math.round(ms),
      ...(end.kind === 'exit' && end.code !== null && { exitCode: end.code }),
    },
  }
}

/** The `bash` tool of presets without a persistent shell: each command in a shell of its own. */
export const oneShotBash = (options: OneShotOptions = {}): Tool =>
  defineTool({
    name: 'bash',
    description: options.description ?? DESCRIPTION,
    schema,
    classify: ({ command }) => ({ class: 'command', paths: [], command }),
    run: (args, context) =>
      run({ ...args, timeoutMs: args.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS }, context, options),
  })
