import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { readPlaywright, readVitest } from './results.ts'
import type { TestOutcome } from './results.ts'

const documentFile = 'docs/contracts.md'
const openFile = 'docs/clauses-open.md'
const reports = [
  { file: 'reports/vitest.json', read: readVitest },
  { file: 'reports/browser.json', read: readPlaywright },
]

const clauseId = '(?:[A-P]-\\d\\d|(?:LT|LP|SL|RE|EX|HS)-\\d\\d|LH-[a-z])'
const titleIds = new RegExp(`^(${clauseId})(?: (${clauseId}))?(?= |$)`)

/** Ids of the clauses that `docs/contracts.md` states, in its order: lines of the form `- **A-01** sentence.` */
export function statedIds(document: string): string[] {
  return [...document.matchAll(new RegExp(`^- \\*\\*(${clauseId})\\*\\* \\S`, 'gm'))].flatMap((match) => match[1] ?? [])
}

/** The open list: lines of the form `- A-01 reason`. A line without a reason is not an entry. */
export function openIds(list: string): string[] {
  return [...list.matchAll(new RegExp(`^- (${clauseId}) \\S`, 'gm'))].flatMap((match) => match[1] ?? [])
}

/** The one or two clause ids with which a test's title begins. */
export function citedIds(title: string): string[] {
  const match = titleIds.exec(title)
  return match ? match.slice(1).filter((id) => id !== undefined) : []
}

/** Ids cited by the sources of the long suite, which runs by its own command. */
export function longIds(source: string): string[] {
  return [...source.matchAll(/\b(?:test|it)(?:\.\w+\([^)]*\))?\(\s*(['"`])(.*?)\1/g)].flatMap((match) =>
    citedIds(match[2] ?? ''),
  )
}

export interface ClauseState {
  stated: readonly string[]
  open: readonly string[]
  outcomes: readonly TestOutcome[]
  long: readonly string[]
}

export interface ClauseReport {
  proven: string[]
  complaints: string[]
}

/** A clause is proven when a test that cites it passed and none that cites it failed. */
export function judge({ stated, open, outcomes, long }: ClauseState): ClauseReport {
  const passed = cited(outcomes, 'passed')
  const failed = cited(outcomes, 'failed')
  const known = new Set(stated)
  const listed = new Set(open)
  const proven = stated.filter((id) => (passed.has(id) || long.includes(id)) && !failed.has(id))
  const isProven = new Set(proven)
  const everCited = new Set([...passed, ...failed, ...cited(outcomes, 'skipped'), ...long])
  return {
    proven,
    complaints: [
      ...repeated(stated).map((id) => `${id} is stated twice in ${documentFile}`),
      ...repeated(open).map((id) => `${id} is listed twice in ${openFile}`),
      ...[...everCited]
        .filter((id) => !known.has(id))
        .map((id) => `${id} is cited by a test and not stated in ${documentFile}`),
      ...open
        .filter((id) => !known.has(id))
        .map((id) => `${id} is listed in ${openFile} and not stated in ${documentFile}`),
      ...stated
        .filter((id) => isProven.has(id) && listed.has(id))
        .map((id) => `${id} is proven, take it out of ${openFile}`),
      ...stated
        .filter((id) => !isProven.has(id) && !listed.has(id))
        .map((id) => `${id} is neither proven nor listed in ${openFile}`),
    ],
  }
}

function cited(outcomes: readonly TestOutcome[], status: TestOutcome['status']): Set<string> {
  return new Set(outcomes.filter((outcome) => outcome.status === status).flatMap((outcome) => citedIds(outcome.title)))
}

function repeated(ids: readonly string[]): string[] {
  return [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))]
}

/** The open list without the lines of clauses that are proven by now. */
export function prune(list: string, proven: readonly string[]): string {
  return list
    .split('\n')
    .filter((line) => !openIds(line).some((id) => proven.includes(id)))
    .join('\n')
}

function main(): number {
  const present = reports.filter(({ file }) => existsSync(file))
  if (present.length === 0) {
    console.error('clauses: no test report in reports/, run npm test first')
    return 1
  }
  const list = existsSync(openFile) ? readFileSync(openFile, 'utf8') : ''
  const stated = statedIds(readFileSync(documentFile, 'utf8'))
  const outcomes = present.flatMap(({ file, read }) => read(JSON.parse(readFileSync(file, 'utf8'))))
  const long = globSync('e2e/long/**/*.long.test.ts').flatMap((file) => longIds(readFileSync(file, 'utf8')))
  const { proven, complaints } = judge({ stated, open: openIds(list), outcomes, long })
  if (process.argv.includes('--prune')) {
    writeFileSync(openFile, prune(list, proven))
    console.log(`clauses: ${openFile} rewritten`)
    return 0
  }
  for (const complaint of complaints) console.error(`clauses: ${complaint}`)
  console.log(`clauses: ${proven.length} of ${stated.length} proven, ${openIds(list).length} open`)
  console.log(proven.join(' '))
  return complaints.length > 0 || stated.length === 0 ? 1 : 0
}

if (import.meta.main) process.exitCode = main()
