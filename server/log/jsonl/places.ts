import { isAbsolute, join } from 'node:path'
import { CoreError } from '../../wire/errors.ts'
import { isSessionId } from '../../wire/ids.ts'
import type { Header } from '../../wire/events.ts'
import { isErrno, type Disk } from './disk.ts'
import { exists, LOG } from './publish.ts'

export interface SessionFile {
  id: string
  directory: string
  /** Of `log.jsonl`, in bytes. */
  size: number
  mtimeMs: number
}

const MONTH = /^\d{4}-\d{2}$/

/** Refuses an id that could leave the data folder, and a working directory that depends on where the server was started. */
export function checkHeader(header: Header): void {
  if (!isSessionId(header.id)) {
    throw new CoreError('gateway/bad-request', 'A session id has 1 to 128 of A-Z a-z 0-9 _ -.')
  }
  if (header.cwd !== undefined && !isAbsolute(header.cwd)) {
    throw new CoreError('workspace/invalid', `The working directory ${header.cwd} is not an absolute path.`)
  }
}

/** Where sessions lie: grouped by month of creation, because a working directory is data and may be renamed or secret. */
export class Places {
  readonly root: string
  readonly #disk: Disk
  /** Found once, a session stays in its directory until it is removed. */
  readonly #known = new Map<string, string>()

  constructor(disk: Disk, root: string) {
    this.#disk = disk
    this.root = root
  }

  get sessions(): string {
    return join(this.root, 'sessions')
  }

  get trash(): string {
    return join(this.root, 'trash')
  }

  directoryFor(header: Header): string {
    return join(this.sessions, new Date(header.createdAt).toISOString().slice(0, 7), header.id)
  }

  forget(id: string): void {
    this.#known.delete(id)
  }

  /** The directory that holds the session's log, or null. */
  async find(id: string): Promise<string | null> {
    if (!isSessionId(id)) return null
    const known = this.#known.get(id)
    if (known && (await exists(this.#disk, join(known, LOG)))) return known
    const found = await this.#search(this.sessions, id)
    if (found) this.#known.set(id, found)
    return found
  }

  async findInTrash(id: string): Promise<string | null> {
    return isSessionId(id) ? this.#search(this.trash, id) : null
  }

  async list(): Promise<SessionFile[]> {
    return this.#listIn(this.sessions)
  }

  async listTrash(): Promise<SessionFile[]> {
    return this.#listIn(this.trash)
  }

  async #search(base: string, id: string): Promise<string | null> {
    for (const month of await this.#months(base)) {
      const directory = join(base, month, id)
      if (await exists(this.#disk, join(directory, LOG))) return directory
    }
    return null
  }

  async #listIn(base: string): Promise<SessionFile[]> {
    const files: SessionFile[] = []
    for (const month of await this.#months(base)) {
      for (const id of (await this.#names(join(base, month))).filter(isSessionId)) {
        const file = await this.#file(id, join(base, month, id))
        if (file) files.push(file)
      }
    }
    return files
  }

  async #file(id: string, directory: string): Promise<SessionFile | null> {
    try {
      const { size, mtimeMs } = await this.#disk.stat(join(directory, LOG))
      return { id, directory, size, mtimeMs }
    } catch (error) {
      // Removed meanwhile, never published, or unreadable: the other sessions are listed all the same.
      if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return null
      throw error
    }
  }

  async #months(base: string): Promise<string[]> {
    return (await this.#names(base))
      .filter((name) => MONTH.test(name))
      .sort()
      .toReversed()
  }

  async #names(directory: string): Promise<string[]> {
    try {
      return await this.#disk.readdir(directory)
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return []
      throw error
    }
  }
}
