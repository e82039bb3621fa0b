import { realpath as realpathOf, stat } from 'node:fs/promises'
import { isAbsolute, join, posix } from 'node:path'
import { errnoOf, fsError } from './errno.ts'
import { FsError, type Target } from './fs.ts'

/** Linux limits, in bytes: NAME_MAX, and PATH_MAX without its final NUL. */
const NAME_MAX = 255
const PATH_MAX = 4095

function checkForm(path: string): void {
  if (path.trim() === '') throw new FsError('FS_INVALID_PATH', 'The path is empty: give an absolute path.')
  if (path.includes('\0')) throw new FsError('FS_INVALID_PATH', 'The path has a NUL character, which no path can have.')
  if (!path.isWellFormed()) throw new FsError('FS_INVALID_PATH', 'The path is not well-formed Unicode.')
  const name = path.split('/').find((part) => Buffer.byteLength(part) > NAME_MAX)
  if (name !== undefined)
    throw new FsError(
      'FS_INVALID_PATH',
      `A name in the path is too long: ${name.slice(0, 40)}… (at most ${NAME_MAX} bytes).`,
    )
  if (Buffer.byteLength(path) > PATH_MAX)
    throw new FsError('FS_INVALID_PATH', `The path is too long: ${path.slice(0, 40)}… (at most ${PATH_MAX} bytes).`)
}

const isDirectory = async (path: string): Promise<boolean> => (await stat(path)).isDirectory()

/**
 * The real path of the deepest existing ancestor plus what does not exist yet. Asks the kernel about the path as
 * spelled: `link/..` is the parent of the link's target, as a shell would see it, not the directory holding the link.
 */
async function realPlace(path: string): Promise<string> {
  const parts = path.split('/').filter((part) => part !== '')
  for (let kept = parts.length; kept >= 0; kept--) {
    const prefix = `/${parts.slice(0, kept).join('/')}`
    const real = await realpathOf(prefix).catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined
      throw fsError(error, path)
    })
    if (real === undefined) continue
    const mustBeDirectory = kept < parts.length || path.endsWith('/')
    if (mustBeDirectory && !(await isDirectory(real)))
      throw new FsError(
        'FS_INVALID_PATH',
        `${path} cannot be reached: ${prefix} is a file; the parent is not a directory.`,
      )
    const rest = parts.slice(kept)
    const place = join(real, ...rest)
    // `..` after a name that does not exist may lead back to one that does, and that may be a link.
    return rest.includes('..') ? realPlace(path.endsWith('/') ? `${place}/` : place) : place
  }
  throw new FsError('FS_NOT_FOUND', `${path} does not exist.`)
}

/** Absolute path, or relative to `cwd` when given. FS_INVALID_PATH for forms that can name nothing. */
export async function place(path: string, cwd?: string): Promise<Target> {
  checkForm(path)
  if (!isAbsolute(path) && cwd === undefined)
    throw new FsError(
      'FS_INVALID_PATH',
      `${path} is not an absolute path. Did you mean /${path.replace(/^(\.\/)+/, '')}?`,
    )
  const full = isAbsolute(path) ? path : `${cwd}/${path}`
  const key = await realPlace(full)
  const normal = posix.normalize(full)
  // Behind a link, `..` is not what the text suggests; then only the real path tells where the target is.
  const misleading = full.split('/').includes('..') && (await realPlace(normal)) !== key
  return { key, path: misleading ? key : normal }
}
