import { expect, test } from 'vitest'
import type { SessionRow } from '../../../server/wire/views.ts'
import { goneRows } from './gone-rows.ts'

const row = (id: string, updated: number, archived = false): SessionRow => ({
  id,
  title: id,
  created: 0,
  updated,
  turns: 1,
  status: 'idle',
  pinned: false,
  archived,
})

test('a session that was deleted while the line was down leaves the list', () => {
  const held = [row('a', 3), row('b', 2), row('c', 1, true), row('d', 1, true)]
  expect(goneRows(held, [{ rows: [row('a', 3)] }, { rows: [row('c', 1, true)] }])).toEqual(['b', 'd'])
})

test('a row beyond the end of a page is not judged by that page', () => {
  const held = [row('a', 9), row('b', 8), row('old', 1)]
  expect(goneRows(held, [{ rows: [row('a', 9), row('x', 5)], next: 'more' }, { rows: [] }])).toEqual(['b'])
})
