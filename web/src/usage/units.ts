import { money, thousands, tokens } from '../i18n/format.ts'
import type { UsageUnit } from '../router.ts'
import type { PartName } from './figures.ts'
import { placesOf } from './scale.ts'
import type { Axis } from './scale.ts'

/** A value as the readout says it. */
export const inUnit = (value: number, unit: UsageUnit): string =>
  unit === 'cost' ? money(value) : unit === 'tokens' ? tokens(value) : thousands(value)

/** A tick: money with as many places as tell its neighbours apart. */
export function tickText(tick: number, axis: Axis, unit: UsageUnit): string {
  if (unit !== 'cost') return tokens(tick)
  const places = placesOf(axis)
  return `$${tick.toLocaleString('en-US', { minimumFractionDigits: places, maximumFractionDigits: places })}`
}

/** The colour class of a part: tones, and the hue of failure for failures alone. */
export const TONES: Record<PartName, string> = {
  uncached: 'p1',
  cached: 'p3',
  output: 'p2',
  done: 'p1',
  failed: 'pf',
}

/** The order of a legend: as the parts lie on each other, from the top. */
export const LEGEND: Record<UsageUnit, readonly PartName[]> = {
  cost: ['output', 'cached', 'uncached'],
  tokens: ['output', 'cached', 'uncached'],
  requests: ['failed', 'done'],
}
