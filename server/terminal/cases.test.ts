import { describe, expect, test } from 'vitest'
import { confinement, unconfined, type Confinement } from '../plugins/sandbox.fixture.ts'
import { caseCount, cases, missingFor, runCase } from '../plugins/shell-cases.fixture.ts'

test('SH the file holds the cases it says', () => {
  expect(cases).toHaveLength(caseCount)
})

const open = await unconfined()
const ways: { name: string; without?: string | undefined; place?(): Confinement }[] = [
  { name: 'persistent shell' },
  { name: 'persistent shell in the sandbox', without: open, place: () => confinement() },
]

describe.each(ways)('$name', ({ without, place }) => {
  for (const row of cases) {
    const missing = [...missingFor(row), ...(without ? [without] : [])]
    const note = missing.length > 0 ? ` (needs ${missing.join(', ')})` : ''
    test.skipIf(missing.length > 0)(`SH ${row.name}${note}`, { timeout: 40_000 }, () =>
      runCase(row, { place: place?.(), patience: 2 }),
    )
  }
})
