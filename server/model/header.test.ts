import { expect, test } from 'vitest'
import { effortCard, fillHeader, stripMarked } from './header.ts'
import type { ModelFacts, Route } from './port.ts'
import { NORMAL_RETRY } from './retry.ts'
import { Routes } from './routes.ts'

const facts = (fallback: string): ModelFacts => ({
  id: 'm',
  name: 'Model M',
  inputs: ['text'],
  reasoning: true,
  listed: true,
  efforts: ['low', 'high'].map((id) => ({ id, ...(id === fallback && { default: true }) })),
})

test('LH-a an omitted effort takes the default of the model, and the header marks it', () => {
  const header = fillHeader({ provider: 'p', model: 'm' }, facts('high'), 4096)
  expect(header).toEqual({
    config: { provider: 'p', model: 'm', reasoningEffort: 'high', maxTokens: 4096 },
    adapterDefaults: { reasoningEffort: true, maxTokens: true },
  })
  const chosen = fillHeader({ provider: 'p', model: 'm', reasoningEffort: 'low', maxTokens: 9 }, facts('high'), 4096)
  expect(chosen).toEqual({ config: { provider: 'p', model: 'm', reasoningEffort: 'low', maxTokens: 9 } })
})

test('LH-b after the default changes the next proposal resolves anew', () => {
  const first = fillHeader({ provider: 'p', model: 'm' }, facts('high'))
  const next = fillHeader(stripMarked(first), facts('low'))
  expect(next.config.reasoningEffort).toBe('low')
})

test('LH-c LH-d restoring ignores a marked effort; a chosen one stays', () => {
  expect(stripMarked(fillHeader({ provider: 'p', model: 'm' }, facts('high'), 10))).toEqual({
    provider: 'p',
    model: 'm',
  })
  const chosen = { provider: 'p', model: 'm', reasoningEffort: 'high', temperature: 0.5 }
  expect(stripMarked(fillHeader(chosen, facts('low')))).toEqual(chosen)
})

test('LP-03 an effort that nobody declared is refused by name, never clamped', () => {
  expect(effortCard(facts('low'), 'high')!.id).toBe('high')
  expect(effortCard(facts('low'), undefined)).toBeUndefined()
  expect(() => effortCard(facts('low'), 'max')).toThrow(/Model M does not offer .*"max".*low, high/)
})

test('NO_ADAPTER names the provider and what is known; observers hear of every change', async () => {
  const routes = new Routes()
  let changes = 0
  const stop = routes.observe(() => changes++)
  const route = { id: 'p', label: 'P', wire: 'chat', retry: NORMAL_RETRY } as Route
  const dispose = routes.add(route)
  expect(() => routes.add(route)).toThrow(/already registered/)
  await expect(routes.prepare({ provider: 'q', model: 'm' })).rejects.toMatchObject({
    failure: { code: 'NO_ADAPTER', message: expect.stringContaining('known: p') },
  })
  expect(routes.list()).toEqual([route])
  dispose()
  dispose()
  expect(routes.get('p')).toBeUndefined()
  stop()
  routes.add(route)
  expect(changes).toBe(2)
})

test('only what the adapter filled in is marked, one by one', () => {
  const none = { ...facts('none'), name: 'None' }
  expect(fillHeader({ provider: 'p', model: 'm' }, none)).toEqual({ config: { provider: 'p', model: 'm' } })
  expect(fillHeader({ provider: 'p', model: 'm' }, none, 7)).toEqual({
    config: { provider: 'p', model: 'm', maxTokens: 7 },
    adapterDefaults: { maxTokens: true },
  })
  expect(fillHeader({ provider: 'p', model: 'm', maxTokens: 3 }, facts('low'), 7)).toEqual({
    config: { provider: 'p', model: 'm', maxTokens: 3, reasoningEffort: 'low' },
    adapterDefaults: { reasoningEffort: true },
  })
  expect(fillHeader({ provider: 'p', model: 'm', maxTokens: 0 }, none, 7).config.maxTokens).toBe(0)
})

test('what is taken off again is what was marked, and nothing else', () => {
  const config = { provider: 'p', model: 'm', reasoningEffort: 'low', maxTokens: 3 }
  expect(stripMarked({ config })).toEqual(config)
  expect(stripMarked({ config, adapterDefaults: {} })).toEqual(config)
  expect(stripMarked({ config, adapterDefaults: { maxTokens: true } })).toEqual({
    provider: 'p',
    model: 'm',
    reasoningEffort: 'low',
  })
  expect(stripMarked({ config, adapterDefaults: { reasoningEffort: true } })).toEqual({
    provider: 'p',
    model: 'm',
    maxTokens: 3,
  })
  const bare = { provider: 'p', model: 'm' }
  expect(Object.keys(stripMarked({ config: bare }))).toEqual(['provider', 'model'])
})

test('a model without efforts offers none, by that word', () => {
  const refusal = {
    failure: { code: 'UNSUPPORTED_REASONING_EFFORT', message: expect.stringContaining('(offered: none)') },
  }
  expect(() => effortCard({ ...facts('low'), efforts: [] }, 'low')).toThrow(expect.objectContaining(refusal))
})
