import { randomInt } from 'node:crypto'

/** The seed of every run that nobody asked otherwise of. */
const SEED = 20_261_201

/**
 * Seed and number of cases of one fuzzer. `CORE_WEB_FUZZ_SEED` is a number or `random`, `CORE_WEB_FUZZ_RUNS` a factor by which
 * more is tried; what failed is repeated with the seed that the failure prints.
 */
export function fuzz(runs: number, env: NodeJS.ProcessEnv = process.env): { seed: number; numRuns: number } {
  const wanted = env['CORE_WEB_FUZZ_SEED']
  const seed = wanted === 'random' ? randomInt(2 ** 31) : Number(wanted ?? SEED)
  const factor = Number(env['CORE_WEB_FUZZ_RUNS'] ?? 1)
  if (!Number.isInteger(seed) || !(factor > 0))
    throw new Error('CORE_WEB_FUZZ_SEED is a whole number or random, CORE_WEB_FUZZ_RUNS a factor above 0.')
  return { seed, numRuns: Math.ceil(runs * factor) }
}
