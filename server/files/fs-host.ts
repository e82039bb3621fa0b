import type { Fs } from './fs.ts'
import { localFs } from './fs-local.ts'
import { createObservation, type Observation } from './observation.ts'

export interface HostFs {
  fs: Fs
  observation: Observation
}

/**
 * What agents of the host use: the local files with the observation policy on top. It confines nothing, and says so
 * by having no `sandboxMode`.
 */
export function hostFs(observation: Observation = createObservation()): HostFs {
  return { fs: localFs(observation.hooks), observation }
}
