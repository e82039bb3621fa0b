/** Deeper values could exhaust the stack of `JSON.stringify` and of every later walk. */
const MAX_DEPTH = 256

/**
 * A frozen copy that equals what a reader gets back from disk, or a TypeError that names the path of what JSON would lose:
 * NaN, infinities, bigint, functions, symbols, class instances, holes and `undefined` in arrays, cycles. Two things are
 * settled instead of refused: a property that is `undefined` or has a symbol as its key is left out, and -0 becomes 0. Lone surrogates are kept: JSON
 * escapes them, so they come back as they were.
 */
export function frozenJson<T>(value: T, path = '$'): T {
  return copy(value, path, 0) as T
}

function copy(value: unknown, path: string, depth: number): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw lossy(path, String(value))
    return value === 0 ? 0 : value
  }
  if (typeof value !== 'object') throw lossy(path, typeof value)
  if (depth >= MAX_DEPTH) throw lossy(path, `a value nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) return copyArray(value, path, depth)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw lossy(path, 'an object with a class')
  return copyObject(value as Record<string, unknown>, path, depth)
}

function copyArray(value: readonly unknown[], path: string, depth: number): readonly unknown[] {
  const result = new Array<unknown>(value.length)
  for (let index = 0; index < value.length; index++) {
    const item = value[index]
    if (item === undefined) throw lossy(`${path}[${index}]`, 'undefined in an array')
    // Paths are only built on the way down into containers: most values are plain strings and numbers.
    result[index] = isLeaf(item) ? item : copy(item, `${path}[${index}]`, depth + 1)
  }
  return Object.freeze(result)
}

function copyObject(value: Record<string, unknown>, path: string, depth: number): object {
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const item = value[key]
    if (item === undefined) continue
    const kept = isLeaf(item) ? item : copy(item, `${path}.${key}`, depth + 1)
    if (key === '__proto__') {
      // An assignment would set the prototype instead of the property that JSON.parse makes.
      Object.defineProperty(result, key, { value: kept, enumerable: true })
      continue
    }
    result[key] = kept
  }
  return Object.freeze(result)
}

const isLeaf = (value: unknown): boolean =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  value === null ||
  (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0))

const lossy = (path: string, what: string): TypeError => new TypeError(`not JSON at ${path}: ${what}`)
