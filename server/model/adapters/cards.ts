import type { EditableFact, ProviderConfig } from './config.ts'
import { catalogCards } from '../catalog.ts'
import type { ModelCard } from '../port.ts'

/** What an endpoint tells of one of its models; what it does not say is absent. */
export interface EndpointModel {
  id: string
  name?: string
  contextWindow?: number
  maxOutput?: number
  inputs?: ModelCard['inputs']
  reasoning?: boolean
  price?: ModelCard['price']
}

/** One answer of an endpoint's list, with the address and day (YYYY-MM-DD) that vouch for its figures. */
export interface EndpointList {
  models: ReadonlyMap<string, EndpointModel>
  figures: { source: string; date: string }
}

const FACTS = ['contextWindow', 'maxOutput', 'inputs', 'price'] as const satisfies EditableFact[]

/** Advice for an id that no card lists: text only, capacity unknown, only what the route declares. */
export const unlisted = (
  config: Pick<ProviderConfig, 'efforts' | 'inlineThink' | 'sendBack'>,
  id: string,
): ModelCard => ({
  id,
  name: id,
  inputs: ['text'],
  reasoning: false,
  efforts: config.efforts ?? [],
  ...(config.inlineThink !== undefined && { inlineThink: config.inlineThink }),
  ...(config.sendBack !== undefined && { sendBack: config.sendBack }),
})

/** The cards of a route before its endpoint has said anything, without a person's corrections. */
export const baseCards = (config: ProviderConfig): ModelCard[] => config.models ?? catalogCards(config.id)

/** Every card of a route: its own list first, then what only the endpoint knows. */
export function routeCards(config: ProviderConfig, list: EndpointList | undefined): ModelCard[] {
  const cards = baseCards(config)
  const known = new Set(cards.map(({ id }) => id))
  const found = [...(list?.models.keys() ?? [])].filter((id) => !known.has(id))
  return [...cards, ...found.map((id): ModelCard => ({ ...unlisted(config, id), from: 'endpoint' }))].map((card) =>
    corrected(config, withEndpoint(card, list)),
  )
}

/** The card of one model as the settings correct it, or advice for an id that nobody lists. */
export function modelFacts(
  config: ProviderConfig,
  list: EndpointList | undefined,
  id: string,
): ModelCard & { listed: boolean } {
  const card = baseCards(config).find((candidate) => candidate.id === id)
  const base: ModelCard = card ?? { ...unlisted(config, id), from: list?.models.has(id) ? 'endpoint' : 'settings' }
  return { ...corrected(config, withEndpoint(base, list)), listed: card !== undefined }
}

/**
 * The figures of the endpoint that serves the model beat the catalog's, which may be older or of another server. Name,
 * efforts and manners stay those of the card: no list tells them.
 */
function withEndpoint(card: ModelCard, list: EndpointList | undefined): ModelCard {
  const told = list?.models.get(card.id)
  if (!list || !told) return card
  const facts = Object.fromEntries(FACTS.filter((key) => told[key] !== undefined).map((key) => [key, told[key]]))
  const unnamed = card.from === 'endpoint' || card.from === 'settings'
  // A price is what figures are looked up for: whoever names it is the source of the card.
  const vouches = Object.keys(facts).length > 0 && (told.price !== undefined || !card.figures)
  return {
    ...card,
    ...facts,
    ...(unnamed && told.name !== undefined && { name: told.name }),
    ...(unnamed && told.reasoning !== undefined && { reasoning: told.reasoning }),
    ...(vouches && { figures: list.figures }),
  }
}

function corrected(config: ProviderConfig, card: ModelCard): ModelCard {
  const patch = Object.hasOwn(config.modelOverrides ?? {}, card.id) ? config.modelOverrides?.[card.id] : undefined
  const edited = FACTS.filter((key) => patch?.[key] !== undefined)
  if (edited.length === 0) return card
  return { ...card, ...Object.fromEntries(edited.map((key) => [key, patch![key]])), edited }
}
