import { expect, test } from 'vitest'
import { about, priceText } from './format.ts'

test('a real cost is never written as nothing, and small ones keep the digits that say something', () => {
  expect([0.0004, 0.0123, 0.05, 0.5, 14.62].map(about)).toEqual([
    '< $0.01',
    '≈ $0.012',
    '≈ $0.05',
    '≈ $0.50',
    '≈ $14.62',
  ])
  expect([2, 0.55, 0.0375].map(priceText)).toEqual(['$2', '$0.55', '$0.0375'])
})
