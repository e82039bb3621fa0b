import { expect, test } from 'vitest'
import { keyOffers, valueOffers } from './schema.ts'

const schema = {
  type: 'object',
  properties: {
    mode: { enum: ['fast', 'slow'], description: 'How.' },
    complete: { type: 'boolean', default: false },
    limits: { type: 'object', properties: { ms: { type: 'integer' } } },
    steps: { type: 'array', items: { type: 'object', properties: { run: { type: 'string' } } } },
    either: { anyOf: [{ type: 'boolean' }, { const: 'auto' }] },
  },
}

test('keys come with type, default and description; those written already are left out', () => {
  expect(keyOffers(schema, [], ['limits', 'steps', 'either'])).toEqual([
    { label: 'mode', about: 'How.' },
    { label: 'complete', detail: 'boolean = false' },
  ])
  expect(keyOffers(schema, ['limits'], [])).toEqual([{ label: 'ms', detail: 'integer' }])
  expect(keyOffers(schema, ['steps'], [])).toEqual([{ label: 'run', detail: 'string' }])
})

test('values of enums, booleans and unions of them', () => {
  expect(valueOffers(schema, [], 'mode').map(({ label }) => label)).toEqual(['fast', 'slow'])
  expect(valueOffers(schema, [], 'either').map(({ label }) => label)).toEqual(['true', 'false', 'auto'])
  expect(valueOffers(schema, ['limits'], 'ms')).toEqual([])
  expect(valueOffers(undefined, [], 'x')).toEqual([])
})
