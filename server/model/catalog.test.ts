import { expect, test } from 'vitest'
import { catalogCards, catalogProblem, loadCatalog } from './catalog.ts'

const card = { id: 'm', name: 'M', inputs: ['text'], reasoning: false, efforts: [] }
const file = { p: { source: 'https://p.example.com', date: '2026-01-02', cards: [card] } }

test('the shipped file can be read, and each card says where its figures are from and of which day', () => {
  expect(catalogProblem()).toBeUndefined()
  const cards = ['deepseek', 'openai', 'anthropic', 'google', 'openrouter'].flatMap((id) => catalogCards(id))
  expect(cards.length).toBeGreaterThan(20)
  for (const { from, figures } of cards) {
    expect(from).toBe('catalog')
    expect(figures).toEqual({
      source: expect.stringMatching(/^https:\/\//),
      date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    })
  }
})

test('the source and the day of a card win over those of its provider, each by itself', () => {
  const own = { ...card, source: 'https://card.example.com' }
  const { cards } = loadCatalog({ p: { ...file.p, cards: [own, { ...card, date: '2026-03-04' }] } })
  expect(catalogCards('p', { cards })).toEqual([
    { ...card, from: 'catalog', figures: { source: 'https://card.example.com', date: '2026-01-02' } },
    { ...card, from: 'catalog', figures: { source: 'https://p.example.com', date: '2026-03-04' } },
  ])
})

test.each([
  [undefined, 'the whole file'],
  ['text', 'the whole file'],
  [[], 'the whole file'],
  [{ p: { ...file.p, date: 'yesterday' } }, 'p.date'],
  [{ p: { ...file.p, cards: [{ ...card, contextWindow: 'large' }] } }, 'p.cards.0.contextWindow'],
  [{ p: { ...file.p, cards: [{ ...card, inputs: [] }] } }, 'p.cards.0.inputs'],
])('a broken catalog %j is empty, says where, and takes nothing down', (broken, place) => {
  const loaded = loadCatalog(broken)
  expect(loaded.cards).toEqual({})
  expect(loaded.problem).toContain(`(${place}: `)
  expect(catalogCards('p', loaded)).toEqual([])
})

test('a route that the catalog does not know has no cards, whatever it is called', () => {
  for (const id of ['mine', 'constructor', '__proto__', 'toString']) expect(catalogCards(id)).toEqual([])
})
