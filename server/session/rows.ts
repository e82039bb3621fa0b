import type { Header } from '../wire/events.ts'
import type { SessionRow } from '../wire/views.ts'
import { currentSelection } from '../projection/model-selection.ts'
import { statusOf, type SessionState } from '../projection/session-state.ts'

/** The list line of a session, from its folds; `marks` are a person's, kept beside the log. */
export function rowOf(header: Header, state: SessionState, marks: { pinned: boolean; archived: boolean }): SessionRow {
  const route = currentSelection(state.model)
  const status = statusOf(state)
  return {
    id: header.id,
    title: state.title?.title ?? '',
    ...(header.cwd !== undefined && { cwd: header.cwd }),
    ...(state.preset.current !== null && { preset: state.preset.current }),
    ...(route && { provider: route.provider, model: route.model }),
    created: header.createdAt,
    updated: state.updatedAt,
    turns: state.lastTurn,
    status: status === 'blank' ? 'idle' : status,
    pinned: marks.pinned,
    archived: marks.archived,
    ...(header.parentSession !== undefined && { parent: header.parentSession }),
  }
}
