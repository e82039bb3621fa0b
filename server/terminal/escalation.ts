import { z } from 'zod'

/** The two parameters by which a call asks to run outside of what confines its session. */
export const escalationShape = {
  sandbox_permissions: z
    .literal('require_escalated')
    .optional()
    .describe('Asks a person to let this one command run outside of the sandbox. Only where it cannot work inside.'),
  justification: z
    .string()
    .max(1000)
    .optional()
    .describe(
      'With sandbox_permissions: why the command has to run outside, in a sentence for the person who decides.',
    ),
}

interface Escalation {
  sandbox_permissions?: 'require_escalated' | undefined
  justification?: string | undefined
}

/** What the gate is told: the reason, where the call asks for it. */
export function escalationOf({ sandbox_permissions: asked, justification = '' }: Escalation): { escalate?: string } {
  if (asked === undefined) return {}
  return { escalate: justification.trim() === '' ? 'it gives no reason.' : justification.trim() }
}

/** The head of a result that was not confined. */
export const outsideNote = (cwd: string): string => `[ran outside of the sandbox, this once, in ${cwd}]`
