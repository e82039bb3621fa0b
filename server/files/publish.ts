import { randomBytes } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { access, link, mkdir, open, rename, rmdir, stat, unlink, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errnoOf } from './errno.ts'
import { FsError, type Target, type Version, type WriteResult } from './fs.ts'

const CHUNK = 1 << 20
const MODE_BITS = 0o7777n

export const versionOf = (info: BigIntStats): Version =>
  `${info.dev}:${info.ino}:${info.size}:${info.mtimeNs}:${info.ctimeNs}`

const swallow = (work: Promise<unknown>): Promise<void> =>
  work.then(
    () => undefined,
    () => undefined, // clearing up after a failure that is reported itself, or a directory sync that some filesystems refuse
  )

const stale = (target: Target): FsError =>
  new FsError(
    'FS_STALE_VERSION',
    `${target.path} changed since it was read; nothing was written. Read it again, then retry.`,
  )

/** Writes `bytes[from..to)` at the same offsets of the file. */
async function writeSpan(
  file: FileHandle,
  bytes: Buffer,
  span: { from: number; to: number },
  signal?: AbortSignal,
): Promise<void> {
  for (let at = span.from; at < span.to;) {
    signal?.throwIfAborted()
    const { bytesWritten } = await file.write(bytes, at, Math.min(CHUNK, span.to - at), at)
    at += bytesWritten
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  await handle.sync().finally(() => handle.close())
}

const temporaryIn = (directory: string): string => join(directory, `.core-web-${randomBytes(8).toString('hex')}.tmp`)

/** Puts `bytes` into a fresh, synced file beside the target, hands it to `publish`, and leaves nothing behind. */
async function viaTemporary<T>(
  directory: string,
  bytes: Buffer,
  options: {
    prepare?(file: FileHandle): Promise<void>
    publish(temporary: string): Promise<T>
    mode: number
    signal?: AbortSignal
  },
): Promise<T> {
  const temporary = temporaryIn(directory)
  const file = await open(temporary, 'wx', options.mode)
  try {
    try {
      await writeSpan(file, bytes, { from: 0, to: bytes.length }, options.signal)
      await options.prepare?.(file)
      await file.sync()
    } finally {
      await file.close()
    }
    options.signal?.throwIfAborted()
    return await options.publish(temporary)
  } finally {
    // After a rename the name is gone already; after a link it is the second name; after a failure it is litter.
    await swallow(unlink(temporary))
  }
}

/** The directories that would have to be made for `directory`, deepest first. */
async function missingParents(directory: string): Promise<string[]> {
  const missing: string[] = []
  for (let at = directory; ; at = dirname(at)) {
    const there = await stat(at).catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (there) return missing
    missing.push(at)
  }
}

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** For filesystems without hard links: still never clobbers, but a reader may see the file while it grows. */
async function createDirectly(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'wx')
  try {
    await writeSpan(file, bytes, { from: 0, to: bytes.length })
    await file.sync()
  } catch (error) {
    await swallow(unlink(path))
    throw error
  } finally {
    await file.close()
  }
}

/** FS_EXISTS (as EEXIST) when anything stands at the path, a dangling link included. Makes parents. */
export async function createFile(target: Target, bytes: Buffer, signal?: AbortSignal): Promise<WriteResult> {
  const directory = dirname(target.key)
  const parents = await missingParents(directory)
  try {
    if (parents.length > 0) await mkdir(directory, { recursive: true })
    await viaTemporary(directory, bytes, {
      mode: 0o666,
      signal,
      async publish(temporary) {
        await link(temporary, target.key).catch((error: unknown) => {
          if (NO_LINKS.has(errnoOf(error) ?? '')) return createDirectly(target.key, bytes)
          throw error
        })
      },
    })
  } catch (error) {
    for (const parent of parents) await swallow(rmdir(parent))
    throw error
  }
  await swallow(syncDirectory(directory))
  return { version: versionOf(await stat(target.key, { bigint: true })), notes: [] }
}

