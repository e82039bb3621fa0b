import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** SQLite's result code for a lock held by someone else. */
const SQLITE_BUSY = 5
const WRITER_ID = /^[0-9a-f-]{36}$/

/**
 * The proof that this process lives: an exclusive SQLite lock on a file of its own, which the system releases however the
 * process ends (SL-14). No pid is ever guessed at.
 */
export class Liveness {
  readonly id: string
  readonly #directory: string
  readonly #database: DatabaseSync

  constructor(directory: string, id: string = crypto.randomUUID()) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    this.id = id
    this.#directory = directory
    this.#database = lock(join(directory, `${id}.db`))
  }

  /** The other process's lock, taken because nobody holds it any more; null while that process lives. */
  seize(id: string): Seized | null {
    // An id from a damaged owner file must not become a path; nobody can hold a lock of that name.
    if (!WRITER_ID.test(id)) return { release: () => {} }
    const path = join(this.#directory, `${id}.db`)
    try {
      const database = lock(path)
      return { release: () => removeWhileHeld(path, database) }
    } catch (error) {
      if (isBusy(error)) return null
      throw error
    }
  }

  close(): void {
    removeWhileHeld(join(this.#directory, `${this.id}.db`), this.#database)
  }
}

export interface Seized {
  release(): void
}

function lock(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('PRAGMA journal_mode=delete; PRAGMA locking_mode=exclusive; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Unlinked before the lock goes, so that nobody can find the file unlocked; whoever still opens the old inode re-reads the owner. */
function removeWhileHeld(path: string, database: DatabaseSync): void {
  for (const file of [path, `${path}-journal`]) rmSync(file, { force: true })
  database.close()
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
