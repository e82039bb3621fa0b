import type { LogEvent } from '../wire/events.ts'
import type { Selection, Usage } from '../wire/messages.ts'
import { sameSelection, selectionOf } from './model-selection.ts'
import { at, type Draft, type Of } from './transcript-draft.ts'
import type { Item, ItemOf, ModelMark, Money } from './transcript-items.ts'
import { usageCall } from './usage-call.ts'

/** What a transcript shows of the model itself: where it changed, what its requests cost, how it was tried again. */

/**
 * A change is one line, however often one thought better of it before a request used it: the latest pick stands, and a pick
 * of what was used before takes the line away.
 */
export function modelPicked(draft: Draft, event: Of<'model/selection'>): void {
  const { provider, model, reasoningEffort } = event.data
  const picked: Selection = { provider, model, ...(reasoningEffort !== undefined && { reasoningEffort }) }
  const before = draft.selection
  draft.selection = picked
  if (!draft.begun || (before && sameSelection(before, picked))) return
  const open = openMark(draft)
  const from = open ? open.mark.from : (draft.used ?? before)
  if (open) removeAt(draft, open.index)
  if (from && sameSelection(from, picked)) return
  draft.items.push({ ...at(event), kind: 'mark', mark: { type: 'model', ...picked, ...(from && { from }) } })
}

export function requestHeader(draft: Draft, event: Of<'request/header'>): void {
  const { header, composition, step } = event.data
  const { provider, model, reasoningEffort } = header.config
  markUse(draft, event, selectionOf(header))
  delete draft.composition
  if (composition) draft.composition = composition
  if (!draft.turn) return
  const selection: Selection = { provider, model, ...(reasoningEffort !== undefined && { reasoningEffort }) }
  draft.turn = { ...draft.turn, selection, ...(step !== undefined && { step }) }
}

/** The line of a pick stays where it is, unless the model before it still spoke below: then the change is here. */
function markUse(draft: Draft, event: LogEvent, used: Selection): void {
  const before = draft.used
  const open = openMark(draft)
  draft.used = used
  if (open && !sameSelection(open.mark, used)) return
  draft.selection = used
  if (open) {
    const mark: ModelMark = { ...open.mark, used: true }
    if (!draft.items.slice(open.index + 1).some(isSpoken)) {
      draft.items[open.index] = { ...open.item, mark }
      return
    }
    removeAt(draft, open.index)
    draft.items.push({ ...open.item, seq: event.seq, time: event.time, mark })
    return
  }
  if (!before || sameSelection(before, used)) return
  draft.items.push({ ...at(event), kind: 'mark', mark: { type: 'model', ...used, from: before, used: true } })
}

const isSpoken = (item: Item): boolean => item.kind === 'text' || item.kind === 'thinking' || item.kind === 'tool'

function openMark(draft: Draft): { index: number; item: ItemOf<'mark'>; mark: ModelMark } | undefined {
  const index = draft.items.findLastIndex((item) => item.kind === 'mark' && item.mark.type === 'model')
  const item = draft.items[index]
  if (item?.kind !== 'mark' || item.mark.type !== 'model' || item.mark.used) return undefined
  return { index, item, mark: item.mark }
}

function removeAt(draft: Draft, index: number): void {
  draft.items.splice(index, 1)
  for (const [callId, place] of draft.calls) if (place > index) draft.calls.set(callId, place - 1)
}

/** The model is told of a change in a message of its own; the mark of the change says that, so it is no second line. */
export function toldModel(draft: Draft, words: string): boolean {
  const index = draft.items.findLastIndex((item) => item.kind === 'mark' && item.mark.type === 'model')
  const item = draft.items[index]
  if (item?.kind !== 'mark' || item.mark.type !== 'model' || item.mark.told !== undefined) return false
  draft.items[index] = { ...item, mark: { ...item.mark, told: words } }
  return true
}

/** Adds what a request of the open turn counted and cost. */
export function countCall(draft: Draft, event: Of<'assistant/message' | 'assistant/attempt'>): void {
  const { turn } = draft
  if (!turn) return
  const call = usageCall(event, null)
  if (!call) return
  const { cost = 0, unpriced = 0 } = turn.money ?? {}
  const money: Money = { cost: cost + (call.cost?.total ?? 0), unpriced: unpriced + (call.cost ? 0 : 1) }
  draft.turn = { ...turn, money, ...(call.usage && { usage: addUsage(turn.usage, call.usage) }) }
}

/** Sums what both know; a count that no request reported stays unknown. */
function addUsage(sum: Usage | undefined, usage: Usage): Usage {
  const total: Usage = { ...sum }
  for (const key of [
    'inputTokens',
    'cacheReadTokens',
    'cacheWriteTokens',
    'outputTokens',
    'reasoningTokens',
  ] as const) {
    const count = usage[key]
    if (count !== undefined) total[key] = (total[key] ?? 0) + count
  }
  return total
}

/** The step that a message or an attempt of the model stands in is one that asked it. */
export function asked(draft: Draft, step: number): void {
  if (draft.turn) draft.turn = { ...draft.turn, step }
}

export function attempt(draft: Draft, event: Of<'assistant/attempt'>): void {
  const { error, step } = event.data
  asked(draft, step)
  countCall(draft, event)
  if (error) draft.items.push({ ...at(event), kind: 'retry', error })
}

/** `attempt` of the event is the one that failed. */
export function retry(draft: Draft, event: Of<'llm/retry'>): void {
  const { code, message, delayMs, until, attempt: failed } = event.data
  const waits = { failed, waitMs: delayMs, until }
  const last = draft.items.at(-1)
  if (last?.kind === 'retry' && last.until === undefined) {
    draft.items[draft.items.length - 1] = { ...last, ...waits }
    return
  }
  draft.items.push({ ...at(event), kind: 'retry', error: { code, message: message ?? '' }, ...waits })
}

export function retryStarted(draft: Draft, event: Of<'llm/retry-started'>): void {
  const index = draft.items.findLastIndex((item) => item.kind === 'retry')
  const item = draft.items[index]
  if (item?.kind !== 'retry') return
  draft.items[index] = { ...item, started: true, waitedMs: Math.max(0, event.time - item.time) }
}
