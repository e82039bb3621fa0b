import type { Usage } from '../wire/messages.ts'
import type { Price } from '../wire/models.ts'

/** US dollars, estimated from a list price. */
export interface Cost {
  input: number
  cacheRead: number
  cacheWrite: number
  output: number
  total: number
}

type Counts = Omit<Usage, 'raw'>

/** Prices are per million tokens. */
const PER = 1_000_000

/**
 * What one call cost; null where that is unknown: no price, or no count of input or output. A cache without a price of its
 * own costs what uncached input does. Reasoning is part of the output.
 */
export function costOf(usage: Counts | undefined, price: Price | undefined): Cost | null {
  if (!usage || !price) return null
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage
  if ((inputTokens ?? cacheReadTokens ?? cacheWriteTokens ?? outputTokens) === undefined) return null
  const input = ((inputTokens ?? 0) * price.in) / PER
  const cacheRead = ((cacheReadTokens ?? 0) * (price.cacheRead ?? price.in)) / PER
  const cacheWrite = ((cacheWriteTokens ?? 0) * (price.cacheWrite ?? price.in)) / PER
  const output = ((outputTokens ?? 0) * price.out) / PER
  return { input, cacheRead, cacheWrite, output, total: input + cacheRead + cacheWrite + output }
}

/** What the tokens read from the cache would have cost beyond what they did; 0 where the cache is no cheaper, or nothing is known. */
export function savedBy(usage: Counts | undefined, price: Price | undefined): number {
  const read = usage?.cacheReadTokens
  if (read === undefined || !price || price.cacheRead === undefined) return 0
  return (read * Math.max(0, price.in - price.cacheRead)) / PER
}
