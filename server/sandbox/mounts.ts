import { posix } from 'node:path'

/** A path as commands and the model write it, and where it lies on this machine. */
export type Mount = readonly [shown: string, real: string]

/** True for the folder itself and all below it; both are absolute and normal. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)

/** `path` with its beginning `from` replaced; `path` has to lie within `from`. */
export const rebase = (path: string, from: string, to: string): string => posix.join(to, posix.relative(from, path))

/**
 * Where a path that the model wrote lies. `.` and `..` are resolved by the letters alone, as an editor shows them; links are
 * the caller's to follow, on the result.
 */
export const toReal = (mounts: readonly Mount[], path: string): string => translate(path, mounts)

/** What the model knows a real path as. */
export const toShown = (mounts: readonly Mount[], path: string): string =>
  translate(
    path,
    mounts.map(([shown, real]) => [real, shown]),
  )

/** The longest entry that holds the path decides, as for mounts that lie in each other. */
function translate(path: string, table: readonly Mount[]): string {
  const normal = trimmed(posix.normalize(path))
  const [from, to] = table
    .filter(([beginning]) => isWithin(normal, trimmed(beginning)))
    .reduce((best, entry) => (entry[0].length > best[0].length ? entry : best), ['', ''] as Mount)
  return from === '' ? normal : rebase(normal, trimmed(from), trimmed(to))
}

const trimmed = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)
