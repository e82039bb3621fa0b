import { expect, test } from 'vitest'
import type { ModelView, ModelsView, ProviderView } from '../../../server/wire/views.ts'
import { firstOf, listing } from './listing.ts'
import type { Line } from './listing.ts'

const model = (id: string, more: Partial<ModelView> = {}): ModelView => ({
  id,
  name: id,
  inputs: ['text'],
  reasoning: false,
  efforts: [],
  from: 'catalog',
  ...more,
})
const provider = (id: string, models: string[], more: Partial<ProviderView> = {}): ProviderView => ({
  id,
  label: `${id} label`,
  wire: 'chat',
  key: 'stored',
  own: false,
  models: models.map((each) => model(each)),
  ...more,
})
const DEMO = provider('demo', ['scripted'], { wire: 'demo', key: 'none-needed' })
const models = (providers: ProviderView[], recent: ModelsView['recent'] = []): ModelsView => ({ providers, recent })
const said = (lines: readonly Line[]): string[] =>
  lines.map((line) => {
    if (line.kind === 'head') return `# ${line.provider?.id ?? 'recent'} ${line.count}`
    return line.kind === 'use' ? `use ${line.provider.id}/${line.id}` : `${line.provider.id}/${line.model.id}`
  })
const rows = (of: ModelsView, query = '') => said(listing(of, query).lines)

test('groups by provider, recent ones first and nothing twice; those that are gone are left out', () => {
  const recent = [
    { provider: 'b', model: 'b2' },
    { provider: 'b', model: 'away' },
    { provider: 'gone', model: 'x' },
    { provider: 'a', model: 'a1' },
  ]
  const all = models([DEMO, provider('a', ['a1']), provider('b', ['b1', 'b2'])], recent)
  expect(rows(all)).toEqual(['# recent 2', 'b/b2', 'a/a1', '# b 1', 'b/b1', '# demo 1', 'demo/scripted'])
  const failing = models([provider('b', ['b2'], { problem: 'no answer' })], recent)
  expect(rows(failing)).toEqual(['# b 1', 'b/b2'])
})

test('the demo is first while nothing else can answer', () => {
  const keyless = provider('a', ['a1'], { key: 'missing' })
  expect(rows(models([keyless, provider('local', [], { key: 'none-needed' }), DEMO]))[1]).toBe('demo/scripted')
  expect(rows(models([DEMO, provider('a', ['a1'])]))).toEqual(['# a 1', 'a/a1', '# demo 1', 'demo/scripted'])
})

test('words are found in any order, in ids, names and providers', () => {
  const all = models([provider('lab', ['qwen3-coder', 'deepseek-v4-pro', 'deepseek-v4-flash'])])
  expect(rows(all, 'flash DEEP')).toEqual(['# lab 1', 'lab/deepseek-v4-flash'])
  expect(rows(all, 'lab pro')).toEqual(['# lab 1', 'lab/deepseek-v4-pro'])
  expect(rows(all, 'deep nothing')).toEqual([])
})

test('an id that no list has goes to any provider that takes one, to a named one first', () => {
  const all = models([
    DEMO,
    provider('a', ['known']),
    provider('b', []),
    provider('bad', [], { problem: 'no answer' }),
    provider('nokey', [], { key: 'missing' }),
  ])
  expect(rows(all, 'new-model')).toEqual(['use a/new-model', 'use b/new-model'])
  expect(rows(all, 'b/new-model')).toEqual(['use b/new-model', 'use a/b/new-model'])
  expect(rows(all, 'known')).toEqual(['# a 1', 'a/known', 'use b/known'])
  expect(firstOf(listing(all, 'new-model').lines)).toBe(-1)
  expect(firstOf(listing(all, 'b/new-model').lines)).toBe(0)
  expect(firstOf(listing(all, 'known').lines)).toBe(1)
  expect(rows(all, 'two words')).toEqual([])
  expect(rows(all, 'x')).toEqual([])
})

test('providers without a key are told apart: all of them, or those that have what is looked for', () => {
  const all = models([provider('a', ['a1', 'a2'], { key: 'missing' }), provider('b', ['b1'], { key: 'missing' })])
  expect(listing(all, '').keyless.map((entry) => [entry.provider.id, entry.matches])).toEqual([
    ['a', 2],
    ['b', 1],
  ])
  expect(listing(all, 'a2').keyless.map((entry) => [entry.provider.id, entry.matches])).toEqual([['a', 1]])
})
