import type { ToolContext } from '../tool/tool.ts'
import { toReal, toShown } from '../sandbox/mounts.ts'
import { FsError, type Fs, type Target } from './fs.ts'

/**
 * The place of a path that a call names. Where the host judged the call it is the judged place: what is shown to the session
 * under another path is found there, and a place that moved since is refused.
 */
export async function admittedTarget(
  fs: Fs,
  path: string,
  { admission, cwd }: Pick<ToolContext, 'admission' | 'cwd'>,
  /** Absent: relative paths are refused. */
  base?: string,
): Promise<Target> {
  const judged = admission?.paths.find(([given]) => given === path)?.[1]
  if (!admission || judged === undefined) return fs.resolve(path, base)
  const { mounts } = admission.policy
  const mapped = path.startsWith('/') ? toReal(mounts, path) : toReal(mounts, `${base ?? cwd}/${path}`)
  const shown = toShown(mounts, mapped)
  const target = shown === mapped ? await fs.resolve(path, base) : await fs.resolve(judged)
  if (target.key !== judged)
    throw new FsError('FS_SANDBOX_DENIED', `${path} leads elsewhere than when this call was allowed. Nothing was done.`)
  return { key: target.key, path: toShown(mounts, target.path) }
}
