import type { CallConfig } from '../../wire/messages.ts'
import { effortCard, fillHeader } from '../header.ts'
import {
  ModelError,
  type BuiltRequest,
  type Failure,
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
import { modelFacts, routeCards, type EndpointList } from './cards.ts'
import { discover } from './discover.ts'
import { refuseKeylessHeader } from './headers.ts'
import { learnRefusals, type ImageMemory } from './history/refused.ts'
import { readKey } from './key.ts'

export type { ProviderConfig, ProviderDeps } from './config.ts'

/** Anthropic demands an output limit; for unlisted ids this one is accepted by every model in its table. */
const MESSAGES_MAX_TOKENS = 8192
/** One provider as a model route. Failures before the network throw ModelError from `prepare`; later ones are data. */
export function providerRoute(config: ProviderConfig, deps: ProviderDeps): Route {
  const retry = config.retry ?? NORMAL_RETRY
  const images: ImageMemory = { accepted: new Set(), refused: new Set() }
  let found: EndpointList | undefined
  let problem: Failure | undefined
  const factsOf = (model: string): ModelFacts => modelFacts(config, found, model)
  return {
    id: config.id,
    label: config.label,
    wire: config.wire,
    retry,
    async models() {
      if (!config.discover) return routeCards(config, undefined)
      const answer = await discover(config, deps)
      if ('list' in answer) found = answer.list
      problem = 'failure' in answer ? answer.failure : undefined
      return routeCards(config, found)
    },
    problem: () => problem,
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
      refuseKeylessHeader(config)
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
