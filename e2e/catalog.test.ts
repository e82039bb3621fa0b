import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SHIPPED_PROVIDERS } from '../server/model/adapters/providers.ts'
import { catalogCards } from '../server/model/catalog.ts'
import type { EffortCard, ModelCard } from '../server/model/port.ts'
import type { Json } from '../server/wire/json.ts'
import type { WireFamily } from '../server/wire/messages.ts'
import { ask, mockRoute } from './mock-llm/rig.ts'
import { startMock, type Mock, type MockRequest } from './mock-llm/server.ts'

let mock: Mock
let lanes = 0
beforeAll(async () => {
  mock = await startMock()
})
afterAll(() => mock.close())

type Body = { [key: string]: any } // eslint-disable-line typescript/no-explicit-any -- bodies of four vendors, read by path

/** What a card's effort promises about the body, in the words of the wire; a key with undefined must be absent. */
function promised(
  wire: WireFamily,
  card: ModelCard,
  effort: EffortCard | undefined,
): { [key: string]: Json | undefined } {
  const options = (effort?.options ?? {}) as Body
  switch (wire) {
    case 'chat':
      return { thinking: undefined, reasoning: undefined, reasoning_effort: undefined, ...(effort?.body as Body) }
    case 'responses':
      return { reasoning: { ...(options.reasoningEffort && { effort: options.reasoningEffort }), summary: 'auto' } }
    case 'messages': {
      const { budgetTokens, ...thinking } = options.thinking ?? {}
      const budget = budgetTokens !== undefined && { budget_tokens: budgetTokens }
      return {
        thinking: options.thinking ? { ...thinking, ...budget } : undefined,
        output_config: options.effort ? { effort: options.effort } : undefined,
        max_tokens: card.maxOutput,
      }
    }
    case 'gemini':
      return { generationConfig: { thinkingConfig: { includeThoughts: true, ...options.thinkingConfig } } }
  }
}

async function send(wire: WireFamily, card: ModelCard, effort?: string): Promise<MockRequest> {
  const lane = `card-${lanes++}`
  mock.script(lane, [{}])
  const result = await ask(
    mockRoute(mock, wire, { config: { models: [card] } }),
    { lane },
    { model: card.id, ...(effort !== undefined && { reasoningEffort: effort }) },
  )
  expect(result.warnings).toEqual([])
  expect(result.finish).toEqual({ kind: 'stop' })
  return mock.requests.findLast((request) => request.lane === lane)!
}

const CARDS = SHIPPED_PROVIDERS.flatMap(({ id, wire }) =>
  catalogCards(id).map((card) => ({ title: `${id}: ${card.id}`, wire, card })),
)

describe.each(CARDS)('$title', ({ wire, card }) => {
  test('LT-06 its efforts reach the body word for word and nothing is warned of', async () => {
    for (const effort of card.efforts) {
      const { body, model } = await send(wire, card, effort.id)
      expect(model).toBe(card.id)
      expect({ effort: effort.id, ...pick(body, promised(wire, card, effort)) }).toEqual({
        effort: effort.id,
        ...promised(wire, card, effort),
      })
    }
  })

  test('LT-06 unset, it asks for its default or for nothing, under a private alias as well', async () => {
    const fallback = card.efforts.find((effort) => effort.default)
    for (const id of [card.id, 'private/alias']) {
      const { body, model, path } = await send(wire, { ...card, id })
      expect(wire === 'gemini' ? decodeURIComponent(path) : model).toContain(id)
      if (card.reasoning || fallback)
        expect(pick(body, promised(wire, card, fallback))).toEqual(promised(wire, card, fallback))
    }
  })
})

const pick = (body: Body, keys: object): Body => Object.fromEntries(Object.keys(keys).map((key) => [key, body[key]]))
