import { dirname, join, relative } from 'node:path'
import { CoreError } from '../../wire/errors.ts'
import type { Header } from '../../wire/events.ts'
import { isErrno, writeFully, type Disk } from './disk.ts'
import { detachedHeader } from './fork.ts'
import type { Places } from './places.ts'
import { exists, OWNER, quietly, replaceLog } from './publish.ts'
import { refuseDamage } from './repair.ts'
import { headerOf, loadSession, MAX_DEPTH, notFound } from './stitch.ts'

export interface TrashOptions {
  disk: Disk
  places: Places
  own: (directory: string) => Promise<void>
  disown: (directory: string) => Promise<void>
  /** Rewrites a session that is open in this process; false when it is not. */
  rewriteLive: (id: string, header: Header) => Promise<boolean>
}

/** Time of the removal, in ms since the epoch, as text. */
const REMOVED_AT = 'removed-at'

/** Removed sessions, and what has to happen to their children before they go. */
export class Trash {
  readonly #options: TrashOptions

  constructor(options: TrashOptions) {
    this.#options = options
  }

  async remove(id: string, now: number): Promise<void> {
    const { disk, places, own } = this.#options
    const directory = await places.find(id)
    if (!directory) throw notFound(id)
    await own(directory)
    try {
      await this.detachChildren(id)
    } catch (error) {
      await this.#options.disown(directory)
      throw error
    }
    const mark = await disk.open(join(directory, REMOVED_AT), 'w')
    await writeFully(mark, Buffer.from(String(now)), 0)
    await mark.close()
    await quietly(disk.unlink(join(directory, OWNER)))
    const target = join(places.trash, relative(places.sessions, directory))
    await disk.mkdir(dirname(target))
    await disk.removeTree(target)
    await disk.rename(directory, target)
    await disk.syncDirectory(dirname(target))
    places.forget(id)
  }

  async restore(id: string): Promise<void> {
    const { disk, places } = this.#options
    const directory = await places.findInTrash(id)
    if (!directory) throw notFound(id)
    const target = join(places.sessions, relative(places.trash, directory))
    if (await exists(disk, target)) {
      throw new CoreError('session/conflict', `A session ${id} exists; the removed one stays in the trash.`)
    }
    await disk.mkdir(dirname(target))
    await disk.rename(directory, target)
    await disk.syncDirectory(dirname(target))
    await quietly(disk.unlink(join(target, REMOVED_AT)))
  }

  async purge(before: number): Promise<string[]> {
    const { disk, places } = this.#options
    const purged: string[] = []
    for (const { id, directory } of await places.listTrash()) {
      const removedAt = await this.#removedAt(directory)
      if (removedAt >= before) continue
      await disk.removeTree(directory)
      purged.push(id)
    }
    return purged
  }

  /** Children whose prefix lies in this session's file get a copy of it. */
  async detachChildren(id: string): Promise<void> {
    const { disk, places } = this.#options
    for (const file of await places.list()) {
      const header = await headerOf(disk, file.directory)
      if (header?.parentSession === id && header.seedSeq !== undefined) await this.#detach(header, file.directory)
    }
  }

  /** Number of parents whose files hold the session's prefix. */
  async depthOf(id: string): Promise<number> {
    const { disk, places } = this.#options
    let depth = 0
    for (let next: string | undefined = id; next !== undefined && depth <= MAX_DEPTH; depth++) {
      const directory = await places.find(next)
      const header: Header | null = directory ? await headerOf(disk, directory) : null
      if (header?.seedSeq === undefined) return depth
      next = header.parentSession
    }
    return depth
  }

  async #detach(header: Header, directory: string): Promise<void> {
    const { disk, places, own, disown, rewriteLive } = this.#options
    if (await rewriteLive(header.id, detachedHeader(header))) return
    await own(directory)
    try {
      const loaded = await loadSession(disk, places, header.id)
      refuseDamage(header.id, loaded.damage)
      const { file } = await replaceLog(disk, directory, detachedHeader(loaded.header), loaded.events)
      await file.close()
    } finally {
      await disown(directory)
    }
  }

  async #removedAt(directory: string): Promise<number> {
    try {
      return Number((await this.#options.disk.readFile(join(directory, REMOVED_AT))).toString('utf8'))
    } catch (error) {
      // Without a mark the age is unknown, so it is not purged.
      if (isErrno(error, 'ENOENT')) return Infinity
      throw error
    }
  }
}