/** Bits that the write could not keep; the kernel clears them when an owner changes or an unprivileged user writes. */
function modeNotes(before: BigIntStats, after: BigIntStats): string[] {
  const lost = before.mode & MODE_BITS & ~after.mode
  if (lost === 0n) return []
  const names = [lost & 0o4000n ? 'setuid' : '', lost & 0o2000n ? 'setgid' : '', lost & 0o1777n ? 'permission' : '']
  return [`the ${names.filter((name) => name !== '').join(' and ')} bits (${lost.toString(8)}) could not be kept`]
}

/**
 * Keeps the inode: for hard links, owners and directories that a rename would lose. What grows is written first, so
 * that a full disk is noticed before one old byte is touched. Not interrupted once begun.
 */
async function replaceInPlace(target: Target, bytes: Buffer, expected: Version): Promise<WriteResult> {
  const file = await open(target.key, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const before = await file.stat({ bigint: true })
    if (versionOf(before) !== expected) throw stale(target)
    const size = Number(before.size)
    try {
      await writeSpan(file, bytes, { from: size, to: bytes.length })
    } catch (error) {
      await swallow(file.truncate(size))
      throw error
    }
    await writeSpan(file, bytes, { from: 0, to: Math.min(size, bytes.length) })
    await file.truncate(bytes.length)
    await swallow(file.chmod(Number(before.mode & MODE_BITS)))
    await file.sync()
    const after = await file.stat({ bigint: true })
    return { version: versionOf(after), notes: modeNotes(before, after) }
  } finally {
    await file.close()
  }
}

class KeepInode extends Error {}

/** Refusals of a rename that writing through the old inode does not meet: sticky directory, mount point, two devices. */
const RENAME_REFUSED = new Set(['EPERM', 'EACCES', 'EBUSY', 'EXDEV'])

async function replaceByRename(
  target: Target,
  bytes: Buffer,
  before: BigIntStats,
  signal?: AbortSignal,
): Promise<WriteResult> {
  return viaTemporary(dirname(target.key), bytes, {
    mode: 0o600,
    signal,
    async prepare(file) {
      const own = await file.stat({ bigint: true })
      if (own.uid !== before.uid || own.gid !== before.gid)
        await file.chown(Number(before.uid), Number(before.gid)).catch(() => {
          throw new KeepInode()
        })
      await file.chmod(Number(before.mode & MODE_BITS))
    },
    async publish(temporary) {
      if (versionOf(await stat(target.key, { bigint: true })) !== versionOf(before)) throw stale(target)
      await rename(temporary, target.key).catch((error: unknown) => {
        throw RENAME_REFUSED.has(errnoOf(error) ?? '') ? new KeepInode() : error
      })
      await swallow(syncDirectory(dirname(target.key)))
      const after = await stat(target.key, { bigint: true })
      return { version: versionOf(after), notes: modeNotes(before, after) }
    },
  })
}

const writable = (path: string): Promise<boolean> =>
  access(path, constants.W_OK).then(
    () => true,
    () => false,
  )

/** All or nothing. FS_STALE_VERSION when the file is no longer at `expected`, FS_PERMISSION for a read-only file. */
export async function replaceFile(
  target: Target,
  bytes: Buffer,
  expected: Version,
  signal?: AbortSignal,
): Promise<WriteResult> {
  const before = await stat(target.key, { bigint: true }).catch((error: unknown) => {
    throw errnoOf(error) === 'ENOENT' ? stale(target) : error
  })
  if (versionOf(before) !== expected) throw stale(target)
  // A rename would go through although the file itself is read-only.
  await access(target.key, constants.W_OK)
  signal?.throwIfAborted()
  if (before.nlink > 1n || !(await writable(dirname(target.key)))) return replaceInPlace(target, bytes, expected)
  try {
    return await replaceByRename(target, bytes, before, signal)
  } catch (error) {
    if (error instanceof KeepInode) return replaceInPlace(target, bytes, expected)
    throw error
  }
}
