import { expect, test } from 'vitest'
import { experiments } from './experiments/all.ts'
import { judge } from './experiments/experiment.ts'

for (const experiment of experiments) {
  test(`${experiment.id} ${experiment.title}`, async () => {
    const { failed, error } = await judge(experiment)
    if (error !== undefined) throw error
    expect(failed.map(({ what, saw }) => ({ what, saw }))).toEqual(
      failed.map(({ what, expected }) => ({ what, saw: expected })),
    )
  })
}

test('there are thirty experiments, numbered in order', () => {
  const ids = Array.from({ length: 30 }, (_value, index) => `EX-${String(index + 1).padStart(2, '0')}`)
  expect(experiments.map(({ id }) => id)).toEqual(ids)
})
