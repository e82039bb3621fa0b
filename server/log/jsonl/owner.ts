import { hostname } from 'node:os'
import { join } from 'node:path'
import { CoreError } from '../../wire/errors.ts'
import type { Disk } from './disk.ts'
import { isErrno, writeFully } from './disk.ts'
import type { Liveness } from './liveness.ts'
import { OWNER, quietly } from './publish.ts'

export interface Owner {
  writer: string
  pid: number
  host: string
  /** Milliseconds since the epoch. */
  since: number
}

/** Other takers may win in between; each round sees a newer owner. */
const ROUNDS = 20

/**
 * Write ownership of one session directory (SL-15). `owner.json` is created exclusively; one that is there is taken over
 * only while holding the lock of the process it names. Throws `session/writer-held` when that process lives.
 */
export async function takeOwnership(disk: Disk, directory: string, liveness: Liveness, now: number): Promise<void> {
  const mine: Owner = { writer: liveness.id, pid: process.pid, host: hostname(), since: now }
  for (let round = 0; round < ROUNDS; round++) {
    if (await createOwner(disk, directory, mine)) return
    const owner = await readOwner(disk, directory)
    if (owner === null) continue
    if (owner.writer === liveness.id) return
    const seized = liveness.seize(owner.writer)
    if (seized === null) {
      if ((await readOwner(disk, directory))?.writer !== owner.writer) continue
      throw held(owner)
    }
    try {
      // Under the dead writer's lock: nobody else can be replacing its file now.
      if ((await readOwner(disk, directory))?.writer !== owner.writer) continue
      await replaceOwner(disk, directory, mine)
      return
    } finally {
      seized.release()
    }
  }
  throw new CoreError('session/writer-held', 'Other processes keep taking this session. Try again.')
}

export async function releaseOwnership(disk: Disk, directory: string, liveness: Liveness): Promise<void> {
  const owner = await readOwner(disk, directory)
  if (owner?.writer === liveness.id) await quietly(disk.unlink(join(directory, OWNER)))
}

/** Another process that holds the session now; null when nobody does, or this process. */
export async function livingOwner(disk: Disk, directory: string, liveness: Liveness): Promise<Owner | null> {
  const owner = await readOwner(disk, directory)
  if (!owner || owner.writer === liveness.id) return null
  const seized = liveness.seize(owner.writer)
  seized?.release()
  return seized ? null : owner
}

/** The named owner, or null when there is none. A file nobody can read names an owner that cannot live. */
export async function readOwner(disk: Disk, directory: string): Promise<Owner | null> {
  try {
    const value: unknown = JSON.parse((await disk.readFile(join(directory, OWNER))).toString('utf8'))
    return isOwner(value) ? value : { writer: 'unreadable', pid: 0, host: '', since: 0 }
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return null
    if (error instanceof SyntaxError) return { writer: 'unreadable', pid: 0, host: '', since: 0 }
    throw error
  }
}

const isOwner = (value: unknown): value is Owner =>
  typeof value === 'object' && value !== null && 'writer' in value && typeof value.writer === 'string'

const held = (owner: Owner): CoreError =>
  new CoreError(
    'session/writer-held',
    `This session is open for writing in process ${owner.pid} on ${owner.host} since ${new Date(owner.since).toISOString()}. ` +
      'Continue there, or stop that server.',
    { pid: owner.pid, host: owner.host, since: owner.since },
  )

/** Written aside and linked: nobody ever sees half an owner file. */
async function createOwner(disk: Disk, directory: string, owner: Owner): Promise<boolean> {
  await disk.mkdir(directory)
  const temporary = await writeAside(disk, directory, owner)
  try {
    await disk.link(temporary, join(directory, OWNER))
    return true
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    if (!isErrno(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP')) throw error
    return await createInPlace(disk, directory, owner)
  } finally {
    await quietly(disk.unlink(temporary))
  }
}

/** For file systems without hard links. */
async function createInPlace(disk: Disk, directory: string, owner: Owner): Promise<boolean> {
  try {
    const file = await disk.open(join(directory, OWNER), 'wx')
    await writeFully(file, Buffer.from(JSON.stringify(owner)), 0)
    await file.close()
    return true
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw error
  }
}

async function replaceOwner(disk: Disk, directory: string, owner: Owner): Promise<void> {
  await disk.rename(await writeAside(disk, directory, owner), join(directory, OWNER))
}

async function writeAside(disk: Disk, directory: string, owner: Owner): Promise<string> {
  const path = join(directory, `.${OWNER}.${owner.writer}`)
  const file = await disk.open(path, 'w')
  try {
    await writeFully(file, Buffer.from(JSON.stringify(owner)), 0)
    return path
  } finally {
    await file.close()
  }
}
