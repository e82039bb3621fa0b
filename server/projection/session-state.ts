import type { LogEvent, TurnEndReason } from '../wire/events.ts'
import { agentPreset, type AgentPresetState } from './agent-preset.ts'
import { inbox, type InboxState } from './inbox.ts'
import { modelSelection, type ModelSelectionState, currentSelection } from './model-selection.ts'
import type { Selection } from '../wire/messages.ts'
import type { Projection } from './projection.ts'
import { title, type Title } from './title.ts'
import { todo, type Todo } from './todo.ts'
import { usage, type UsageState } from './usage.ts'

export interface LastHeader {
  provider: string
  model: string
  effort: string | null
  digest: string
  contextWindow: number | null
}

export interface PendingRetry {
  /** Milliseconds since the epoch. */
  until: number
  code: string
  attempt: number
}

/** What server and page both know of a session without its transcript. JSON all through: it is sent as it is. */
export interface SessionState {
  id: string
  cwd: string | null
  createdAt: number
  parentSession: string | null
  origin: 'subagent' | null
  /** `seq` of the last event folded; -1 before the first. */
  seq: number
  updatedAt: number
  title: Title | null
  preset: AgentPresetState
  lastTurn: number
  openTurn: { turn: number; startedAt: number } | null
  lastEnd: { turn: number; reason: TurnEndReason } | null
  inbox: InboxState
  model: ModelSelectionState & { next: Selection | null }
  usage: UsageState
  todo: readonly Todo[]
  lastHeader: LastHeader | null
  retry: PendingRetry | null
  policy: { preset: string | null; sandbox: string | null; approval: string | null }
}

export const sessionState: Projection<SessionState> = {
  key: 'sessionState',
  stateVersion: 1,
  init: (header) => ({
    id: header.id,
    cwd: header.cwd ?? null,
    createdAt: header.createdAt,
    parentSession: header.parentSession ?? null,
    origin: header.origin ?? null,
    seq: -1,
    updatedAt: header.createdAt,
    title: title.init(header),
    preset: agentPreset.init(header),
    lastTurn: 0,
    openTurn: null,
    lastEnd: null,
    inbox: inbox.init(header),
    model: { ...modelSelection.init(header), next: null },
    usage: usage.init(header),
    todo: todo.init(header),
    lastHeader: null,
    retry: null,
    policy: { preset: null, sandbox: null, approval: null },
  }),
  apply(state, event) {
    return { ...state, ...changes(state, event), seq: event.seq, updatedAt: event.time }
  },
}

function changes(state: SessionState, event: LogEvent): Partial<SessionState> {
  switch (event.type) {
    case 'turn/start':
      return {
        lastTurn: Math.max(state.lastTurn, event.data.turn),
        openTurn: { turn: event.data.turn, startedAt: event.time },
        retry: null,
      }
    case 'turn/end':
      return { openTurn: null, lastEnd: event.data, retry: null }
    case 'agent/inbox/spliced':
    case 'user/message':
      return { inbox: inbox.apply(state.inbox, event) }
    case 'session/end-seed':
      return {
        inbox: inbox.apply(state.inbox, event),
        preset: agentPreset.apply(state.preset, event),
        usage: usage.apply(state.usage, event),
      }
    case 'agent-preset/selected':
      return { preset: agentPreset.apply(state.preset, event) }
    case 'session/title':
      return { title: title.apply(state.title, event) }
    case 'todo/write':
      return { todo: todo.apply(state.todo, event) }
    case 'assistant/message':
    case 'assistant/attempt':
      return { usage: usage.apply(state.usage, event), retry: null }
    case 'llm/retry':
      return { retry: { until: event.data.until, code: event.data.code, attempt: event.data.attempt } }
    case 'llm/retry-started':
      return { retry: null }
    default:
      return routeChanges(state, event)
  }
}

function routeChanges(state: SessionState, event: LogEvent): Partial<SessionState> {
  switch (event.type) {
    case 'model/selection':
      return { model: nextModel(state, event) }
    case 'request/header': {
      const { provider, model, reasoningEffort } = event.data.header.config
      const known = state.lastHeader?.provider === provider && state.lastHeader.model === model
      return {
        model: nextModel(state, event),
        lastHeader: {
          provider,
          model,
          effort: reasoningEffort ?? null,
          digest: event.data.compositionDigest,
          contextWindow: known ? (state.lastHeader?.contextWindow ?? null) : null,
        },
      }
    }
    case 'request/context': {
      const last = state.lastHeader
      if (!last || last.provider !== event.data.provider || last.model !== event.data.model) return {}
      return { lastHeader: { ...last, contextWindow: event.data.contextWindow ?? null } }
    }
    case 'permission/preset':
      return { policy: { ...state.policy, preset: event.data.preset } }
    case 'sandbox/mode':
      return { policy: { ...state.policy, sandbox: event.data.mode } }
    case 'approval/policy':
      return { policy: { ...state.policy, approval: event.data.policy } }
    default:
      return {}
  }
}

function nextModel(state: SessionState, event: LogEvent): SessionState['model'] {
  const { next: _, ...selected } = state.model
  const model = modelSelection.apply(selected, event)
  return { ...model, next: currentSelection(model) }
}

/** How the session stands, in one word for lists. */
export function statusOf(state: SessionState): 'blank' | 'running' | 'idle' | 'failed' {
  if (state.openTurn) return 'running'
  if (state.lastTurn === 0) return 'blank'
  return state.lastEnd?.reason.kind === 'error' ? 'failed' : 'idle'
}
