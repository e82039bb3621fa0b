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
