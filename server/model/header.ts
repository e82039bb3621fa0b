import type { CallConfig, RequestHeader } from '../wire/messages.ts'
import { ModelError, type EffortCard, type ModelFacts } from './port.ts'

/** The card of an effort that the model, or for an unlisted id its route, declares. Throws ModelError; never clamps (LP-03). */
export function effortCard(facts: ModelFacts, effort: string | undefined): EffortCard | undefined {
  if (effort === undefined) return undefined
  const card = facts.efforts.find(({ id }) => id === effort)
  if (card) return card
  const offered = facts.efforts.map(({ id }) => id).join(', ')
  throw new ModelError({
    code: 'UNSUPPORTED_REASONING_EFFORT',
    message: `${facts.name} does not offer the reasoning effort "${effort}" (offered: ${offered || 'none'}).`,
  })
}

/**
 * The effective config of one call. What the caller left out and the adapter fills in is marked, so that it never turns
 * into a user's choice. `maxTokens` is the value to fill in where the wire demands one.
 */
export function fillHeader(config: CallConfig, facts: ModelFacts, maxTokens?: number): RequestHeader {
  const fallback = facts.efforts.find((effort) => effort.default)?.id
  const fillEffort = config.reasoningEffort === undefined && fallback !== undefined
  const fillMax = config.maxTokens === undefined && maxTokens !== undefined
  return {
    config: {
      ...config,
      ...(fillEffort && { reasoningEffort: fallback }),
      ...(fillMax && { maxTokens }),
    },
    ...((fillEffort || fillMax) && {
      adapterDefaults: {
        ...(fillEffort && { reasoningEffort: true as const }),
        ...(fillMax && { maxTokens: true as const }),
      },
    }),
  }
}

/** The config that was asked for: values filled in by the adapter are left out again (LH-b, LH-c). */
export function stripMarked(header: RequestHeader): CallConfig {
  const { reasoningEffort, maxTokens, ...rest } = header.config
  const marks = header.adapterDefaults
  return {
    ...rest,
    ...(reasoningEffort !== undefined && !marks?.reasoningEffort && { reasoningEffort }),
    ...(maxTokens !== undefined && !marks?.maxTokens && { maxTokens }),
  }
}
