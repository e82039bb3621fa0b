/** An axis from 0: its ticks are round numbers, the last one is at or above the highest value. */
export interface Axis {
  top: number
  ticks: number[]
}

const STEPS = [1, 2, 2.5, 5, 10] as const

/** About `count` steps up to `max`; `whole` for what cannot be divided. Without a value the axis ends at 1. */
export function axisTo(max: number, count = 4, whole = false): Axis {
  const wanted = max > 0 && Number.isFinite(max) ? max : 1
  const power = Math.floor(Math.log10(wanted / count))
  const fits = (step: number) => step * count >= wanted * (1 - 1e-9) && (!whole || Number.isInteger(step))
  const sizes = [power, power + 1, power + 2].flatMap((exponent) => STEPS.map((step) => scaled(step, exponent)))
  const step = sizes.find((size) => size > 0 && fits(size)) ?? Math.ceil(wanted / count)
  const steps = Math.max(1, Math.ceil(wanted / step - 1e-9))
  const ticks = Array.from({ length: steps + 1 }, (_, index) => tidy(index * step))
  return { top: ticks.at(-1) ?? wanted, ticks }
}

/** Without the tail of binary fractions: 0.30000000000000004 is 0.3. */
const tidy = (value: number): number => Number(value.toPrecision(12))
const scaled = (step: number, exponent: number): number => tidy(step * 10 ** exponent)

/** Decimal places that tell the ticks of an axis of money apart: none for whole dollars, otherwise cents at least. */
export function placesOf({ ticks }: Axis): number {
  if (ticks.every(Number.isInteger)) return 0
  for (let places = 2; places < 12; places++) {
    if (ticks.every((tick) => Math.abs(tick - Number(tick.toFixed(places))) < 1e-12)) return places
  }
  return 12
}

export interface Bar {
  /** Of the whole band, the place a pointer hits. */
  from: number
  to: number
  x: number
  width: number
}

/** `count` bars over `width` pixels, each on whole pixels, so that its edges are sharp; no gap is less than a pixel. */
export function barsOver(count: number, width: number): Bar[] {
  const band = width / Math.max(1, count)
  const bar = Math.max(1, Math.min(48, Math.floor(band * 0.58)))
  return Array.from({ length: count }, (_, index) => ({
    from: band * index,
    to: band * (index + 1),
    x: Math.round(band * index + (band - bar) / 2),
    width: bar,
  }))
}

/**
 * The days that get a label: the first, the last, and between them as many evenly spaced ones as have room, `room` pixels
 * for each.
 */
export function labelled(count: number, width: number, room: number): number[] {
  if (count <= 0) return []
  if (count === 1) return [0]
  const most = Math.max(2, Math.floor(width / room))
  const every = [1, 2, 5, 7, 10, 15, 30].find((step) => Math.ceil((count - 1) / step) + 1 <= most) ?? count - 1
  const marks = []
  for (let index = count - 1; index > 0; index -= every) marks.unshift(index)
  const near = ((marks[0] ?? count) * width) / count
  return near < room && marks.length > 1 ? [0, ...marks.slice(1)] : [0, ...marks]
}
