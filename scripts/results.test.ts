import { expect, test } from 'vitest'
import { readPlaywright, readVitest, sum } from './results.ts'

test('a vitest file that broke before its tests counts as one failure', () => {
  const outcomes = readVitest({
    testResults: [
      { name: 'a.test.ts', status: 'failed', assertionResults: [] },
      {
        name: 'b.test.ts',
        status: 'passed',
        assertionResults: [
          { title: 'one', status: 'passed' },
          { title: 'two', status: 'pending' },
          { title: 'three', status: 'todo' },
        ],
      },
    ],
  })
  expect(sum(outcomes)).toEqual({ passed: 1, failed: 1, skipped: 2 })
})

test('Playwright suites are read to every depth, a flaky test and an error outside a test are failures', () => {
  const spec = (title: string, status: string) => ({ title, file: 'a.spec.ts', tests: [{ status }] })
  const outcomes = readPlaywright({
    errors: [{ message: 'no browser' }],
    suites: [
      {
        specs: [spec('one', 'expected')],
        suites: [
          {
            specs: [spec('two', 'flaky'), spec('three', 'skipped')],
            suites: [{ specs: [spec('four', 'unexpected')] }],
          },
        ],
      },
    ],
  })
  expect(sum(outcomes)).toEqual({ passed: 1, failed: 3, skipped: 1 })
  expect(outcomes.map((outcome) => outcome.title)).toContain('four')
})

test('a report of another shape is refused', () => {
  expect(() => readVitest({ tests: [] })).toThrow()
})
