import { dirname, join } from 'node:path'
import { CoreError } from '../../wire/errors.ts'
import type { Header, LogEvent } from '../../wire/events.ts'
import { isErrno, writeFully, type Disk, type DiskFile } from './disk.ts'
import { encodeLine } from './line.ts'

export const LOG = 'log.jsonl'
export const JOURNAL = 'live.jsonl'
export const OWNER = 'owner.json'

/** Events are encoded in pieces, so that a long log never stands in memory twice as text. */
const PIECE = 2000

/** Writes header and events to a new file beside the log and syncs it; returns its length in bytes. */
export async function writeWhole(
  disk: Disk,
  path: string,
  header: Header,
  events: readonly LogEvent[],
): Promise<{ file: DiskFile; length: number }> {
  const file = await disk.open(path, 'w+')
  let length = 0
  try {
    let text = encodeLine(header)
    for (let from = 0; from < events.length || from === 0; from += PIECE) {
      for (const event of events.slice(from, from + PIECE)) text += encodeLine(event)
      const bytes = Buffer.from(text)
      await writeFully(file, bytes, length)
      length += bytes.length
      text = ''
    }
    await file.sync()
    return { file, length }
  } catch (error) {
    await file.close()
    await quietly(disk.unlink(path))
    throw error
  }
}

/** Makes a new log visible in one step; refuses to replace one that is there (SL-08). */
export async function publishNew(
  disk: Disk,
  directory: string,
  header: Header,
  events: readonly LogEvent[],
): Promise<{ file: DiskFile; length: number }> {
  const target = join(directory, LOG)
  const temporary = join(directory, `.${LOG}.new`)
  const written = await writeWhole(disk, temporary, header, events)
  try {
    await linkNew(disk, temporary, target)
    await syncUp(disk, directory)
    return written
  } catch (error) {
    await written.file.close()
    await quietly(disk.unlink(temporary))
    throw error
  }
}

async function linkNew(disk: Disk, temporary: string, target: string): Promise<void> {
  try {
    await disk.link(temporary, target)
  } catch (error) {
    if (isErrno(error, 'EEXIST')) throw new CoreError('session/conflict', `A session log already exists at ${target}.`)
    if (!isErrno(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP')) throw error
    // No hard links on this file system: the session's own directory is ours, so look and rename cannot race.
    if (await exists(disk, target))
      throw new CoreError('session/conflict', `A session log already exists at ${target}.`)
    await disk.rename(temporary, target)
    return
  }
  await disk.unlink(temporary)
}

/** Puts a rewritten log in the place of the old one. */
export async function replaceLog(
  disk: Disk,
  directory: string,
  header: Header,
  events: readonly LogEvent[],
): Promise<{ file: DiskFile; length: number }> {
  const temporary = join(directory, `.${LOG}.new`)
  const written = await writeWhole(disk, temporary, header, events)
  try {
    await disk.rename(temporary, join(directory, LOG))
    await disk.syncDirectory(directory)
    return written
  } catch (error) {
    await written.file.close()
    await quietly(disk.unlink(temporary))
    throw error
  }
}

/** The session's directory may be new, and its month's: each entry becomes durable in its parent. */
async function syncUp(disk: Disk, directory: string): Promise<void> {
  await disk.syncDirectory(directory)
  await disk.syncDirectory(dirname(directory))
  await disk.syncDirectory(dirname(dirname(directory)))
}

export async function exists(disk: Disk, path: string): Promise<boolean> {
  try {
    await disk.stat(path)
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}

/** For clean-up after a failure that is reported by itself. */
export async function quietly(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch {
    // The first error is the one that matters; this was only tidying up after it.
  }
}
