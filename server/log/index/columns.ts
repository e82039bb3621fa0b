import type { SQLOutputValue } from 'node:sqlite'
import type { LoggedRow, RowStatus, SessionRow } from './rows.ts'

/** What the index knows of a log file. */
export interface Stored {
  size: number
  mtime: number
  lastSeq: number
}

/** A column of whole numbers takes nothing else, and one odd log must not keep every other out of the index. */
export const whole = (value: number | null | undefined): number | null =>
  value === null || value === undefined || !Number.isFinite(value)
    ? null
    : Math.min(Math.round(value), Number.MAX_SAFE_INTEGER)

export const columnsOf = (row: LoggedRow): Record<string, string | number | null> => ({
  id: row.id,
  created: whole(row.created),
  updated: whole(row.updated),
  last_seq: row.lastSeq,
  title: row.title?.toWellFormed() ?? null,
  cwd: row.cwd?.toWellFormed() ?? null,
  preset: row.preset,
  provider: row.provider,
  model: row.model,
  status: row.status,
  parent: row.parent,
  origin: row.origin,
  turns: row.turns,
  tokens_in: whole(row.tokensIn),
  tokens_out: whole(row.tokensOut),
})

export function sessionRow(row: Record<string, SQLOutputValue>): SessionRow {
  const text = (name: string): string | null => (row[name] === null ? null : String(row[name]))
  const count = (name: string): number | null => (row[name] === null ? null : Number(row[name]))
  return {
    id: String(row['id']),
    created: count('created') ?? 0,
    updated: count('updated') ?? 0,
    lastSeq: count('last_seq') ?? -1,
    bytes: count('bytes') ?? 0,
    title: text('title'),
    cwd: text('cwd'),
    preset: text('preset'),
    provider: text('provider'),
    model: text('model'),
    status: String(row['status']) as RowStatus,
    parent: text('parent'),
    origin: text('origin') as 'subagent' | null,
    turns: count('turns') ?? 0,
    tokensIn: count('tokens_in'),
    tokensOut: count('tokens_out'),
    pinned: row['pinned'] === 1,
    archived: row['archived'] === 1,
  }
}
