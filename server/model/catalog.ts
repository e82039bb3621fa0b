import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Json } from '../wire/json.ts'
import type { ModelCard } from './port.ts'

const json: z.ZodType<Json> = z.json()
const Effort = z.strictObject({
  id: z.string().min(1),
  default: z.boolean().optional(),
  options: json.optional(),
  body: json.optional(),
})
const Price = z.strictObject({
  in: z.number(),
  cacheRead: z.number().optional(),
  cacheWrite: z.number().optional(),
  out: z.number(),
})
const Card = z.strictObject({
  id: z.string().min(1),
  name: z.string().min(1),
  contextWindow: z.number().int().positive().optional(),
  maxOutput: z.number().int().positive().optional(),
  inputs: z.array(z.enum(['text', 'image'])).min(1),
  reasoning: z.boolean(),
  efforts: z.array(Effort),
  sendBack: z.enum(['none', 'reasoning_content', 'reasoning', 'reasoning_details']).optional(),
  inlineThink: z.boolean().optional(),
  midSystem: z.boolean().optional(),
  price: Price.optional(),
  /** Page and day of this card's figures; absent: those of its provider. */
  source: z.string().optional(),
  date: z.iso.date().optional(),
})
/** The shipped file: figures are advice with source and date, never a gate. */
export const Catalog = z.record(
  z.string(),
  z.strictObject({ source: z.string(), date: z.iso.date(), cards: z.array(Card) }),
)

type Shipped = z.output<typeof Catalog>

/** Never throws: a broken file is an empty catalog and a sentence about it, since a catalog is advice. */
export function loadCatalog(file: unknown): { cards: Shipped; problem?: string } {
  const read = Catalog.safeParse(file)
  if (read.success) return { cards: read.data }
  const [issue] = read.error.issues
  const place = issue?.path.join('.') || 'the whole file'
  const problem = `The shipped list of models cannot be read (${place}: ${issue?.message ?? 'unknown'}). Models go by their ids only, without windows and prices. Install this version again.`
  return { cards: {}, problem }
}

/** Read, not imported: a module that cannot be loaded would stop the host. */
function shippedFile(): unknown {
  try {
    return JSON.parse(readFileSync(new URL('./catalog.json', import.meta.url), 'utf8')) as unknown
  } catch {
    return undefined // no file or no JSON: told as a catalog that cannot be read
  }
}

const shipped = loadCatalog(shippedFile())

/** Why the shipped catalog is empty; undefined when it is not. */
export const catalogProblem = (): string | undefined => shipped.problem

/** The shipped cards of a provider, by route id, each with where its figures come from; none for a route this catalog does not know. */
export function catalogCards(provider: string, { cards } = shipped): ModelCard[] {
  const listed = Object.hasOwn(cards, provider) ? cards[provider] : undefined
  if (!listed) return []
  return listed.cards.map(({ source = listed.source, date = listed.date, ...card }) => ({
    ...card,
    from: 'catalog',
    figures: { source, date },
  }))
}
