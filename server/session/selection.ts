import { newId } from '../wire/ids.ts'
import { draft } from '../wire/events.ts'
import type { Message, Selection } from '../wire/messages.ts'
import type { EventLog } from '../log/port.ts'
import { currentSelection, modelSelection } from '../projection/model-selection.ts'
import type { Assembly } from '../prompt/assembly.ts'
import { request } from '../projection/request.ts'
import type { Hooks, PreStepEvent, PreStep, TurnAgent } from '../turn/hooks.ts'

/**
 * Which model a session's next request uses: its own pick, else the route of its last request, else the deployment default.
 * Nothing is cached: the folds of the log are already new inside every listener of the append that changed them (L-09).
 */
export class ModelSelection {
  /** What the latest assembly captured; inspectable only, a request takes the value from its own assembly. */
  assembled: Selection | undefined
  readonly #log: EventLog
  readonly #fallback: () => Selection | undefined

  constructor(log: EventLog, fallback: () => Selection | undefined) {
    this.#log = log
    this.#fallback = fallback
  }

  get current(): Selection | undefined {
    return currentSelection(this.#log.state(modelSelection)) ?? this.#fallback()
  }

  get source(): 'pending' | 'last-request' | 'default' | 'none' {
    const { pending, lastUsed } = this.#log.state(modelSelection)
    if (pending) return 'pending'
    if (lastUsed) return 'last-request'
    return this.#fallback() ? 'default' : 'none'
  }

  /** The pick stands once its event is appended; the caller brings it to disk. */
  selectForNextRequest({ provider, model, reasoningEffort }: Selection): void {
    this.#log.append(
      draft('model/selection', { provider, model, ...(reasoningEffort !== undefined && { reasoningEffort }) }),
    )
  }
}

const OUTERMOST = { prepend: true }

const label = (from: Selection, to: Selection): [string, string] =>
  from.provider === to.provider
    ? [from.model, to.model]
    : [`${from.provider}/${from.model}`, `${to.provider}/${to.model}`]

export interface SelectionOptions {
  /** False in batch runs: the model then reads nothing but tool results (O-26). */
  modelNotice?: boolean
  id?: () => string
}

/** Makes prompt and request of each step agree on one captured selection (M). The disposer removes all three listeners. */
export function installModelSelection(
  hooks: Hooks,
  agent: TurnAgent,
  selection: ModelSelection,
  { modelNotice = true, id = newId }: SelectionOptions = {},
): () => void {
  const undo = [
    hooks.on(agent.scope, 'system-prompt/assemble', (_event, next) => capture(selection, next), OUTERMOST),
    hooks.on(
      agent.scope,
      'agent/request',
      async (event, next) => {
        const config = await next()
        const captured = event.assembly.selection
        if (!captured) return config
        const { reasoningEffort: _inherited, ...rest } = config
        return { ...rest, ...captured }
      },
      OUTERMOST,
    ),
    hooks.on(
      agent.scope,
      'agent/pre-step',
      async (event, next) => {
        const decision = await next()
        return modelNotice ? withNotice(event, decision, id) : decision
      },
      OUTERMOST,
    ),
  ]
  return () => {
    for (const dispose of undo) dispose()
  }
}

async function capture(selection: ModelSelection, next: () => Promise<Assembly>): Promise<Assembly> {
  const captured = selection.current
  const assembly = await next()
  selection.assembled = captured
  if (!captured) return assembly
  const variables = { ...assembly.variables, provider: captured.provider, model: captured.model }
  return { ...assembly, variables, selection: captured }
}

function withNotice(event: PreStepEvent, decision: PreStep, id: () => string): PreStep {
  const captured = event.assembly.selection
  const last = event.agent.log.state(request).header?.config
  if (!captured || !last || decision.kind === 'reject' || event.signal.aborted) return decision
  if (captured.provider === last.provider && captured.model === last.model) return decision
  // A step that will not ask the model, or whose offered messages were all taken out, says nothing either.
  const offered = event.messages.length > 0
  if (decision.messages.length === 0 && (event.step === 1 || offered)) return decision
  const [from, to] = label(last, captured)
  const notice: Message = {
    id: id(),
    role: 'user',
    content: [{ type: 'text', text: `The model of this session changed from ${from} to ${to}.` }],
    source: { kind: 'model-selection', form: 'notice', summary: `${from} → ${to}` },
  }
  return { ...decision, messages: [...decision.messages, notice] }
}
