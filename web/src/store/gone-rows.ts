import type { SessionPage } from '../../../server/wire/protocol.ts'
import type { SessionRow } from '../../../server/wire/views.ts'

/**
 * Which of the rows held before the question the answers no longer know. The lists are newest first and by pages: a row that
 * would stand behind the end of a page is not judged by it.
 */
export function goneRows(held: readonly SessionRow[], [listed, archived]: [SessionPage, SessionPage]): string[] {
  const known = new Set([...listed.rows, ...archived.rows].map((row) => row.id))
  return held
    .filter((row) => !known.has(row.id) && row.updated > endOf(row.archived ? archived : listed))
    .map((row) => row.id)
}

const endOf = ({ rows, next }: SessionPage): number =>
  next === undefined ? -Infinity : (rows.at(-1)?.updated ?? Infinity)
