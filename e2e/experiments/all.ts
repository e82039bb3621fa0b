import { choosing } from './choosing.ts'
import { defaultModel } from './default-model.ts'
import { health } from './health.ts'
import { personas } from './personas.ts'
import { revisions } from './revisions.ts'
import { roster } from './roster.ts'
import { sessionModel } from './session-model.ts'
import { switching } from './switching.ts'
import type { Experiment } from './experiment.ts'

/** The thirty, in order of their numbers. */
export const experiments: readonly Experiment[] = [
  ...choosing,
  ...health,
  ...revisions,
  ...roster,
  ...switching,
  ...personas,
  ...defaultModel,
  ...sessionModel,
]
