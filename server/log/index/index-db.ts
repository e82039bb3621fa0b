import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { SessionState } from '../../projection/session-state.ts'
import { columnsOf, sessionRow, type Stored } from './columns.ts'
import { likeText, searchDocs, type Hit } from './search.ts'
import { putRequests, REQUEST_SCHEMA } from './request-table.ts'
import type { RequestNote } from './requests.ts'
import type { Doc, LoggedRow, SessionRow } from './rows.ts'
import {
  spentSince,
  usageReport,
  usageTable,
  type IndexedUsage,
  type SpentRow,
  type UsageLine,
  type UsageQuery,
} from './usage.ts'

/** Raised with any change of the tables or of what is put into them: an index of another version is built anew. */
const SCHEMA_VERSION = 3

const SCHEMA = `
create table session(id text primary key, created integer, updated integer, last_seq integer, bytes integer, title text, cwd text,
  preset text, provider text, model text, status text, parent text, origin text, turns integer, tokens_in integer,
  tokens_out integer, log_size integer, log_mtime real) strict;
create index session_updated on session(updated desc, id);
create table projection(session_id text, key text, ver integer, seq integer, val text, primary key(session_id, key)) strict;
create table doc(id integer primary key, session_id text, seq integer, kind text, body text, unique(session_id, seq, kind)) strict;
create virtual table doc_text using fts5(body, content='doc', content_rowid='id', tokenize='trigram');
create trigger doc_added after insert on doc begin insert into doc_text(rowid, body) values (new.id, new.body); end;
create trigger doc_removed after delete on doc begin insert into doc_text(doc_text, rowid, body) values ('delete', old.id, old.body); end;
${REQUEST_SCHEMA}`

export interface ListQuery {
  /** From the previous page. */
  cursor?: string
  limit: number
  /** Part of title, folder or id. */
  query?: string
  /** Default: only rows that are not archived. */
  archived?: boolean
}

/** The derived database of one data folder: it may be deleted at any time and is then built again from the logs (SL-21). */
export class IndexDb {
  readonly #database: DatabaseSync

