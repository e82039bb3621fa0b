import type { ScopeKey } from '../scope/scope.ts'
import { ORDER, PERSONA_PREFIX, PERSONA_SUFFIX, type SystemPrompt } from './prompt.ts'

export interface PersonaConfig {
  prefix: string
  suffix?: string
  complete?: boolean
  includeRuntimeContext?: boolean
}

/**
 * Puts an identity in place of the deployment's for `scope`; the disposer brings the deployment text back (I-08). `owner` is
 * the row that asks for it.
 */
export function registerPersona(
  prompt: SystemPrompt,
  scope: ScopeKey | null,
  config: PersonaConfig,
  owner = 'persona',
): () => void {
  const { prefix, suffix = '', complete = false, includeRuntimeContext = true } = config
  const undo: (() => void)[] = []
  try {
    undo.push(
      prompt.section(scope, {
        name: PERSONA_PREFIX,
        order: ORDER.prefix,
        text: prefix,
        owner,
        ...(complete && { complete }),
      }),
    )
    undo.push(prompt.section(scope, { name: PERSONA_SUFFIX, order: ORDER.suffix, text: suffix, owner }))
    if (!includeRuntimeContext) undo.push(prompt.suppressContexts(scope, owner))
  } catch (error) {
    for (const dispose of undo.toReversed()) dispose()
    throw error
  }
  return () => {
    for (const dispose of undo.splice(0).toReversed()) dispose()
  }
}
