import { expect, test } from 'vitest'
import { citedIds, judge, longIds, openIds, prune, statedIds } from './clauses.ts'
import type { ClauseState } from './clauses.ts'

const state = (change: Partial<ClauseState>): ClauseState => ({
  stated: ['A-01', 'LH-a'],
  open: ['LH-a'],
  outcomes: [{ title: 'A-01 holds', file: 'a.test.ts', status: 'passed' }],
  long: [],
  ...change,
})

test('the document states a clause per bullet with a bold id and a sentence', () => {
  const document =
    '# Clauses\n- **A-01** One.\n- **LT-25** Two.\n- **A-02**\n- A-03 plain\ntext **A-04** inside\n- **LH-g** Three.'
  expect(statedIds(document)).toEqual(['A-01', 'LT-25', 'LH-g'])
})

test('the open list needs a reason per line', () => {
  expect(openIds('- B-02 presets, complete\n- B-03\n* B-04 no\n- SL-20 forks')).toEqual(['B-02', 'SL-20'])
})

test('a title cites at most two ids and only at its beginning', () => {
  expect(citedIds('I-11 O-21 complete wins')).toEqual(['I-11', 'O-21'])
  expect(citedIds('F-06 new agents join F-07')).toEqual(['F-06'])
  expect(citedIds('F-06: a colon is no separator')).toEqual([])
  expect(citedIds('as F-06 says')).toEqual([])
  expect(citedIds('EX-23 complete')).toEqual(['EX-23'])
  expect(citedIds('HS-09 B75 logs')).toEqual(['HS-09'])
  expect(citedIds('B12 a public bug, ED44 SH-03')).toEqual([])
})

test('the sources of the long suite are read for citations', () => {
  expect(
    longIds("test('SL-13 kill', async () => {})\ntest.each(rows)('SL-10 cut at %s', f)\nconst x = 'A-01 text'"),
  ).toEqual(['SL-13', 'SL-10'])
})

test('a proven and an open clause satisfy the check', () => {
  expect(judge(state({}))).toEqual({ proven: ['A-01'], complaints: [] })
})

test('a skipped or failed test proves nothing', () => {
  const skipped = judge(state({ outcomes: [{ title: 'A-01 holds', file: '', status: 'skipped' }] }))
  expect(skipped.complaints).toEqual(['A-01 is neither proven nor listed in docs/clauses-open.md'])
  const failed = judge(
    state({ outcomes: [...state({}).outcomes, { title: 'A-01 again', file: '', status: 'failed' }] }),
  )
  expect(failed.proven).toEqual([])
})

test('a clause may not be both proven and open, and an unknown id is named', () => {
  const both = judge(state({ long: ['LH-a'] }))
  expect(both.complaints).toEqual(['LH-a is proven, take it out of docs/clauses-open.md'])
  const unknown = judge(state({ outcomes: [...state({}).outcomes, { title: 'P-99 x', file: '', status: 'skipped' }] }))
  expect(unknown.complaints).toEqual(['P-99 is cited by a test and not stated in docs/contracts.md'])
})

test('pruning drops proven lines and keeps everything else', () => {
  expect(prune('# Open\n\n- A-01 presets\n- A-02 presets\n', ['A-01'])).toBe('# Open\n\n- A-02 presets\n')
})
