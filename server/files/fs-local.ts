import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, readdir, stat, type FileHandle } from 'node:fs/promises'
import { errnoOf, typed } from './errno.ts'
import { FsError, type CallOptions, type DirEntry, type FileInfo, type FileKind, type Fs, type FsHooks } from './fs.ts'
import type { EditResult, Target, TextFile, TextStream, Version, WriteIntent, WriteResult } from './fs.ts'
import { never } from '../wire/never.ts'
import { serialised } from './lock.ts'
import { place } from './place.ts'
import { createFile, replaceFile, versionOf } from './publish.ts'
import { decodeText, encodeText, Utf8Pieces } from './utf8.ts'

/** Bytes. An edit holds the file several times over; larger files are read in pieces or changed in the shell. */
export const EDIT_LIMIT = 10 * 1024 * 1024
const STREAM_CHUNK = 1 << 20

interface Kinded {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

function kindOf(entry: Kinded): FileKind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'symlink' : 'other'
}

const infoOf = (info: BigIntStats): FileInfo => ({
  kind: kindOf(info),
  size: Number(info.size),
  version: versionOf(info),
  mode: Number(info.mode & 0o7777n),
  mtimeMs: Number(info.mtimeMs),
})

/** Also for a path below something that is not a directory any more. */
const absentAsUndefined = (error: unknown): undefined => {
  if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined
  throw error
}

function refuseIrregular(info: { isFile(): boolean; isDirectory(): boolean }, target: Target): void {
  if (info.isFile()) return
  const what = info.isDirectory() ? 'a directory' : 'a pipe, device or socket'
  throw new FsError('FS_NOT_REGULAR_FILE', `${target.path} is ${what}, not a regular file.`)
}

