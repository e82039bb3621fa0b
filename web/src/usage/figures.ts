import type { UsageCounts, UsageDay } from '../../../server/wire/models.ts'
import type { UsageUnit } from '../router.ts'
import { never } from '../../../server/wire/never.ts'

export type PartName = 'uncached' | 'cached' | 'output' | 'done' | 'failed'

/** One piece of a day's bar. */
export interface Part {
  name: PartName
  value: number
}

/** All that was sent to the model: read from the cache or not, written to it or not. */
export const inputOf = ({ inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 }: UsageCounts): number =>
  inputTokens + cacheReadTokens + cacheWriteTokens

const reported = (counts: UsageCounts): boolean =>
  counts.inputTokens !== undefined || counts.cacheReadTokens !== undefined || counts.cacheWriteTokens !== undefined

/** 0 to 1 of the input; undefined when nobody reported input. */
export function cachedShare(counts: UsageCounts): number | undefined {
  const input = inputOf(counts)
  return reported(counts) && input > 0 ? (counts.cacheReadTokens ?? 0) / input : undefined
}

/** 0 to 1 of the output that was thinking; undefined when nobody said so. */
export function thinkingShare({ outputTokens = 0, reasoningTokens }: UsageCounts): number | undefined {
  return reasoningTokens === undefined || outputTokens <= 0 ? undefined : Math.min(1, reasoningTokens / outputTokens)
}

/** From the ground up. Sums to `valueOf` of the same day. */
export function partsOf(counts: UsageCounts, unit: UsageUnit): Part[] {
  switch (unit) {
    case 'cost': {
      const { input, cacheRead, cacheWrite, output } = counts.cost
      return parts({ uncached: input + cacheWrite, cached: cacheRead, output })
    }
    case 'tokens': {
      const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0 } = counts
      return parts({ uncached: inputTokens + cacheWriteTokens, cached: cacheReadTokens, output: outputTokens })
    }
    case 'requests':
      return parts({ done: Math.max(0, counts.requests - counts.failed), failed: counts.failed })
    default:
      return never(unit)
  }
}

const parts = (values: { [name in PartName]?: number }): Part[] =>
  Object.entries(values).map(([name, value]) => ({ name: name as PartName, value }))

export const valueOf = (counts: UsageCounts, unit: UsageUnit): number =>
  partsOf(counts, unit).reduce((sum, part) => sum + part.value, 0)

/** The day with the most; the first of equals. */
export function highest(days: readonly UsageDay[], unit: UsageUnit): UsageDay | undefined {
  let best: UsageDay | undefined
  for (const day of days) if (!best || valueOf(day, unit) > valueOf(best, unit)) best = day
  return best
}

export type Change =
  | { kind: 'none' }
  | { kind: 'same' }
  | { kind: 'more' | 'less'; percent: number }
  /** From the double on, where percents are hard to read. */
  | { kind: 'times'; factor: number }

/** Against the period before; `none` when that had nothing to compare with. */
export function changeOf(now: number, before: number): Change {
  if (before <= 0) return { kind: 'none' }
  if (now >= before * 2) return { kind: 'times', factor: factorOf(now / before) }
  const percent = Math.round((now / before - 1) * 100)
  if (percent === 0) return { kind: 'same' }
  return { kind: percent > 0 ? 'more' : 'less', percent: Math.abs(percent) }
}

/** `2.1`, but `50`. */
const factorOf = (times: number): number => (times < 10 ? Math.round(times * 10) / 10 : Math.round(times))

/** In percent, and neither all nor nothing unless it is so: `<1`, `50`, `>99`. */
export function percentOf(share: number): string {
  if (share > 0 && share < 0.01) return '<1'
  if (share < 1 && share > 0.99) return '>99'
  return String(Math.round(share * 100))
}

/**
 * True when there is a sum of money to tell. Refused requests cost nothing with or without a price: beside others without
 * one, nothing is no sum.
 */
export const priced = ({ cost, unpriced }: UsageCounts): boolean => cost.total > 0 || unpriced === 0

/** The index of one value far above the rest, twice the median or more; undefined with few values to judge by. */
export function standsOut(values: readonly (number | undefined)[]): number | undefined {
  const known = values.flatMap((value, index) => (value === undefined ? [] : [{ value, index }]))
  if (known.length < 5) return undefined
  const sorted = known.toSorted((a, b) => a.value - b.value)
  const [middle, top] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  return middle && top && top.value >= middle.value * 2 ? top.index : undefined
}

/** Cut points of a line: runs of days that have a value. */
export function runsOf(values: readonly (number | undefined)[]): { index: number; value: number }[][] {
  const runs: { index: number; value: number }[][] = []
  let open: { index: number; value: number }[] = []
  for (const [index, value] of values.entries()) {
    if (value !== undefined) {
      open.push({ index, value })
      continue
    }
    if (open.length > 0) runs.push(open)
    open = []
  }
  return open.length > 0 ? [...runs, open] : runs
}
