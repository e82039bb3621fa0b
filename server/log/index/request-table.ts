import type { DatabaseSync } from 'node:sqlite'
import { REQUEST_COLUMNS, type RequestNote } from './requests.ts'

/** Derived from the logs like everything in this database. `at` in ms since the epoch, money in US dollars, times in ms. */
export const REQUEST_SCHEMA = `
create table request(session_id text, seq integer, at integer, provider text, model text, kind text, input real,
  cache_read real, cache_write real, output real, reasoning real, cost_input real, cost_cache_read real,
  cost_cache_write real, cost_output real, saved real, priced integer, failed integer, first_ms real, ms real,
  retried integer not null default 0, primary key(session_id, seq)) strict;
create index request_at on request(at);
`

const INSERT = `insert or ignore into request(session_id, seq, at, ${REQUEST_COLUMNS.join(', ')})
  values (?,?,?,${REQUEST_COLUMNS.map(() => '?').join(',')})`

/** The request that was tried again is the latest failed one before. */
const RETRIED = `update request set retried=1 where session_id=?1 and seq=
  (select max(seq) from request where session_id=?1 and seq<?2 and kind='turn' and failed=1)`

/** Notes of one session come in the order of their log; one that is there already is passed over. */
export function putRequests(database: DatabaseSync, notes: readonly RequestNote[]): void {
  if (notes.length === 0) return
  const insert = database.prepare(INSERT)
  const retried = database.prepare(RETRIED)
  const inherited = database.prepare('delete from request where session_id=? and seq<?')
  for (const note of notes) {
    if ('retriedBefore' in note) retried.run(note.session, note.seq)
    else if ('inheritedBefore' in note) inherited.run(note.session, note.seq)
    else insert.run(note.session, note.seq, note.at, ...note.columns)
  }
}
