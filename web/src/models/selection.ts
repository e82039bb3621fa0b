import type { SessionState } from '../../../server/projection/session-state.ts'
import type { Selection } from '../../../server/wire/messages.ts'
import type { ModelView, ModelsView, ProviderView } from '../../../server/wire/views.ts'

/** Which of the three sources decides about the next request. */
export type Source = 'picked' | 'last' | 'default' | 'none'

export interface Effective {
  source: Source
  selection?: Selection
  /** What the provider's side filled in with the last request, where no effort was asked for. */
  filledEffort?: string
}

/** The server's projection decides, never the page's own idea (B12). */
export function effective(state: SessionState | undefined, models: ModelsView | undefined): Effective {
  if (state?.model.pending) return { source: 'picked', selection: state.model.pending }
  if (state?.model.lastUsed) {
    const { lastUsed: selection, filledEffort } = state.model
    return { source: 'last', selection, ...(filledEffort !== null && { filledEffort }) }
  }
  if (models?.default) return { source: 'default', selection: models.default }
  return { source: 'none' }
}

export type Found =
  | { kind: 'listed'; provider: ProviderView; model: ModelView }
  /** The provider takes it, but its list does not name it. */
  | { kind: 'unlisted'; provider: ProviderView }
  | { kind: 'gone'; why: 'provider' | 'key' | 'problem'; provider?: ProviderView; problem?: string }

export function find(models: ModelsView, selection: Selection): Found {
  const provider = models.providers.find((candidate) => candidate.id === selection.provider)
  if (!provider) return { kind: 'gone', why: 'provider' }
  if (provider.key === 'missing') return { kind: 'gone', why: 'key', provider }
  const { problem } = provider
  if (problem !== undefined) return { kind: 'gone', why: 'problem', provider, problem }
  const model = provider.models.find((candidate) => candidate.id === selection.model)
  return model ? { kind: 'listed', provider, model } : { kind: 'unlisted', provider }
}

/** What can be asked for: of a listed model what its card says, of others what the route declares. */
export function effortsOf(found: Found | undefined): ModelView['efforts'] {
  if (found?.kind === 'listed') return found.model.efforts
  if (found?.kind === 'unlisted') return found.provider.settings?.options.efforts ?? []
  return []
}

/** A picked effort stays with a model that offers it, and is dropped by one that does not. */
export function withEffort(
  target: { provider: string; model: string; efforts: ModelView['efforts'] },
  before: Selection | undefined,
): Selection {
  const { provider, model, efforts } = target
  const effort = before?.reasoningEffort
  const kept = effort !== undefined && efforts.some((candidate) => candidate.id === effort)
  return { provider, model, ...(kept && { reasoningEffort: effort }) }
}
