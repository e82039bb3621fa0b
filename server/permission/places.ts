import { isAbsolute, join, posix } from 'node:path'
import { place } from '../files/place.ts'
import { toReal, type Mount } from '../sandbox/mounts.ts'

/** The path that a call names, absolute, and on this machine where it is shown elsewhere to the session. */
export function spelledOf(path: string, cwd: string, mounts: readonly Mount[]): string {
  const full = isAbsolute(path) ? path : join(cwd, path)
  const mapped = toReal(mounts, full)
  // As it was spelled, where nothing is mapped: behind a link, `..` is not what the letters say.
  return mapped === posix.normalize(full).replace(/(?<=.)\/$/, '') ? full : mapped
}

/**
 * Where a path lies, links followed as far as it exists. One that cannot be asked about is taken by its letters: no tool can
 * use it, and each says why.
 */
export async function realPlaceOf(path: string, cwd: string, mounts: readonly Mount[]): Promise<string> {
  const spelled = spelledOf(path, cwd, mounts)
  try {
    return (await place(spelled)).key
  } catch {
    return toReal(mounts, posix.normalize(spelled)) // see above
  }
}
