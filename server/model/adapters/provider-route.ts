import type { CallConfig } from '../../wire/messages.ts'
import { catalogCards } from '../catalog.ts'
import { effortCard, fillHeader } from '../header.ts'
import {
  ModelError,
  type BuiltRequest,
  type ModelCard,
  type ModelFacts,
  type PreparedCall,
  type Route,
  type StreamEvent,
} from '../port.ts'
import { NORMAL_RETRY } from '../retry.ts'
import type { WireFacts } from '../transport.ts'
import { streamModel } from './aisdk.ts'
import { bindModel, partsOf, type BoundCall } from './bind.ts'
import type { ProviderConfig, ProviderDeps } from './config.ts'
import { discoverIds } from './discover.ts'
import { learnRefusals, type ImageMemory } from './history/refused.ts'

export type { ProviderConfig, ProviderDeps } from './config.ts'

/** Anthropic demands an output limit; for unlisted ids this one is accepted by every model in its table. */
const MESSAGES_MAX_TOKENS = 8192
/** What a request header can carry (1.12). */
const KEY_FORMAT = /^[\x21-\x7e]+$/

/** One provider as a model route. Failures before the network throw ModelError from `prepare`; later ones are data. */
export function providerRoute(config: ProviderConfig, deps: ProviderDeps): Route {
  const retry = config.retry ?? NORMAL_RETRY
  const images: ImageMemory = { accepted: new Set(), refused: new Set() }
  const cards = (): ModelCard[] => {
    const list = config.models ?? catalogCards(config.id)
    return list.map((card) => ({ ...card, ...config.modelOverrides?.[card.id] }))
  }
  const factsOf = (model: string): ModelFacts => {
    const card = cards().find(({ id }) => id === model)
    if (card) return { ...card, listed: true }
    return { ...unlisted(config, model), ...config.modelOverrides?.[model], listed: false }
  }
  return {
    id: config.id,
    label: config.label,
    wire: config.wire,
    retry,
    async models() {
      const listed = cards()
      if (!config.discover) return listed
      const apiKey = await readKey(config, deps).catch(() => undefined) // discovery without a key still finds local servers
      const ids = await discoverIds(config, deps, apiKey)
      const known = new Set(listed.map(({ id }) => id))
      return [...listed, ...ids.filter((id) => !known.has(id)).map((id) => unlisted(config, id))]
    },
    describe: async (model) => factsOf(model),
    async prepare(asked: CallConfig, signal?: AbortSignal): Promise<PreparedCall> {
      if (signal?.aborted) throw new ModelError({ code: 'ABORTED', message: 'The call was stopped.' })
      const facts = factsOf(asked.model)
      effortCard(facts, asked.reasoningEffort)
      const header = fillHeader(
        asked,
        facts,
        config.wire === 'messages' ? (facts.maxOutput ?? MESSAGES_MAX_TOKENS) : undefined,
      )
      const effort = effortCard(facts, header.config.reasoningEffort)
      const apiKey = await readKey(config, deps)
      const call: BoundCall = { config, deps, header, facts, effort, apiKey, refused: images.refused }
      return { header, facts, retry, stream: oneShot(call, images) }
    },
  }
}

function oneShot(call: BoundCall, images: ImageMemory): PreparedCall['stream'] {
  let used = false
  return (request: BuiltRequest): AsyncIterable<StreamEvent> => {
    if (used) throw new Error('a prepared call serves one stream; prepare another one (LP-01)')
    used = true
    let facts: WireFacts = {}
    return streamModel(
      () => bindModel(call, request, (bound) => (facts = bound)),
      partsOf(call, request, () => facts),
      (finish) => learnRefusals(finish, request.messages, images),
    )
  }
}

async function readKey(config: ProviderConfig, deps: ProviderDeps): Promise<string | undefined> {
  if (config.apiKeyRef === undefined) return undefined
  // A key that a person stored for this provider wins over a reference to the environment.
  const key = (await deps.credentials.get(config.id)) ?? (await deps.credentials.get(config.apiKeyRef))
  if (!key)
    throw new ModelError({
      code: 'MISSING_CREDENTIAL',
      message: `${config.label} has no API key. Add one in Settings > Models.`,
    })
  if (KEY_FORMAT.test(key)) return key
  throw new ModelError({
    code: 'INVALID_CREDENTIAL',
    message: `The API key of ${config.label} has characters that no request can carry (blanks, line ends or letters outside ASCII). Enter it again.`,
  })
}

/** Advice for an id that no card lists: text only, capacity unknown, only the efforts that the route declares. */
const unlisted = (config: ProviderConfig, id: string): ModelCard => ({
  id,
  name: id,
  inputs: ['text'],
  reasoning: false,
  efforts: config.efforts ?? [],
})
