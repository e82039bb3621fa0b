import type { LogEvent, TurnEndReason } from '../wire/events.ts'
import { agentPreset, type AgentPresetState } from './agent-preset.ts'
import { context, type ContextState } from './context.ts'
import { inbox, type InboxState } from './inbox.ts'
import { modelSelection, type ModelSelectionState, currentSelection } from './model-selection.ts'
import type { Selection } from '../wire/messages.ts'
import type { PendingApproval, PinnedPolicy } from '../wire/safety.ts'
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
  /** What the next request holds; read it with `contextReading`. */
  context: ContextState
  /** A limit of the session's own, in US dollars; null: the host's. */
  budget: { limit: number | null } | null
  todo: readonly Todo[]
  lastHeader: LastHeader | null
  retry: PendingRetry | null
  policy: PinnedPolicy
  /** What waits for a person now, oldest first. */
  asks: readonly PendingApproval[]
}

export const sessionState: Projection<SessionState> = {
  key: 'sessionState',
  stateVersion: 3,
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
    context: context.init(header),
    budget: null,
    todo: todo.init(header),
    lastHeader: null,
    retry: null,
    policy: {
      preset: null,
      sandbox: null,
      network: true,
      onAsk: null,
      edits: 'auto',
      commands: 'auto',
      rules: [],
    },
    asks: [],
  }),
  apply(state, event) {
    // One copy, then single fields: a second spread would be a third of what an append costs here.
    const next = { ...state, seq: event.seq, updatedAt: event.time }
    change(next, event)
    return next
  },
}

/** `next` is a fresh copy of the state before the event. */
function change(next: SessionState, event: LogEvent): void {
  switch (event.type) {
    case 'turn/start':
      next.lastTurn = Math.max(next.lastTurn, event.data.turn)
      next.openTurn = { turn: event.data.turn, startedAt: event.time }
      next.retry = null
      break
    case 'turn/end':
      next.openTurn = null
      next.asks = []
      next.lastEnd = event.data
      next.retry = null
      break
    case 'agent/inbox/spliced':
      next.inbox = inbox.apply(next.inbox, event)
      break
    case 'user/message':
      next.inbox = inbox.apply(next.inbox, event)
      next.context = context.apply(next.context, event)
      break
    case 'system/message':
    case 'developer/message':
    case 'tool/result':
      next.context = context.apply(next.context, event)
      break
    case 'session/end-seed':
      next.inbox = inbox.apply(next.inbox, event)
      next.preset = agentPreset.apply(next.preset, event)
      next.usage = usage.apply(next.usage, event)
      break
    case 'agent-preset/selected':
      next.preset = agentPreset.apply(next.preset, event)
      break
    case 'session/title':
      next.title = title.apply(next.title, event)
      break
    case 'todo/write':
      next.todo = todo.apply(next.todo, event)
      break
    default:
      requestChange(next, event)
  }
}

function requestChange(next: SessionState, event: LogEvent): void {
  switch (event.type) {
    case 'assistant/message':
      next.usage = usage.apply(next.usage, event)
      next.context = context.apply(next.context, event)
      next.retry = null
      break
    case 'assistant/attempt':
      next.usage = usage.apply(next.usage, event)
      next.retry = null
      break
    case 'session/title-llm-request':
      next.usage = usage.apply(next.usage, event)
      break
    case 'llm/retry':
      next.retry = { until: event.data.until, code: event.data.code, attempt: event.data.attempt }
      break
    case 'llm/retry-started':
      next.retry = null
      break
    default:
      settingChange(next, event)
  }
}

function settingChange(next: SessionState, event: LogEvent): void {
  switch (event.type) {
    case 'model/selection':
      next.model = nextModel(next.model, event)
      break
    case 'request/header': {
      const { provider, model, reasoningEffort } = event.data.header.config
      const last = next.lastHeader
      const known = last?.provider === provider && last.model === model
      next.model = nextModel(next.model, event)
      next.usage = usage.apply(next.usage, event)
      next.context = context.apply(next.context, event)
      next.lastHeader = {
        provider,
        model,
        effort: reasoningEffort ?? null,
        digest: event.data.compositionDigest,
        contextWindow: known ? last.contextWindow : null,
      }
      break
    }
    case 'request/context': {
      const last = next.lastHeader
      if (last?.provider !== event.data.provider || last.model !== event.data.model) break
      next.lastHeader = { ...last, contextWindow: event.data.contextWindow ?? null }
      break
    }
    case 'session/budget':
      next.budget = { limit: event.data.limit }
      break
    default:
      safetyChange(next, event)
  }
}

function safetyChange(next: SessionState, event: LogEvent): void {
  switch (event.type) {
    case 'permission/preset':
      next.policy = { ...next.policy, preset: event.data.preset }
      break
    case 'sandbox/mode':
      next.policy = { ...next.policy, sandbox: event.data.mode, network: event.data.network ?? true }
      break
    case 'approval/policy': {
      const { policy: onAsk, edits = 'auto', commands = 'auto' } = event.data
      next.policy = { ...next.policy, onAsk, edits, commands }
      break
    }
    case 'permission/rules':
      next.policy = { ...next.policy, rules: event.data.rules }
      break
    case 'approval/asked':
      next.asks = [...next.asks, { ...event.data, askedAt: event.time }]
      break
    case 'approval/decided':
      next.asks = next.asks.filter(({ id }) => id !== event.data.id)
      break
    default:
      break
  }
}

function nextModel({ next: _, ...selected }: SessionState['model'], event: LogEvent): SessionState['model'] {
  const model = modelSelection.apply(selected, event)
  return { ...model, next: currentSelection(model) }
}

/** How the session stands, in one word for lists. */
export function statusOf(state: SessionState): 'blank' | 'running' | 'needs-you' | 'idle' | 'failed' {
  if (state.asks.length > 0) return 'needs-you'
  if (state.openTurn) return 'running'
  if (state.lastTurn === 0) return 'blank'
  return state.lastEnd?.reason.kind === 'error' ? 'failed' : 'idle'
}
