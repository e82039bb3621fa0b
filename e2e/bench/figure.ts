/** One measured figure beside its floor: the least any program could spend on the same work, measured in the same run. */
export interface Figure {
  name: string
  unit: string
  value: number
  floor: number
  floorIs: string
  /** What target and gate bound: the value, what it adds to the floor, or how many times the floor it is. */
  judged: 'value' | 'over' | 'ratio'
  target: number
  /** Fails the run. Twice the target unless a figure says otherwise: a busy machine must not turn it red. */
  gate: number
  note?: string
}

export type Group = () => Promise<Figure[]>

/** Rounds of every timed figure; the median counts. */
export const ROUNDS = 5

export const figure = (fields: Omit<Figure, 'gate'> & { gate?: number }): Figure => ({
  gate: fields.target * 2,
  ...fields,
})

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function judgedValue({ judged, value, floor }: Figure): number {
  if (judged === 'value') return value
  return judged === 'over' ? value - floor : value / floor
}

export type Verdict = 'ok' | 'over target' | 'GATE'

export function verdict(one: Figure): Verdict {
  const judged = judgedValue(one)
  // NaN is a measurement that went wrong, never a good one.
  if (!(judged <= one.gate)) return 'GATE'
  return judged <= one.target ? 'ok' : 'over target'
}

/** Milliseconds of one call. */
export async function timed(work: () => unknown): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Milliseconds of CPU of this process, all its threads included, during one call. */
export async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Medians of two works that take turns, so that a busy moment falls on both; one round ahead of the count warms both up. */
export async function paired(
  measure: () => Promise<number>,
  floor: () => Promise<number>,
  rounds: number = ROUNDS,
): Promise<{ value: number; floor: number }> {
  const values: number[] = []
  const floors: number[] = []
  for (let round = 0; round <= rounds; round++) {
    floors.push(await floor())
    values.push(await measure())
  }
  return { value: median(values.slice(1)), floor: median(floors.slice(1)) }
}

/** Median of several runs of one work within a round. */
export async function repeated(times: number, measure: () => Promise<number>): Promise<number> {
  const samples: number[] = []
  for (let n = 0; n < times; n++) samples.push(await measure())
  return median(samples)
}
