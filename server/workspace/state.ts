import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import type { Json } from '../wire/json.ts'

/** The host's only table that is not derived from logs: small JSON values by key, safe under two processes. */
export class StateStore {
  readonly #db: DatabaseSync

  constructor(dataDir: string) {
    this.#db = new DatabaseSync(join(dataDir, 'state.db'))
    this.#db.exec('PRAGMA journal_mode=WAL; PRAGMA busy_timeout=5000; PRAGMA synchronous=NORMAL')
    this.#db.exec('CREATE TABLE IF NOT EXISTS kv (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID')
  }

  get(key: string): Json | undefined {
    const row = this.#db.prepare('SELECT value FROM kv WHERE key = ?').get(key)
    return row === undefined ? undefined : (JSON.parse(String(row.value)) as Json)
  }

  set(key: string, value: Json): void {
    this.#db
      .prepare('INSERT INTO kv (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value')
      .run(key, JSON.stringify(value))
  }

  /** Reads, changes and writes in one transaction, so that two hosts on one data folder lose nothing. */
  update<T extends Json>(key: string, change: (value: T | undefined) => T): T {
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const next = change(this.get(key) as T | undefined)
      this.set(key, next)
      this.#db.exec('COMMIT')
      return next
    } catch (error) {
      this.#db.exec('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#db.close()
  }
}
