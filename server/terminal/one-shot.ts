import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { toReal } from '../sandbox/mounts.ts'
import { defineTool, type Tool, type ToolContext } from '../tool/tool.ts'
import { shellEnvironment } from './environment.ts'
import { escalationOf, escalationShape, outsideNote } from './escalation.ts'
import { runOnce } from './once.ts'
import type { Confine } from '../sandbox/confined.ts'

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

const DESCRIPTION = `Runs a command in a new bash shell and returns its output.
- Every call starts afresh in the working directory: directory changes, variables and functions do not survive it.
- Standard input is empty.
- Of a long output the end is returned; the result then names the file that holds all of it.`

const schema = z.strictObject({
  command: z.string().refine((command) => command.trim() !== '', 'must not be blank'),
  description: z.string().optional().describe('What the command does, in a few words, for the user.'),
  timeoutMs: z.int().positive().max(MAX_TIMEOUT_MS).optional().describe('Limit in milliseconds.'),
  workdir: z.string().optional().describe('Where to run; relative to the working directory.'),
  ...escalationShape,
})

/** The `bash` tool of presets without a persistent shell: each command in a shell of its own. */
export const oneShotBash = (options: OneShotOptions = {}): Tool =>
  defineTool({
    name: 'bash',
    description: options.description ?? DESCRIPTION,
    schema,
    classify: (args) => ({ class: 'command', paths: [], command: args.command, ...escalationOf(args) }),
    run({ command, timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS, workdir }, context) {
      const { admission } = context
      const named = workdir === undefined || isAbsolute(workdir) ? workdir : resolve(context.cwd, workdir)
      const outside = admission?.outside ?? false
      const shown = named ?? context.cwd
      const cwd = outside ? toReal(admission?.policy.mounts ?? [], shown) : shown
      const confine = outside ? undefined : options.confine?.(context)
      const { env = shellEnvironment(), maxOutputChars = 16_000 } = options
      return runOnce(
        {
          command,
          cwd,
          env,
          timeoutMs,
          maxOutputChars,
          ...(confine && { confine }),
          ...(outside && { note: outsideNote(cwd) }),
        },
        context,
      )
    },
  })
