import type { Header, LogEvent } from '../wire/events.ts'
import { textOf } from '../wire/messages.ts'
import type { RequestRow, RequestView } from '../wire/presets.ts'
import { latestSystem } from '../projection/latest-system.ts'
import { request, type RequestState } from '../projection/request.ts'

/** Characters of a prompt that a row shows. */
const PROMPT_CHARS = 80

interface Found {
  turn: number
  step: number
  /** Milliseconds since the epoch, when it was put together. */
  time: number
  /** What was in force when its last attempt went out. */
  state: RequestState
  /** Index of the last event that belongs to it. */
  end: number
}

/** Every model request that the log tells of, oldest first; attempts of one step are one request. */
export function requestsOf(events: readonly LogEvent[], header: Header): RequestRow[] {
  const prompts = new Map<number, string>()
  for (const event of events) {
    if (event.type !== 'user/message' || event.data.turn === undefined || prompts.has(event.data.turn)) continue
    if (event.data.message.source.kind === 'user') prompts.set(event.data.turn, firstWords(textOf(event.data.message)))
  }
  let before: RequestState | undefined
  return find(events, header).map(({ turn, step, time, state }) => {
    const changed = before !== undefined && !sameComposition(before, state)
    before = state
    const { provider, model } = state.header!.config
    const digest = state.compositionDigest!
    return {
      turn,
      step,
      headerSeq: state.headerSeq!,
      time,
      provider,
      model,
      digest,
      changed,
      prompt: prompts.get(turn) ?? '',
    }
  })
}

/** What one request was made of, as it stands in the log; undefined where the log has no such request. */
export function requestView(
  events: readonly LogEvent[],
  header: Header,
  turn: number,
  step: number,
): RequestView | undefined {
  const found = find(events, header).find((each) => each.turn === turn && each.step === step)
  if (!found) return undefined
  const { state, time, end } = found
  const { provider, model, reasoningEffort } = state.header!.config
  const { sections = [], contexts = [], tools: owners = {} } = state.origins ?? {}
  return {
    session: header.id,
    turn,
    step,
    time,
    ...(state.composition && { composition: state.composition }),
    digest: state.compositionDigest!,
    selection: { provider, model, ...(reasoningEffort !== undefined && { reasoningEffort }) },
    system: latestSystem(events.slice(0, end + 1)),
    sections,
    contexts,
    tools: (state.header!.tools ?? []).map((tool) => ({
      ...tool,
      ...(Object.hasOwn(owners, tool.name) && { owner: owners[tool.name]! }),
    })),
    origins: state.origins !== null,
  }
}

function find(events: readonly LogEvent[], header: Header): Found[] {
  const found = new Map<string, Found>()
  let state = request.init(header)
  events.forEach((event, end) => {
    state = request.apply(state, event)
    const at = stepOf(event)
    // Without any header nothing was ever sent.
    if (!at || !state.header) return
    const key = `${at.turn}.${at.step}`
    const known = found.get(key)
    if (known) Object.assign(known, { state, end })
    else found.set(key, { ...at, time: event.time, state, end })
  })
  return [...found.values()]
}

/** The step whose request an event belongs to: the batch that precedes it, its attempts, its answer. */
function stepOf(event: LogEvent): { turn: number; step: number } | undefined {
  switch (event.type) {
    case 'user/message':
    case 'system/message':
    case 'request/header':
    case 'request/origins':
    case 'llm/sent':
    case 'assistant/attempt':
    case 'assistant/message': {
      const { turn, step } = event.data
      return turn === undefined || step === undefined ? undefined : { turn, step }
    }
    default:
      return undefined
  }
}

const sameComposition = (a: RequestState, b: RequestState): boolean =>
  a.compositionDigest === b.compositionDigest &&
  a.composition?.preset === b.composition?.preset &&
  a.composition?.generation === b.composition?.generation

function firstWords(text: string): string {
  // Cut first: a prompt may be a whole file, and only its beginning is looked at.
  const line = text
    .slice(0, PROMPT_CHARS * 4)
    .trim()
    .replaceAll(/\s+/g, ' ')
  const points = Array.from(line)
  return points.length > PROMPT_CHARS ? `${points.slice(0, PROMPT_CHARS - 1).join('')}…` : line
}
