import { sha256 } from './kernel.ts'
import type { Entry, EntryOptions, EntryTree } from '@deepseek-ai/cordis-plugin-loader'

export const GROUP = 'cordis:group'
export const INCLUDE = 'cordis:include'
/** The row that declares a preset; its config carries the preset's own rows. */
export const PRESET_ROW = 'agent-preset'

const childrenOf = (row: EntryOptions): EntryOptions[] => (row.group && Array.isArray(row.config) ? row.config : [])

/** Every row of a list, groups flattened, parents before children. */
export function* flatRows(rows: readonly EntryOptions[]): Generator<EntryOptions, void, void> {
  for (const row of rows) {
    yield row
    yield* flatRows(childrenOf(row))
  }
}

/**
 * A detached copy with an id on every row. An id made up here depends on the place and the name only, so the row
 * survives reloads of its file. Throws on an id that stands twice in one document.
 */
export function prepareRows(rows: readonly EntryOptions[], path = '', seen = new Set<string>()): EntryOptions[] {
  return rows.map((row, index) => {
    const place = `${path}/${index}`
    const id = row.id ?? sha256(`${place}:${row.name}`).slice(0, 8)
    if (seen.has(id)) throw new Error(`two rows have the id ${id}; ids are unique in a document`)
    seen.add(id)
    const group = row.group ?? (row.name === GROUP ? true : undefined)
    const copy: EntryOptions = { ...row, id, ...(group && { group }) }
    if (group && Array.isArray(row.config)) copy.config = prepareRows(row.config, place, seen)
    else if (row.config !== undefined) copy.config = structuredClone(row.config)
    return copy
  })
}

const FIXED_AT_START = ['name', 'inject', 'isolate', 'intercept', 'group'] as const

/** Cordis leaves the old plugin running when one of these keys changes on a live row; such rows are stopped first. */
export async function stopChanged(tree: EntryTree, rows: readonly EntryOptions[]): Promise<void> {
  const changed: Entry[] = []
  for (const row of flatRows(rows)) {
    const entry = tree.store[row.id]
    if (!entry) continue
    if (FIXED_AT_START.some((key) => JSON.stringify(entry.options[key]) !== JSON.stringify(row[key])))
      changed.push(entry)
  }
  for (const entry of changed) {
    const { fiber } = entry
    entry.parent.remove(entry.options.id)
    while (fiber?.inertia) await fiber.inertia
  }
}

/** Labelled realms are process-wide in Cordis: with the generation's number behind it, a label stays inside one generation. */
export function privateLabels(rows: readonly EntryOptions[], serial: number): EntryOptions[] {
  return rows.map((row) => {
    const isolate = Object.entries(row.isolate ?? {})
    const renamed = isolate.map(([name, label]) => [name, label === true ? true : `${label}~${serial}`] as const)
    return {
      ...row,
      ...(isolate.length > 0 && { isolate: Object.fromEntries(renamed) }),
      ...(row.group && Array.isArray(row.config) && { config: privateLabels(row.config, serial) }),
    }
  })
}

const ROW_KEYS = ['id', 'name', 'config', 'group', 'disabled', 'inject', 'isolate', 'intercept'] as const

/** The keys of a row that no row has, as a sentence; undefined when there are none. */
export function unknownKeys(row: object): string | undefined {
  const unknown = Object.keys(row).filter((key) => !(ROW_KEYS as readonly string[]).includes(key))
  if (unknown.length === 0) return undefined
  const near = nearest(unknown[0]!, ROW_KEYS)
  return `unknown key ${unknown.join(', ')}${near === undefined ? '' : ` (did you mean ${near}?)`}`
}

/** The known name with the fewest edits from `name`, when it is close enough to be meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  // Edits cost the product of both lengths, and nobody means anything by a name this long.
  if (name.length > 80) return undefined
  const [best] = known
    .map((candidate) => ({ candidate, edits: editsBetween(name.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits)
  return best && best.edits <= Math.max(1, Math.floor(name.length / 3)) ? best.candidate : undefined
}

/** Levenshtein distance. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_value, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}

const isMap = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Cordis takes these as they come: a wrong one leaves the row off, or the service unconfined, without a word. */
function malformedKey({ inject, isolate, intercept }: { inject?: unknown; isolate?: unknown; intercept?: unknown }) {
  const names = Array.isArray(inject) && inject.every((item) => typeof item === 'string')
  if (inject !== undefined && !names && !isMap(inject)) return 'inject is neither a list of names nor a map'
  if (isolate !== undefined && !isMap(isolate)) return 'isolate is not a map'
  const labels = Object.entries(isolate ?? {})
  const odd = labels.find(([, label]) => label !== true && (typeof label !== 'string' || label === ''))
  if (odd) return `isolate of ${odd[0]} is neither true nor a label`
  return intercept !== undefined && !isMap(intercept) ? 'intercept is not a map' : undefined
}

/** What is wrong with the shape of a row list: the first bad row, named by its place (B-07); undefined when sound. */
export function shapeProblem(rows: unknown, parent = ''): string | undefined {
  if (!Array.isArray(rows)) return parent ? `${parent}: config is not a list` : 'plugins is not a list'
  for (const [index, row] of rows.entries() as ArrayIterator<[number, unknown]>) {
    const label = `${parent && `${parent} > `}row ${index + 1}`
    if (typeof row !== 'object' || row === null || Array.isArray(row)) return `${label} is not a map`
    const { name, group, config } = row as Partial<EntryOptions>
    if (typeof name !== 'string' || name.trim() === '') return `${label} lacks a non-empty name`
    const unknown = unknownKeys(row)
    if (unknown !== undefined) return `${label} (${name}): ${unknown}`
    const malformed = malformedKey(row)
    if (malformed !== undefined) return `${label} (${name}): ${malformed}`
    if (!group && name !== GROUP) continue
    const problem = shapeProblem(config ?? [], label)
    if (problem) return problem
  }
  return undefined
}
