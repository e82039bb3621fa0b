import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Doc } from './rows.ts'

export interface Hit {
  session: string
  seq: number
  kind: Doc['kind']
  title: string | null
  updated: number
  snippet: string
  /** Where the first word stands in `snippet`, in UTF-16 units. */
  match: { start: number; length: number } | null
}

/** Trigrams find nothing shorter than this (SL-22). */
const TRIGRAM = 3
const AROUND = 60

/** Texts that hold every word, in whatever case, latest sessions first. Nothing in the words is taken as query syntax. */
export function searchDocs(database: DatabaseSync, text: string, limit: number): Hit[] {
  const words = text.toWellFormed().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const long = words.filter((word) => [...word].length >= TRIGRAM)
  const where: string[] = []
  const values: SQLInputValue[] = []
  if (long.length > 0) {
    where.push('d.id in (select rowid from doc_text where doc_text match ?)')
    values.push(long.map((word) => `"${word.replaceAll('"', '""')}"`).join(' '))
  }
  for (const word of words) {
    if (long.includes(word)) continue
    where.push("d.body like ? escape '\\'")
    values.push(`%${likeText(word)}%`)
  }
  const sql = `select d.session_id, d.seq, d.kind, d.body, s.title, s.updated from doc d join session s on s.id = d.session_id
    where ${where.join(' and ')} order by s.updated desc, d.session_id, d.seq desc limit ?`
  return database
    .prepare(sql)
    .all(...values, limit)
    .map((row) => ({
      session: String(row['session_id']),
      seq: Number(row['seq']),
      kind: String(row['kind']) as Doc['kind'],
      title: row['title'] === null ? null : String(row['title']),
      updated: Number(row['updated']),
      ...snippet(String(row['body']), words[0]!),
    }))
}

/** For use in a LIKE pattern with `\` as its escape. */
export const likeText = (text: string): string => text.replace(/[\\%_]/g, (char) => `\\${char}`)

function snippet(body: string, word: string): Pick<Hit, 'snippet' | 'match'> {
  const at = body.toLowerCase().indexOf(word.toLowerCase())
  const start = Math.max(0, at - AROUND)
  const end = Math.max(0, at) + word.length + AROUND
  const before = start > 0 ? '…' : ''
  const after = end < body.length ? '…' : ''
  const middle = body.slice(start, end).toWellFormed().replace(/\s/g, ' ')
  return {
    snippet: before + middle + after,
    match: at < 0 ? null : { start: before.length + at - start, length: word.length },
  }
}
