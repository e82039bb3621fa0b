import { DatabaseSync } from 'node:sqlite'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** How long one process waits for another that edits the same file (ms). */
const PATIENCE_MS = 10_000
const POLL_MS = 15
/** SQLite's primary code of a database that somebody else has locked. */
const SQLITE_BUSY = 5

export class LockTimeout extends Error {
  constructor(path: string) {
    super(`another process has held ${path} for too long. Try again, or end that process.`)
    this.name = 'LockTimeout'
  }
}

/**
 * Runs `work` while no other process, and nobody else here, holds the lock of this path. The lock is an exclusive
 * transaction on a small database: the system gives it up when its process dies, however it dies. Rejects LockTimeout.
 */
export async function withLock<T>(path: string, work: () => Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    await acquire(database, path, patienceMs)
    return await work()
  } finally {
    // Closing rolls the empty transaction back.
    database.close()
  }
}

async function acquire(database: DatabaseSync, path: string, patienceMs: number): Promise<void> {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      return database.exec('BEGIN EXCLUSIVE')
    } catch (error) {
      if (((error as { errcode?: number }).errcode ?? 0) % 256 !== SQLITE_BUSY) throw error
    }
    if (performance.now() >= until) throw new LockTimeout(path)
    await wait(POLL_MS)
  }
}
