import { auditTree, problemLines } from './audit.ts'
import { STATE } from './kernel.ts'
import { ActivationCycleError } from './errors.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { Generation } from './generation.ts'
import type { HostLoader } from './loader.ts'

/** What is wrong with a mounted generation at this moment; undefined when it can be used. */
export function problemOf(generation: Generation): string | undefined {
  const lines = problemLines(generation.audit())
  return lines.length > 0 ? lines.join('\n') : undefined
}

/** What is wrong with a preset whose rows all run and whose dry assembly throws. */
export const unassembled = (error: unknown): string =>
  `its prompt and tools cannot be put together: ${error instanceof Error ? error.message : String(error)}`

const hostIsLoading = (loader: HostLoader): boolean =>
  [...loader.entries()].some(
    (entry) => entry._initTask !== undefined || (entry.fiber?.state as number | undefined) === STATE.LOADING,
  )

export interface Wait {
  ctx: Context
  generation: Generation
  deadlineMs: number
  /** Resolves when the declaration is withdrawn or replaced: the answer would be for nobody. */
  gone: Promise<void>
  /** The row inside whose activation somebody waits. */
  caller: string | undefined
}

/**
 * Waits while waiting would help: a row of the preset is starting, or one waits for a service and some host row is still
 * loading. Ends at the deadline at the latest (E-09). Answers what is still wrong.
 */
export async function diagnose({ ctx, generation, deadlineMs, gone, caller }: Wait): Promise<string | undefined> {
  const loader = ctx.loader as HostLoader
  const unsettled = (): boolean => {
    const states = new Set(auditTree(generation.tree).map(({ state }) => state.state))
    return states.has('starting') || (states.has('waiting') && hostIsLoading(loader))
  }
  // Nearly always: no timer, no listener.
  if (!unsettled()) return problemOf(generation)
  let over = false
  const deadline = Promise.withResolvers<void>()
  const timer = setTimeout(deadline.resolve, deadlineMs)
  const end = Promise.race([deadline.promise, gone]).then(() => (over = true))
  let moved = Promise.withResolvers<void>()
  const stop = ctx.on('internal/status', () => moved.resolve(), { global: true })
  try {
    while (!over && unsettled()) {
      if (caller !== undefined) throw new ActivationCycleError(caller, generation.id)
      moved = Promise.withResolvers<void>()
      await Promise.race([
        moved.promise,
        Promise.allSettled([...loader.getTasks(), ...generation.tree.getTasks()]),
        end,
      ])
    }
    return problemOf(generation)
  } finally {
    clearTimeout(timer)
    stop()
  }
}
