import { expect, test } from 'vitest'
import type { PreparedCall, Route } from './port.ts'
import { NORMAL_RETRY } from './retry.ts'
import { Routes } from './routes.ts'

const prepared = { header: { config: { provider: 'p', model: 'm' } } } as PreparedCall
const route = (id: string): Route => ({
  id,
  label: id,
  wire: 'chat',
  retry: NORMAL_RETRY,
  models: async () => [],
  describe: async (model) => ({
    id: model,
    name: model,
    inputs: ['text'],
    reasoning: false,
    efforts: [],
    listed: false,
  }),
  prepare: async () => prepared,
})

test('a host without any provider says so, and where to add one', async () => {
  await expect(new Routes().prepare({ provider: 'p', model: 'm' })).rejects.toMatchObject({
    failure: {
      code: 'NO_ADAPTER',
      message:
        'No model provider "p" is configured (known: none). Choose a model or add the provider in Settings > Models.',
    },
  })
})

test('all known providers are named, in order of registration', async () => {
  const routes = new Routes()
  for (const id of ['b', 'a']) routes.add(route(id))
  await expect(routes.prepare({ provider: 'c', model: 'm' })).rejects.toThrow('(known: b, a)')
  expect(routes.list().map(({ id }) => id)).toEqual(['b', 'a'])
})

test('a call goes to the route of its provider, with its signal', async () => {
  const routes = new Routes()
  const asked: unknown[] = []
  routes.add({
    ...route('p'),
    prepare: async (...given) => {
      asked.push(given)
      return prepared
    },
  })
  const { signal } = new AbortController()
  const config = { provider: 'p', model: 'm' }
  expect(await routes.prepare(config, signal)).toBe(prepared)
  expect(asked).toEqual([[config, signal]])
})

test('a decoration stands before present and later routes, one at a time, and is undone', async () => {
  const routes = new Routes()
  const first = route('first')
  routes.add(first)
  const undo = routes.decorate((inner) => ({ ...inner, label: `taped ${inner.id}` }))
  routes.add(route('later'))
  expect([routes.get('first')?.label, routes.get('later')?.label]).toEqual(['taped first', 'taped later'])
  expect(routes.get('none')).toBeUndefined()
  expect(routes.list()[0]).toBe(first)
  expect(() => routes.decorate((inner) => inner)).toThrow('already decorated')
  undo()
  expect(routes.get('first')).toBe(first)
  routes.decorate((inner) => inner)
})

test('the disposer of a route that was replaced leaves the new one alone and tells nobody', () => {
  const routes = new Routes()
  const gone = routes.add(route('p'))
  gone()
  const next = route('p')
  routes.add(next)
  let changes = 0
  routes.observe(() => changes++)
  gone()
  expect(routes.get('p')).toBe(next)
  expect(changes).toBe(0)
})
