import { FsError, type FsCode } from './fs.ts'

const REASONS: Record<string, [FsCode, string]> = {
  ENOENT: ['FS_NOT_FOUND', 'does not exist'],
  EEXIST: ['FS_EXISTS', 'already exists'],
  ENOTDIR: ['FS_INVALID_PATH', 'cannot be reached: a parent is not a directory'],
  EISDIR: ['FS_NOT_REGULAR_FILE', 'is a directory, not a regular file'],
  ENXIO: ['FS_NOT_REGULAR_FILE', 'is not a regular file'],
  ENAMETOOLONG: ['FS_INVALID_PATH', 'cannot be used: the name is too long'],
  ELOOP: ['FS_INVALID_PATH', 'cannot be used: too many symbolic links'],
  EINVAL: ['FS_INVALID_PATH', 'is not a usable path'],
  EACCES: ['FS_PERMISSION', 'cannot be accessed: permission denied'],
  EPERM: ['FS_PERMISSION', 'cannot be accessed: permission denied (operation not permitted)'],
  EROFS: ['FS_PERMISSION', 'cannot be written: the filesystem is read-only'],
  ETXTBSY: ['FS_PERMISSION', 'cannot be written: the program is running'],
  ENOSPC: ['FS_IO', 'cannot be written: no space left on the device'],
  EDQUOT: ['FS_IO', 'cannot be written: the disk quota is used up'],
}

export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** The typed form of what the operating system said about `path`; anything else passes through unchanged. */
export function fsError(error: unknown, path: string): unknown {
  if (error instanceof FsError) return error
  const errno = errnoOf(error)
  if (errno === undefined || !(error instanceof Error) || !('syscall' in error)) return error
  const [code, reason] = REASONS[errno] ?? ['FS_IO', `failed: ${error.message}`]
  return new FsError(code, `${path} ${reason}.`, { cause: error })
}

/** Runs `work`, turning operating system errors about `path` into FsError. */
export async function typed<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw fsError(error, path)
  }
}