/** Never blocks: the kind is looked at before opening, and again after, on a descriptor that does not wait for a peer. */
async function openRegular(target: Target): Promise<{ file: FileHandle; info: BigIntStats }> {
  refuseIrregular(await stat(target.key), target)
  const file = await open(target.key, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const info = await file.stat({ bigint: true })
    refuseIrregular(info, target)
    return { file, info }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function readUpTo(file: FileHandle, max: number, signal?: AbortSignal): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(max)
  let length = 0
  while (length < max) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(buffer, length, Math.min(STREAM_CHUNK, max - length), length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return buffer.subarray(0, length)
}

async function readWhole(target: Target, options: { signal?: AbortSignal; maxBytes?: number }): Promise<TextFile> {
  const limit = options.maxBytes ?? EDIT_LIMIT
  const { file, info } = await openRegular(target)
  try {
    if (info.size > limit)
      throw new FsError('FS_TOO_LARGE', `${target.path} has ${info.size} bytes; at most ${limit} can be read at once.`)
    const bytes = await readUpTo(file, Number(info.size) + 1, options.signal)
    return { ...decodeText(target.path, bytes), version: versionOf(info) }
  } finally {
    await file.close()
  }
}

async function readStart(
  target: Target,
  max: number,
  signal?: AbortSignal,
): Promise<{ bytes: Buffer; version: Version }> {
  const { file, info } = await openRegular(target)
  try {
    return { bytes: await readUpTo(file, Math.min(max, Number(info.size) + 1), signal), version: versionOf(info) }
  } finally {
    await file.close()
  }
}

/** The operating system's files, nothing in between: no confinement and, without hooks, no policy. */
class LocalFs implements Fs {
  readonly #hooks: FsHooks

  constructor(hooks: FsHooks) {
    this.#hooks = hooks
  }

  resolve(path: string, cwd?: string): Promise<Target> {
    return typed(path, () => place(path, cwd))
  }

  stat(target: Target): Promise<FileInfo | undefined> {
    return typed(target.path, () => stat(target.key, { bigint: true }).then(infoOf, absentAsUndefined))
  }

  lstat(target: Target): Promise<FileInfo | undefined> {
    return typed(target.path, () => lstat(target.path, { bigint: true }).then(infoOf, absentAsUndefined))
  }

  contains(parent: Target, child: Target): boolean {
    const prefix = parent.key.endsWith('/') ? parent.key : `${parent.key}/`
    return child.key === parent.key || child.key.startsWith(prefix)
  }

  /** Reports what `read` saw: a version, or that nothing is there. */
  async #observing<T extends { version: Version }>(
    target: Target,
    session: string | undefined,
    read: () => Promise<T>,
  ): Promise<T> {
    try {
      const result = await read()
      this.#hooks.observed?.({ target, version: result.version, session })
      return result
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') this.#hooks.observed?.({ target, version: undefined, session })
      throw error
    }
  }

  readText(target: Target, options: CallOptions & { maxBytes?: number } = {}): Promise<TextFile> {
    return typed(target.path, () => this.#observing(target, options.session, () => readWhole(target, options)))
  }

  streamText(target: Target, options: CallOptions = {}): TextStream {
    const hooks = this.#hooks
    const stream = {
      bom: false,
      async *[Symbol.asyncIterator](): AsyncGenerator<string> {
        const { file, info } = await typed(target.path, () => openRegular(target)).catch((error: unknown) => {
          if (error instanceof FsError && error.code === 'FS_NOT_FOUND')
            hooks.observed?.({ target, version: undefined, session: options.session })
          throw error
        })
        const pieces = new Utf8Pieces(target.path, Number(info.size))
        const buffer = Buffer.allocUnsafe(STREAM_CHUNK)
        try {
          for (;;) {
            options.signal?.throwIfAborted()
            const { bytesRead } = await typed(target.path, () => file.read(buffer, 0, buffer.length))
            if (bytesRead === 0) break
            const piece = pieces.push(buffer.subarray(0, bytesRead))
            stream.bom = pieces.bom
            hooks.observed?.({ target, version: versionOf(info), session: options.session })
            yield piece
          }
          pieces.end()
          hooks.observed?.({ target, version: versionOf(info), session: options.session })
        } finally {
          await file.close()
        }
      },
    }
    return stream
  }

  readBytes(target: Target, max: number, options: CallOptions = {}): Promise<Uint8Array> {
    const read = (): ReturnType<typeof readStart> => readStart(target, max, options.signal)
    return typed(target.path, async () => (await this.#observing(target, options.session, read)).bytes)
  }

  listDir(target: Target, options: CallOptions = {}): Promise<DirEntry[]> {
    return typed(target.path, async () => {
      options.signal?.throwIfAborted()
      if (!(await stat(target.key)).isDirectory())
        throw new FsError('FS_INVALID_PATH', `${target.path} is not a directory.`)
      const entries = await readdir(target.key, { withFileTypes: true })
      return entries
        .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
        .sort((a, b) => byCodePoint(a.name, b.name))
    })
  }

  writeText(
    target: Target,
    file: { text: string; bom?: boolean },
    intent: WriteIntent,
    options: CallOptions = {},
  ): Promise<WriteResult> {
    return serialised(target.key, () =>
      typed(target.path, async () => {
        const { session, signal } = options
        await this.#hooks.beforeWrite?.({ target, intent, session })
        const bytes = encodeText(target.path, file.text, file.bom)
        signal?.throwIfAborted()
        const result = await this.#publish(target, bytes, intent, signal)
        this.#hooks.observed?.({ target, version: result.version, session })
        return result
      }),
    )
  }

  async #publish(target: Target, bytes: Buffer, intent: WriteIntent, signal?: AbortSignal): Promise<WriteResult> {
    switch (intent.kind) {
      case 'createIfAbsent':
        return createFile(target, bytes, signal)
      case 'replaceIfVersion': {
        const info = await stat(target.key).catch(absentAsUndefined)
        if (info) refuseIrregular(info, target)
        return replaceFile(target, bytes, intent.version, signal)
      }
      default:
        return never(intent)
    }
  }

  editText(target: Target, edit: (file: TextFile) => string, options: CallOptions = {}): Promise<EditResult> {
    return serialised(target.key, () =>
      typed(target.path, async () => {
        const { session, signal } = options
        // Unreported: looking in order to edit is not having seen the file.
        const before = await readWhole(target, options)
        await this.#hooks.beforeEdit?.({ target, version: before.version, session })
        const text = edit(before)
        const bytes = encodeText(target.path, text, before.bom)
        const { version, notes } = await replaceFile(target, bytes, before.version, signal)
        this.#hooks.observed?.({ target, version, session })
        return { before, after: { text, bom: before.bom, version }, version, notes }
      }),
    )
  }
}

/** UTF-8 order equals code-point order, which UTF-16 comparison of strings is not. */
export const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** The bare provider (O-08): it has no `sandboxMode`, and without hooks nothing stands between a call and the disk. */
export const localFs = (hooks: FsHooks = {}): Fs => new LocalFs(hooks)
