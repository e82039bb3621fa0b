import { isDeepStrictEqual } from 'node:util'

/** One thing that an experiment looked at: what it was, what was there, and what the contract says. */
export interface Observation {
  what: string
  saw: unknown
  expected: unknown
}

export interface Experiment {
  /** `EX-nn`, the clause of docs/contracts.md that it shows. */
  id: string
  title: string
  /** What it does, in one sentence. */
  did: string
  run(): Promise<Observation[]>
}

export interface Verdict {
  experiment: Experiment
  observations: Observation[]
  /** Observations that are not as expected. */
  failed: Observation[]
  /** What the run threw, if it threw. */
  error?: unknown
}

export const observe = (what: string, saw: unknown, expected: unknown): Observation => ({ what, saw, expected })

/** The code of the error that `work` ends with, its message where it has no code; `no error` when it succeeds. */
export async function refusal(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'no error'
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return code ?? message
  }
}

/** An experiment takes well under a second; one that waits for ever must not keep the others from being seen. */
const DEADLINE_MS = 20_000

/** Runs one experiment. One that observes nothing has shown nothing, and fails. */
export async function judge(experiment: Experiment): Promise<Verdict> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`not finished after ${DEADLINE_MS} ms`)), DEADLINE_MS)
  try {
    const observations = await Promise.race([experiment.run(), late.promise])
    if (observations.length === 0) throw new Error('it observed nothing')
    const failed = observations.filter(({ saw, expected }) => !isDeepStrictEqual(saw, expected))
    return { experiment, observations, failed }
  } catch (error) {
    return { experiment, observations: [], failed: [], error }
  } finally {
    clearTimeout(timer)
  }
}

export const passed = ({ failed, error }: Verdict): boolean => failed.length === 0 && error === undefined
