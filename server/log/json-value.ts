/** Deeper values could exhaust the stack of `JSON.stringify` and of every later walk. */
const MAX_DEPTH = 256

/** What JSON would lose; where it stands is looked for only then. */
class Lossy extends Error {}

/**
 * A frozen copy that equals what a reader gets back from disk, or a TypeError that names the path of what JSON would lose:
 * NaN, infinities, bigint, functions, symbols, class instances, holes and `undefined` in arrays, cycles. Two things are
 * settled instead of refused: a property that is `undefined` or has a symbol as its key is left out, and -0 becomes 0.
 * Lone surrogates are kept: JSON escapes them, so they come back as they were.
 */
export function frozenJson<T>(value: T): T {
  try {
    return copy(value, 0) as T
  } catch (error) {
    if (!(error instanceof Lossy)) throw error
    throw new TypeError(`not JSON at ${whereLost(value, '$', 0)}: ${error.message}`, { cause: error })
  }
}

function copy(value: unknown, depth: number): unknown {
  if (isLeaf(value)) return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Lossy(String(value))
    return 0
  }
  if (typeof value !== 'object') throw new Lossy(typeof value)
  if (depth >= MAX_DEPTH) throw new Lossy(`a value nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) return copyArray(value, depth)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw new Lossy('an object with a class')
  return copyObject(value as Record<string, unknown>, depth)
}

function copyArray(value: readonly unknown[], depth: number): readonly unknown[] {
  const result: unknown[] = []
  for (let index = 0; index < value.length; index++) {
    const item = value[index]
    if (item === undefined) throw new Lossy('undefined in an array')
    result.push(isLeaf(item) ? item : copy(item, depth + 1))
  }
  return Object.freeze(result)
}

function copyObject(value: Record<string, unknown>, depth: number): object {
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const item = value[key]
    if (item === undefined) continue
    const kept = isLeaf(item) ? item : copy(item, depth + 1)
    // An assignment would set the prototype instead of the property that JSON.parse makes.
    if (key === '__proto__') Object.defineProperty(result, key, { value: kept, enumerable: true })
    else result[key] = kept
  }
  return Object.freeze(result)
}

/** Zero is no leaf here: it may be -0. */
const isLeaf = (value: unknown): boolean =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  value === null ||
  (typeof value === 'number' && value !== 0 && Number.isFinite(value))

function whereLost(value: unknown, path: string, depth: number): string {
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return path
  const entries = Array.isArray(value)
    ? Array.from(value, (item: unknown, index) => [`[${index}]`, item] as const)
    : Object.entries(value).map(([key, item]: [string, unknown]) => [`.${key}`, item] as const)
  for (const [step, item] of entries) {
    if (item === undefined && !Array.isArray(value)) continue
    try {
      copy(item, depth + 1)
    } catch {
      // This branch holds the loss; its message is already known.
      return whereLost(item, path + step, depth + 1)
    }
  }
  return path
}
