import { relative } from 'node:path'
import { isWithin } from '../sandbox/mounts.ts'
import { failure, type ToolContext, type ToolOutcome } from '../tool/tool.ts'
import { never } from '../wire/never.ts'
import { admittedTarget } from './admitted.ts'
import { FsError, type Fs, type Target } from './fs.ts'
import { outcome } from './outcome.ts'
import { SearchError, type Completeness } from './ripgrep.ts'

/** The place to search: `path` against the working directory, which is also the default. FS_NOT_FOUND when absent. */
export async function searchRoot(
  fs: Fs,
  path: string | undefined,
  context: ToolContext,
): Promise<{ target: Target; isDirectory: boolean }> {
  const target = await admittedTarget(fs, path ?? '.', context, context.cwd)
  const info = await fs.stat(target)
  if (!info) throw new FsError('FS_NOT_FOUND', `${target.path} does not exist.`)
  return { target, isDirectory: info.kind === 'directory' }
}

/** Keeps a search out of what is hidden from the session, the search's own folder being judged already. */
export function hiddenArgs(root: string, { admission }: Pick<ToolContext, 'admission'>): string[] {
  if (!admission || admission.policy.sandbox === 'full') return []
  const { masks, roots } = admission.policy
  return (
    masks
      .filter((mask) => isWithin(mask, root) && mask !== root)
      // A root inside a mask is the session's own again; the longest decides.
      .filter((mask) => !roots.some((own) => isWithin(root, own) && isWithin(own, mask)))
      .map((mask) => `--glob=!/${relative(root, mask).replace(/[\\*?[\]{}!]/g, '\\$&')}`)
  )
}

/** As the other tools accept it: relative below the working directory, else absolute. */
export function showPath(path: string, cwd: string): string {
  const short = relative(cwd, path)
  return short === '' || short.startsWith('..') ? path : short
}

export function remark(completeness: Completeness): string[] {
  switch (completeness) {
    case 'complete':
      return []
    case 'unreadable-files':
      return ['[some files could not be read]']
    case 'raw-limit':
      return ['[the search was stopped: too much output; narrow the pattern or the path]']
    default:
      return never(completeness)
  }
}

export const searchOutcome = (work: () => Promise<ToolOutcome>): Promise<ToolOutcome> =>
  outcome(async () => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof SearchError) return failure(error.code, error.message)
      throw error
    }
  })
