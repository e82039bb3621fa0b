import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { failure, type ToolContext, type ToolOutcome } from '../tool/tool.ts'
import { never } from '../wire/never.ts'
import { cleanText } from './clean.ts'
import { withoutInherited } from './inherit.ts'
import { commandName, descendants, signalProcess } from './process.ts'
import { keepSpill, Spill, spillPlace, spillText, type SpillPlace } from './spill.ts'
import type { Confine } from '../sandbox/confined.ts'

export interface OnceRun {
  command: string
  cwd: string
  env: Record<string, string>
  /** Milliseconds. */
  timeoutMs: number
  /** Characters of output the model reads; the end is kept. */
  maxOutputChars: number
  /** Absent: it runs bare. */
  confine?: Confine
  /** Stands before the output. */
  note?: string
}

/** Between asking a command to end and ending it. */
const TERM_GRACE_MS = 2000
/** After the shell has ended, for what a child that it left behind has already written. */
const DRAIN_MS = 100
/** One stream for both, so that the order of the lines is the real one. */
const MERGE = 'exec 2>&1; '

type End =
  { kind: 'exit'; code: number | null; signal: NodeJS.Signals | null } | { kind: 'timeout' } | { kind: 'cancelled' }

/** The last `limit` characters of a stream, and all of it in a file once it is longer. */
class Output {
  readonly #limit: number
  readonly #spill: Spill
  readonly #decoder = new TextDecoder()
  #tail = ''
  #cut = false

  constructor(limit: number, place: () => SpillPlace) {
    this.#limit = limit
    const line = (text: string) => text.replaceAll(MERGE, '')
    this.#spill = new Spill({ from: limit, place, scrub: { mark: MERGE, line } })
  }

  take(chunk: Buffer): string {
    this.#spill.push(chunk)
    const text = this.#decoder.decode(chunk, { stream: true })
    this.#tail += text
    if (this.#tail.length > this.#limit) this.#cut = true
    if (this.#tail.length > 2 * this.#limit) this.#tail = this.#tail.slice(-this.#limit)
    return text
  }

  end() {
    const tail = this.#cut ? this.#tail.slice(-this.#limit) : this.#tail
    // A cut inside a line would show half of an escape sequence or of a character.
    return {
      text: this.#cut ? tail.slice(tail.indexOf('\n') + 1) : tail,
      cut: this.#cut,
      spill: this.#spill.end(this.#cut),
    }
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) signalProcess(-child.pid, signal)
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

/** Runs a command in a bash of its own, confined or bare, until its end or its limit. What goes wrong is an outcome. */
export async function runOnce(run: OnceRun, context: ToolContext): Promise<ToolOutcome> {
  const { cwd, timeoutMs, confine } = run
  const argv = ['/bin/bash', '-c', `${MERGE}${run.command}`]
  const confined = (await confine?.(argv, { cwd })) ?? ({ kind: 'bare' } as const)
  if (confined.kind === 'refused') return failure(confined.code, `[not run] ${confined.reason}`)
  const sandboxed = confined.kind === 'sandboxed'
  const files = sandboxed ? confined.files : undefined
  const output = new Output(run.maxOutputChars, () => spillPlace(context.agent, context.callId, files))
  const [file = '', ...args] = withoutInherited(sandboxed ? confined.argv : argv)
  const began = performance.now()
  const limit = Promise.withResolvers<End>()
  const timer = setTimeout(() => limit.resolve({ kind: 'timeout' }), timeoutMs)
  const cancel = (): void => limit.resolve({ kind: 'cancelled' })
  context.signal.addEventListener('abort', cancel, { once: true })
  if (context.signal.aborted) cancel()
  try {
    const child = spawn(file, args, {
      // The sandbox goes there itself: the folder may be one that only it knows by this name.
      cwd: sandboxed ? '/' : cwd,
      env: run.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const end = await ended(child, limit.promise, { sandboxed, take: (chunk) => context.output(output.take(chunk)) })
    return outcomeOf(end, output, { ...run, context, ms: performance.now() - began })
  } catch (error) {
    output.end()
    return failure('COMMAND_NOT_STARTED', `The command could not be started in ${cwd}: ${(error as Error).message}`)
  } finally {
    clearTimeout(timer)
    context.signal.removeEventListener('abort', cancel)
  }
}

async function ended(
  child: ChildProcess,
  limit: Promise<End>,
  { sandboxed, take }: { sandboxed: boolean; take(chunk: Buffer): void },
): Promise<End> {
  child.stdout?.on('data', take)
  child.stderr?.on('data', take)
  const closed = new Promise<void>((done) => child.once('close', () => done()))
  const exited = new Promise<End>((done, fail) => {
    child.once('error', fail)
    child.once('exit', (code, signal) => done({ kind: 'exit', code, signal }))
  })
  const end = await Promise.race([exited, limit])
  if (end.kind !== 'exit') await stop(child, exited, sandboxed)
  // A background child keeps the pipe open; it goes on, its later output does not belong to this call.
  await Promise.race([closed, delay(DRAIN_MS, undefined, { ref: false })])
  child.stdout?.destroy()
  child.stderr?.destroy()
  return end
}

function outcomeOf(
  end: End,
  output: Output,
  { timeoutMs, note, context, ms }: OnceRun & { context: ToolContext; ms: number },
): ToolOutcome {
  const { text, cut, spill } = output.end()
  if (spill) keepSpill(context.agent, spill)
  const where = spill ? `; ${spillText(spill)}` : ''
  const parts = [
    note ?? '',
    cut ? `[only the end of the output follows${where}]` : '',
    cleanText(text).replaceAll(MERGE, '').trimEnd(),
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
      ...(spill && { spill: spill.real }),
      ...(context.admission?.outside && { outside: true }),
    },
  }
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
