import type { SessionState } from '../../../server/projection/session-state.ts'
import type { Selection } from '../../../server/wire/messages.ts'
import type { ModelView, ModelsView, ProviderView } from '../../../server/wire/views.ts'

/** Which of the three sources decides about the next request. */
export type Source = 'picked' | 'last' | 'default' | 'none'

export interface Effective {
  source: Source
  selection?: Selection
}

/** The server's projection decides, never the page's own idea (B12). */
export function effective(state: SessionState | undefined, models: ModelsView | undefined): Effective {
  if (state?.model.pending) return { source: 'picked', selection: state.model.pending }
  if (state?.model.lastUsed) return { source: 'last', selection: state.model.lastUsed }
  if (models?.default) return { source: 'default', selection: models.default }
  return { source: 'none' }
}

export type Found =
  | { kind: 'listed'; provider: ProviderView; model: ModelView }
  /** The provider takes it, but its list does not name it. */
  | { kind: 'unlisted'; provider: ProviderView }
  | { kind: 'gone'; why: 'provider' | 'key' | 'problem'; problem?: string }

export function find(models: ModelsView, selection: Selection): Found {
  const provider = models.providers.find((candidate) => candidate.id === selection.provider)
  if (!provider) return { kind: 'gone', why: 'provider' }
  if (provider.key === 'missing') return { kind: 'gone', why: 'key' }
  if (provider.problem !== undefined) return { kind: 'gone', why: 'problem', problem: provider.problem }
  const model = provider.models.find((candidate) => candidate.id === selection.model)
  return model ? { kind: 'listed', provider, model } : { kind: 'unlisted', provider }
}

export interface Choice {
  provider: ProviderView
  model: ModelView
}

/** What can be picked now, the demo first while no provider has a key. */
export function choices(models: ModelsView, query: string): Choice[] {
  const wanted = query.trim().toLowerCase()
  const usable = models.providers.filter((provider) => provider.key !== 'missing')
  const demoFirst = (provider: ProviderView) => (provider.wire === 'demo' && usable.length <= 2 ? 0 : 1)
  return [...usable]
    .sort((a, b) => demoFirst(a) - demoFirst(b))
    .flatMap((provider) => provider.models.map((model) => ({ provider, model })))
    .filter(({ provider, model }) =>
      `${provider.id} ${provider.label} ${model.id} ${model.name}`.toLowerCase().includes(wanted),
    )
}
