import { z } from 'zod'
import { defineTool, type Tool, type ToolContext } from '../tool/tool.ts'
import { formatBashResult } from './format.ts'
import type { CallResult, NewShellReason, TerminalOptions } from './terminal.ts'
import type { Terminals } from './terminals.ts'

export interface PersistentBashOptions {
  terminals: Terminals
  /** What the model reads of the tool: the deployment's own text. */
  description: string
  /** Milliseconds; default that of the terminal (300000). */
  timeoutMs?: number
  /** Characters of output the model reads per call; default 16000. */
  maxOutputChars?: number
  /** Options of a new agent's terminal beside its directory: environment, sandbox, warnings. */
  terminal?(context: ToolContext): Partial<TerminalOptions>
  /** Says why the agent's first shell is not the session's first one; undefined when it is. */
  previous?(context: ToolContext): NewShellReason | undefined
}

const BashArguments = z.strictObject({
  command: z
    .string()
    .refine((command) => command.trim() !== '', 'must not be blank')
    .refine((command) => !command.includes('\0'), 'must not hold a NUL character')
    .describe('The command to run. Several lines are fine.'),
})

/** The `bash` tool: one persistent shell per agent, ended when the agent is disposed. */
export function persistentBash(options: PersistentBashOptions): Tool {
  return defineTool({
    name: 'bash',
    description: options.description,
    schema: BashArguments,
    classify: ({ command }) => ({ class: 'command', paths: [], command }),
    async run({ command }, context) {
      const result = await terminalOf(options, context).run(command, {
        signal: context.signal,
        onOutput: (text) => context.output(text),
        ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      })
      const { text, isError } = formatBashResult(result, options.maxOutputChars)
      const { end } = result
      const error = end.kind === 'refused' && { error: { code: end.code, reason: end.reason } }
      return { content: [{ type: 'text', text }], isError, ...error, meta: metaOf(result) }
    },
  })
}

function terminalOf({ terminals, terminal, previous }: PersistentBashOptions, context: ToolContext) {
  const { agent } = context
  if (terminals.has(agent.scope)) return terminals.get(agent.scope, () => ({ cwd: context.cwd }))
  const made = terminals.get(agent.scope, () => ({ cwd: context.cwd, ...terminal?.(context) }))
  agent.onClose(() => terminals.close(agent.scope))
  const reason = previous?.(context)
  if (reason) made.markPrevious(reason)
  return made
}

/** For the screen: how the call ended, as data. */
function metaOf({ end, ms }: CallResult) {
  return {
    end: end.kind,
    ms: Math.round(ms),
    ...('exitCode' in end && end.exitCode !== undefined && { exitCode: end.exitCode }),
    ...('signal' in end && end.signal !== undefined && { signal: end.signal }),
    ...('stateKept' in end && { stateKept: end.stateKept }),
  }
}
