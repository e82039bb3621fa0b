import { spawn as spawnProcess } from 'node:child_process'
import { errnoOf } from './errno.ts'
import { withoutInherited } from '../terminal/inherit.ts'
import { never } from '../wire/never.ts'
import type { Confine } from '../sandbox/confined.ts'
import type { ToolContext } from '../tool/tool.ts'

export type SearchCode = 'SEARCH_UNAVAILABLE' | 'SEARCH_TIMEOUT' | 'SEARCH_FAILED'

/** A search that gave no usable result; the message is for the model. */
export class SearchError extends Error {
  readonly code: SearchCode

  constructor(code: SearchCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SearchError'
    this.code = code
  }
}

/** Milliseconds. */
export const SEARCH_TIMEOUT = 30_000
/** Bytes of raw output after which the search is stopped and the result marked as incomplete. */
export const SEARCH_RAW_LIMIT = 20 * 1024 * 1024
const STDERR_LIMIT = 4096

const VCS = ['.git', '.hg', '.svn', '.jj', '.bzr', '.sl', 'CVS']

/** For every search: no user configuration, no version-control internals, no complaints about single files. */
export const COMMON_ARGS = ['--no-config', '--no-messages', '--hidden', '--color=never', '--null']
/** To be placed after a pattern of the caller: the later glob wins. */
export const VCS_ARGS = VCS.map((name) => `--glob=!**/${name}`)

export interface SearchWorld {
  /** Path of the ripgrep program. */
  program?(): Promise<string>
  spawn?: typeof spawnProcess
  timeoutMs?: number
  rawLimit?: number
  /** How the searches of a session are confined; absent: not at all. */
  confine?(context: ToolContext): Confine
}

export interface SearchRun extends Omit<SearchWorld, 'confine'> {
  confine?: Confine
  args: string[]
  cwd: string
  signal: AbortSignal
  /** Gets the raw output in order; true ends the search early, as complete. */
  onChunk(chunk: Buffer): boolean
}

/** The world of one call. */
export function searchWorld({
  world,
  ...context
}: ToolContext & { world: SearchWorld }): Omit<SearchWorld, 'confine'> & { confine?: Confine } {
  const { confine, ...rest } = world
  return { ...rest, ...(confine && { confine: confine(context) }) }
}

/** Some files could not be read, or the raw limit was met: what was found is right but may not be all. */
export type Completeness = 'complete' | 'unreadable-files' | 'raw-limit'

async function packagedProgram(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath
  } catch (error) {
    throw unavailable(error)
  }
}

const unavailable = (cause: unknown): SearchError =>
  new SearchError(
    'SEARCH_UNAVAILABLE',
    'The search program ripgrep is not installed on this host. Search with the shell instead.',
    {
      cause,
    },
  )

type Ending =
  | { kind: 'exit'; code: number | null }
  | { kind: 'enough' }
  | { kind: 'raw-limit' }
  | { kind: 'timeout' }
  | { kind: 'aborted' }

/**
 * One ripgrep process, ended in every case before this returns. "Nothing found" is success with no output.
 * SearchError for a missing program, a timeout, or arguments that ripgrep refuses; the signal's reason on abort.
 */
export async function ripgrep(run: SearchRun): Promise<Completeness> {
  const { signal, timeoutMs = SEARCH_TIMEOUT, rawLimit = SEARCH_RAW_LIMIT, spawn = spawnProcess } = run
  const program = await (run.program ?? packagedProgram)()
  signal.throwIfAborted()
  const argv = [program, ...run.args]
  const confined = await run.confine?.(argv, { cwd: run.cwd })
  signal.throwIfAborted()
  const [file = '', ...args] = confined?.kind === 'sandboxed' ? withoutInherited(confined.argv) : argv
  // The sandbox goes there itself: the folder may be one that only it knows by this name.
  const cwd = confined?.kind === 'sandboxed' ? '/' : run.cwd
  const child = spawn(file, args, { cwd, env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
  let ending: Ending | undefined
  const stop = (reason: Ending): void => {
    ending ??= reason
    child.kill('SIGKILL')
  }
  let raw = 0
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    if (ending) return
    raw += chunk.length
    const enough = run.onChunk(chunk)
    if (enough) stop({ kind: 'enough' })
    if (raw >= rawLimit) stop({ kind: 'raw-limit' })
  })
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(0, STDERR_LIMIT)))
  const timer = setTimeout(() => stop({ kind: 'timeout' }), timeoutMs)
  const onAbort = (): void => stop({ kind: 'aborted' })
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    return judge(ending ?? { kind: 'exit', code }, { stderr, signal, timeoutMs })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EACCES') throw unavailable(error)
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

function judge(ending: Ending, about: { stderr: string; signal: AbortSignal; timeoutMs: number }): Completeness {
  switch (ending.kind) {
    case 'enough':
      return 'complete'
    case 'raw-limit':
      return 'raw-limit'
    case 'timeout':
      throw new SearchError(
        'SEARCH_TIMEOUT',
        `The search took longer than ${about.timeoutMs / 1000} s and was stopped. Narrow the path or the pattern.`,
      )
    case 'aborted':
      throw about.signal.reason
    case 'exit':
      // What could not even be started inside of a sandbox says so and ends with the status of an empty search.
      if (ending.code === 0 || (ending.code === 1 && about.stderr === '')) return 'complete'
      // With --no-messages an unreadable file leaves only the status; anything on stderr is about the arguments.
      if (ending.code === 2 && about.stderr.trim() === '') return 'unreadable-files'
      throw new SearchError('SEARCH_FAILED', about.stderr.trim() || `The search ended with status ${ending.code}.`)
    default:
      return never(ending)
  }
}
