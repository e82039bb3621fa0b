import { describe, expect, test } from 'vitest'
import { Catalog, catalogCards } from './catalog.ts'
import catalog from './catalog.json' with { type: 'json' }
import { SHIPPED_PROVIDERS } from './adapters/providers.ts'

const PROVIDERS = Object.keys(catalog)
const CARDS = PROVIDERS.flatMap((provider) =>
  catalogCards(provider).map((card) => [`${provider}: ${card.id}`, card] as const),
)

describe('the shipped catalog', () => {
  test('about forty cards, each id once for each provider, all of providers that are shipped', () => {
    expect(CARDS.length).toBeGreaterThanOrEqual(38)
    expect(CARDS.length).toBeLessThanOrEqual(50)
    expect(new Set(CARDS.map(([title]) => title)).size).toBe(CARDS.length)
    const shipped = SHIPPED_PROVIDERS.map(({ id }) => id)
    for (const provider of PROVIDERS) expect(shipped).toContain(provider)
  })

  test.each(CARDS)('%s says where and when its figures were read, and they make sense', (_title, card) => {
    const { figures, price, efforts } = card
    expect(card.from).toBe('catalog')
    expect(new URL(figures!.source).protocol).toBe('https:')
    expect(Date.parse(figures!.date)).toBeLessThanOrEqual(Date.now())
    expect(Date.parse(figures!.date)).toBeGreaterThan(Date.parse('2025-01-01'))
    if (card.contextWindow && card.maxOutput) expect(card.maxOutput).toBeLessThanOrEqual(card.contextWindow)
    if (price) {
      expect(price.in).toBeGreaterThan(0)
      expect(price.out).toBeGreaterThanOrEqual(price.in)
      expect(price.cacheRead ?? 0).toBeLessThan(price.in)
      if (price.cacheWrite !== undefined) expect(price.cacheWrite).toBeGreaterThanOrEqual(price.in)
    }
    expect(new Set(efforts.map(({ id }) => id)).size).toBe(efforts.length)
    expect(efforts.filter((effort) => effort.default).length).toBeLessThanOrEqual(1)
    for (const effort of efforts) expect(effort.options !== undefined || effort.body !== undefined).toBe(true)
    if (efforts.length > 0) expect(card.reasoning).toBe(true)
  })

  test('every file entry names its own page and day', () => {
    for (const { cards } of Object.values(catalog))
      for (const card of cards)
        expect(card).toMatchObject({ source: expect.stringMatching(/^https:/), date: expect.stringMatching(/^\d{4}-/) })
  })

  test('a card without a page or a day of its own takes those of its provider', () => {
    const parsed = Catalog.parse({
      p: {
        source: 'https://a.example',
        date: '2026-01-01',
        cards: [{ id: 'm', name: 'M', inputs: ['text'], reasoning: false, efforts: [] }],
      },
    })
    expect(parsed.p!.cards[0]).not.toHaveProperty('source')
    expect(() => Catalog.parse({ p: { source: 'https://a.example', date: '1 May', cards: [] } })).toThrow()
    expect(catalogCards('no-such-provider')).toEqual([])
  })
})
