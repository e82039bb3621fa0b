import type { RequestHeader, Selection } from '../wire/messages.ts'
import type { Projection } from './projection.ts'

export interface ModelSelectionState {
  /** Route of the latest request header; an effort that the adapter filled in is left out, so it is not asked for again (L-11). */
  lastUsed: Selection | null
  /** A pick that no request has used yet. */
  pending: Selection | null
  /** The effort that the adapter filled in for `lastUsed`, for display only. */
  filledEffort: string | null
}

export interface ModelSelectionView {
  lastUsed: Selection | null
  next: Selection | null
}

export const modelSelection: Projection<ModelSelectionState> = {
  key: 'modelSelection',
  stateVersion: 1,
  init: () => ({ lastUsed: null, pending: null, filledEffort: null }),
  apply(state, event) {
    switch (event.type) {
      case 'model/selection':
        return { ...state, pending: selection(event.data) }
      case 'request/header': {
        const lastUsed = selectionOf(event.data.header)
        const filled = event.data.header.adapterDefaults?.reasoningEffort
        return {
          lastUsed,
          pending: state.pending && sameSelection(state.pending, lastUsed) ? null : state.pending,
          filledEffort: (filled && event.data.header.config.reasoningEffort) || null,
        }
      }
      default:
        return state
    }
  },
}

/** What the next request uses when it has no pick of its own; null = the deployment default (L-02). */
export const currentSelection = (state: ModelSelectionState): Selection | null => state.pending ?? state.lastUsed

export const selectionView = (state: ModelSelectionState): ModelSelectionView => ({
  lastUsed: state.lastUsed,
  next: currentSelection(state),
})

export const sameSelection = (a: Selection, b: Selection): boolean =>
  a.provider === b.provider && a.model === b.model && a.reasoningEffort === b.reasoningEffort

export function selectionOf(header: RequestHeader): Selection {
  if (!header.adapterDefaults?.reasoningEffort) return selection(header.config)
  return { provider: header.config.provider, model: header.config.model }
}

const selection = (from: Selection): Selection => ({
  provider: from.provider,
  model: from.model,
  ...(from.reasoningEffort !== undefined && { reasoningEffort: from.reasoningEffort }),
})