  constructor(root: string) {
    this.#database = openIndex(join(root, 'index.db'))
    // Marks are a person's doing and follow from no log, so they live beside the derived tables.
    this.#database.exec(`attach ${quoted(join(root, 'state.db'))} as state`)
    this.#database.exec(
      'create table if not exists state.session_mark(id text primary key, pinned integer not null, archived integer not null) strict',
    )
  }

  /** One transaction: a reader sees a session's row and its documents change together. */
  transaction(work: () => void): void {
    this.#database.exec('begin immediate')
    try {
      work()
      this.#database.exec('commit')
    } catch (error) {
      this.#database.exec('rollback')
      throw error
    }
  }

  /** A row that would go back behind what is stored is ignored: notices and re-reads may overtake each other. */
  putRow(row: LoggedRow): void {
    const columns = columnsOf(row)
    const names = Object.keys(columns)
    const updates = names.filter((name) => name !== 'id').map((name) => `${name}=excluded.${name}`)
    this.#run(
      `insert into session(${names.join(',')}) values (${names.map(() => '?').join(',')})
       on conflict(id) do update set ${updates.join(',')} where excluded.last_seq >= session.last_seq`,
      ...Object.values(columns),
    )
  }

  putDocs(docs: readonly Doc[]): void {
    const insert = this.#database.prepare('insert or ignore into doc(session_id, seq, kind, body) values (?,?,?,?)')
    for (const doc of docs) insert.run(doc.session, doc.seq, doc.kind, doc.body)
  }

  putRequests(notes: readonly RequestNote[]): void {
    putRequests(this.#database, notes)
  }

  putState(id: string, version: number, state: SessionState): void {
    this.#run(
      `insert into projection(session_id, key, ver, seq, val) values (?,'sessionState',?,?,?)
       on conflict do update set ver=excluded.ver, seq=excluded.seq, val=excluded.val where excluded.seq >= projection.seq`,
      id,
      version,
      state.seq,
      JSON.stringify(state),
    )
  }

  /** `seq` of the last event that the index has of a session, whole from the beginning; -1 for none. */
  seqOf(id: string, version: number): number {
    const row = this.#database
      .prepare("select seq from projection where session_id=? and key='sessionState' and ver=?")
      .get(id, version)
    return row ? Number(row['seq']) : -1
  }

  /** The cached fold, or null when there is none of this version. */
  stateOf(id: string, version: number): SessionState | null {
    const row = this.#database
      .prepare("select val from projection where session_id=? and key='sessionState' and ver=?")
      .get(id, version)
    return row ? (JSON.parse(String(row['val'])) as SessionState) : null
  }

  /** The file's size and time that the row was last checked against. */
  seen(id: string, size: number, mtime: number): void {
    this.#run('update session set log_size=?, log_mtime=?, bytes=? where id=?', size, mtime, size, id)
  }

  files(): Map<string, Stored> {
    const rows = this.#database.prepare('select id, log_size, log_mtime, last_seq from session').all()
    return new Map(
      rows.map((row) => [
        String(row['id']),
        {
          size: Number(row['log_size'] ?? -1),
          mtime: Number(row['log_mtime'] ?? -1),
          lastSeq: Number(row['last_seq']),
        },
      ]),
    )
  }

  clear(id: string): void {
    this.#run('delete from doc where session_id=?', id)
    this.#run('delete from request where session_id=?', id)
    this.#run('delete from projection where session_id=?', id)
    this.#run('delete from session where id=?', id)
  }

  mark(id: string, change: { pinned?: boolean; archived?: boolean }): void {
    const flag = (value: boolean | undefined): number | null => (value === undefined ? null : Number(value))
    this.#run(
      `insert into state.session_mark(id, pinned, archived) values (?, coalesce(?2,0), coalesce(?3,0))
       on conflict(id) do update set pinned=coalesce(?2,pinned), archived=coalesce(?3,archived)`,
      id,
      flag(change.pinned),
      flag(change.archived),
    )
  }

  get(id: string): SessionRow | null {
    const row = this.#database.prepare(`${SELECT} where s.id=?`).get(id)
    return row ? sessionRow(row) : null
  }

  list(query: ListQuery): { rows: SessionRow[]; next?: string } {
    const where = ['coalesce(m.archived,0)=?']
    const values: SQLInputValue[] = [query.archived ? 1 : 0]
    const text = query.query?.trim()
    if (text) {
      where.push("(s.title like ? escape '\\' or s.cwd like ? escape '\\' or s.id like ? escape '\\')")
      values.push(...Array.from({ length: 3 }, () => `%${likeText(text)}%`))
    }
    const after = query.cursor === undefined ? null : parseCursor(query.cursor)
    if (after) {
      where.push('(s.updated < ? or (s.updated = ? and s.id > ?))')
      values.push(after.updated, after.updated, after.id)
    }
    const sql = `${SELECT} where ${where.join(' and ')} order by s.updated desc, s.id limit ?`
    const rows = this.#database
      .prepare(sql)
      .all(...values, query.limit + 1)
      .map(sessionRow)
    const last = rows[query.limit - 1]
    if (rows.length <= query.limit || !last) return { rows }
    return { rows: rows.slice(0, query.limit), next: `${last.updated}:${last.id}` }
  }

  search(text: string, limit: number): Hit[] {
    return searchDocs(this.#database, text, limit)
  }

  usage(query: UsageQuery): IndexedUsage {
    return usageReport(this.#database, query)
  }

  usageTable(query: UsageQuery): UsageLine[] {
    return usageTable(this.#database, query)
  }

  spentSince(since: number): SpentRow[] {
    return spentSince(this.#database, since)
  }

  close(): void {
    this.#database.close()
  }

  #run(sql: string, ...values: SQLInputValue[]): void {
    this.#database.prepare(sql).run(...values)
  }
}

const SELECT = 'select s.*, m.pinned, m.archived from session s left join state.session_mark m on m.id = s.id'

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

function parseCursor(cursor: string): { updated: number; id: string } | null {
  const at = cursor.indexOf(':')
  const updated = Number(cursor.slice(0, at))
  return at > 0 && Number.isFinite(updated) ? { updated, id: cursor.slice(at + 1) } : null
}

function openIndex(path: string): DatabaseSync {
  try {
    return openCurrent(path)
  } catch (error) {
    if (isLocked(error)) throw error
    // Damaged or of another version: nothing in it is worth a repair.
    for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true })
    return openCurrent(path)
  }
}

const isLocked = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (error.errcode === 5 || error.errcode === 6)

function openCurrent(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5000 })
  try {
    database.exec('pragma journal_mode=wal; pragma synchronous=normal; pragma mmap_size=0; begin immediate')
    const version = Number(database.prepare('pragma user_version').get()?.['user_version'])
    if (version !== 0 && version !== SCHEMA_VERSION) throw new Error(`index version ${version}`)
    if (version === 0) database.exec(`${SCHEMA} pragma user_version=${SCHEMA_VERSION}`)
    database.exec('commit; pragma quick_check(1)')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
