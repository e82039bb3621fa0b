import { z } from 'zod'
import { toReal } from '../sandbox/mounts.ts'
import { defineTool, type Tool, type ToolContext, type ToolOutcome } from '../tool/tool.ts'
import { shellEnvironment } from './environment.ts'
import { escalationOf, escalationShape, outsideNote } from './escalation.ts'
import { formatBashResult } from './format.ts'
import { runOnce } from './once.ts'
import { keepSpill, spillPlace } from './spill.ts'
import type { CallResult, NewShellReason } from './result.ts'
import type { Terminal, TerminalOptions } from './terminal.ts'
import type { Terminals } from './terminals.ts'

export interface PersistentBashOptions {
  terminals: Terminals
  /** What the model reads of the tool: the deployment's own text. */
  description: string
  /** Milliseconds; default 300000. */
  timeoutMs?: number
  /** Characters of output the model reads per call; default 16000. */
  maxOutputChars?: number
  /** Parameters beside `command` that the model gets; none by default. */
  extras?: readonly Extra[]
  /** Options of a new agent's terminal beside its directory: environment, sandbox, warnings. */
  terminal?(context: ToolContext): Partial<TerminalOptions>
  /** Says why the agent's first shell is not the session's first one; undefined when it is. */
  previous?(context: ToolContext): NewShellReason | undefined
}

/** `timeout_ms` is capped by the configured limit. */
export const EXTRAS = ['restart', 'timeout_ms', 'escalate'] as const
export type Extra = (typeof EXTRAS)[number]

const DEFAULT_TIMEOUT_MS = 300_000
const DEFAULT_OUTPUT_CHARS = 16_000

const command = z
  .string()
  .refine((text) => text.trim() !== '', 'must not be blank')
  .refine((text) => !text.includes('\0'), 'must not hold a NUL character')
  .describe('The command to run. Several lines are fine.')
const restart = z.boolean().optional().describe('True: the shell is ended, and the command runs in a new one.')
const timeout_ms = z.int().positive().optional().describe('Limit in milliseconds, below the usual one.')

const full = z.strictObject({ command, restart, timeout_ms, ...escalationShape })
type Arguments = z.output<typeof full>

function schemaOf(extras: readonly Extra[]): z.ZodType<Arguments> {
  const shape = {
    command,
    ...(extras.includes('restart') && { restart }),
    ...(extras.includes('timeout_ms') && { timeout_ms }),
    ...(extras.includes('escalate') && escalationShape),
  }
  return z.strictObject(shape) as unknown as z.ZodType<Arguments>
}

/** The `bash` tool: one persistent shell per agent, ended when the agent is disposed. */
export function persistentBash(options: PersistentBashOptions): Tool {
  const { extras = [], timeoutMs: most = DEFAULT_TIMEOUT_MS, maxOutputChars = DEFAULT_OUTPUT_CHARS } = options
  return defineTool({
    name: 'bash',
    description: options.description,
    schema: schemaOf(extras),
    classify: (args) => ({ class: 'command', paths: [], command: args.command, ...escalationOf(args) }),
    async run(args, context) {
      const terminal = terminalOf(options, context)
      const timeoutMs = Math.min(args.timeout_ms ?? most, most)
      if (context.admission?.outside) return outside(terminal, context, { ...args, timeoutMs, maxOutputChars })
      if (args.restart) await terminal.replace('restart')
      const result = await terminal.run(args.command, {
        callId: context.callId,
        signal: context.signal,
        timeoutMs,
        onOutput: (text) => context.output(text),
        spill: { from: maxOutputChars, place: (files) => spillPlace(context.agent, context.callId, files) },
      })
      if (result.spill) keepSpill(context.agent, result.spill)
      const { text, isError } = formatBashResult(result, maxOutputChars)
      const { end } = result
      const error = end.kind === 'refused' && { error: { code: end.code, reason: end.reason } }
      return { content: [{ type: 'text', text }], isError, ...error, meta: metaOf(result) }
    },
  })
}

/** A shell cannot leave what confines it, so such a call is a process of its own, where the shell is and with what it exports. */
async function outside(
  terminal: Terminal,
  context: ToolContext,
  run: { command: string; timeoutMs: number; maxOutputChars: number },
): Promise<ToolOutcome> {
  const shell = await terminal.exports(context.signal)
  const mounts = context.admission?.policy.mounts ?? []
  const cwd = toReal(mounts, shell?.cwd ?? context.cwd)
  const unread = terminal.pid !== undefined && !shell ? '; its variables could not be read' : ''
  const own = `[it was a process of its own: the shell’s directory, variables and jobs are as before${unread}]`
  const note = `${outsideNote(cwd)}\n${own}`
  const { command, timeoutMs, maxOutputChars } = run
  return runOnce({ command, cwd, env: shell?.env ?? shellEnvironment(), timeoutMs, maxOutputChars, note }, context)
}

function terminalOf({ terminals, terminal, previous }: PersistentBashOptions, context: ToolContext): Terminal {
  const { agent } = context
  if (terminals.has(agent.scope)) return terminals.get(agent.scope, () => ({ cwd: context.cwd }))
  const made = terminals.get(agent.scope, () => ({ cwd: context.cwd, ...terminal?.(context) }))
  agent.onClose(() => terminals.close(agent.scope))
  const reason = previous?.(context)
  if (reason) made.markPrevious(reason)
  return made
}

/** For the screen: how the call ended, as data. */
function metaOf({ end, ms, spill }: CallResult) {
  return {
    end: end.kind,
    ms: Math.round(ms),
    ...('exitCode' in end && end.exitCode !== undefined && { exitCode: end.exitCode }),
    ...('signal' in end && end.signal !== undefined && { signal: end.signal }),
    ...('stateKept' in end && { stateKept: end.stateKept }),
    ...(spill && { spill: spill.real }),
  }
}
