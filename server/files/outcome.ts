import { failure, type ToolContext, type ToolOutcome } from '../tool/tool.ts'
import { FsError, type CallOptions } from './fs.ts'

/** An argument that has the right type and still cannot be meant; the message names it. */
export class ArgumentError extends Error {}

/** Turns the expected refusals of `work` into error outcomes; a bug or an abort passes through. */
export async function outcome(work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FsError) return failure(error.code, error.message)
    if (error instanceof ArgumentError) return failure('TOOL_ARGUMENTS_INVALID', error.message)
    throw error
  }
}

export const callOptions = (context: ToolContext): CallOptions & { signal: AbortSignal; session: string } => ({
  signal: context.signal,
  session: context.agent.id,
})

export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`
