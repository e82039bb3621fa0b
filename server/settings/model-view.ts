import type { ModelView } from '../wire/views.ts'
import type { ModelCard } from '../model/port.ts'

/** A card as pickers show it; what only a request needs stays behind. */
export const modelView = (card: ModelCard): ModelView => ({
  id: card.id,
  name: card.name,
  ...(card.contextWindow !== undefined && { contextWindow: card.contextWindow }),
  ...(card.maxOutput !== undefined && { maxOutput: card.maxOutput }),
  inputs: card.inputs,
  reasoning: card.reasoning,
  efforts: card.efforts.map(({ id, default: byDefault }) => ({ id, ...(byDefault && { default: true }) })),
  ...(card.price && { price: card.price }),
  from: card.from ?? 'catalog',
  ...(card.figures && { figures: card.figures }),
  ...(card.edited && card.edited.length > 0 && { edited: card.edited }),
})
