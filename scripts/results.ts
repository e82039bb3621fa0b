import { z } from 'zod'

export interface TestOutcome {
  title: string
  file: string
  status: 'passed' | 'failed' | 'skipped'
}

export interface Totals {
  passed: number
  failed: number
  skipped: number
}

const VitestReport = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ title: z.string(), status: z.string() })),
    }),
  ),
})

/** Outcomes of vitest's JSON reporter. A file that failed before its first test counts as one failure. */
export function readVitest(json: unknown): TestOutcome[] {
  return VitestReport.parse(json).testResults.flatMap((file): TestOutcome[] => {
    const tests = file.assertionResults.map(({ title, status }): TestOutcome => ({
      title,
      file: file.name,
      status: vitestStatus(status),
    }))
    const silentFailure = file.status === 'failed' && !tests.some((test) => test.status === 'failed')
    return silentFailure ? [...tests, { title: 'the file itself', file: file.name, status: 'failed' }] : tests
  })
}

function vitestStatus(status: string): TestOutcome['status'] {
  if (status === 'passed') return 'passed'
  if (status === 'failed') return 'failed'
  return 'skipped'
}

const PlaywrightSpec = z.object({
  title: z.string(),
  file: z.string(),
  tests: z.array(z.object({ status: z.enum(['expected', 'unexpected', 'flaky', 'skipped']) })),
})
interface PlaywrightSuite {
  specs: z.infer<typeof PlaywrightSpec>[]
  suites?: PlaywrightSuite[] | undefined
}
const PlaywrightSuite: z.ZodType<PlaywrightSuite> = z.object({
  specs: z.array(PlaywrightSpec),
  get suites() {
    return z.array(PlaywrightSuite).optional()
  },
})
const PlaywrightReport = z.object({ suites: z.array(PlaywrightSuite), errors: z.array(z.unknown()) })

/** Outcomes of Playwright's JSON reporter, one per spec and project. An error outside a test counts as one failure. */
export function readPlaywright(json: unknown): TestOutcome[] {
  const report = PlaywrightReport.parse(json)
  const outside = report.errors.map((): TestOutcome => ({ title: 'outside a test', file: '', status: 'failed' }))
  return [...report.suites.flatMap(specsOf), ...outside]
}

function specsOf(suite: PlaywrightSuite): TestOutcome[] {
  const own = suite.specs.flatMap((spec) =>
    spec.tests.map(({ status }): TestOutcome => ({
      title: spec.title,
      file: spec.file,
      status: playwrightStatus(status),
    })),
  )
  return [...own, ...(suite.suites ?? []).flatMap(specsOf)]
}

function playwrightStatus(status: 'expected' | 'unexpected' | 'flaky' | 'skipped'): TestOutcome['status'] {
  if (status === 'expected') return 'passed'
  if (status === 'skipped') return 'skipped'
  // A test that passed only on another try has shown that it can fail for no reason of the product's.
  return 'failed'
}

export function sum(outcomes: readonly TestOutcome[]): Totals {
  const count = (status: TestOutcome['status']) => outcomes.filter((outcome) => outcome.status === status).length
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
}
