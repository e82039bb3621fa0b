import { PRESET_ROW, nearest, prepareRows, unknownKeys, GROUP } from './rows.ts'
import { DeclarationConfig } from './declaration.ts'
import { configFindings } from './check-config.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'
import type { Diagnostic } from '../wire/presets.ts'
import type { Path, PlacedDocument } from './check-yaml.ts'
import type { RowPlugin } from './kernel.ts'
import type { Plane } from './loader.ts'

/** What a check may know of plugins. */
export interface RowKnowledge {
  /** Why a row of this name may not stand here; undefined when it may. */
  planeProblem(name: string, plane: Plane): string | undefined
  /** The plugin behind a name, or why there is none. */
  pluginOf(name: string): Promise<{ plugin: Partial<RowPlugin> } | { missing: string }>
  /** Names of the catalog that a preset may use. */
  names: readonly string[]
}

export interface PlacedRow {
  row: Partial<EntryOptions>
  path: Path
  at: string
}

/** Collects diagnostics of one document, each with its place. */
export class Findings {
  readonly list: Diagnostic[] = []
  readonly #document: PlacedDocument

  constructor(document: PlacedDocument) {
    this.#document = document
  }

  get failed(): boolean {
    return this.list.some(({ severity }) => severity === 'error')
  }

  add(message: string, path: Path, at: string, more: { severity?: Diagnostic['severity']; what?: 'key' } = {}): void {
    const { severity = 'error', what = 'value' } = more
    this.list.push({ severity, message, ...this.#document.place(path, what), ...(at && { at }) })
  }
}

const isRow = (value: unknown): value is Partial<EntryOptions> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const nameOf = (row: Partial<EntryOptions>): string =>
  [row.id, row.name].find((text) => typeof text === 'string' && text.trim() !== '') ?? ''

/** The one `agent-preset` row of a document; says what stands in its place otherwise. */
export function presetRow(data: readonly unknown[], found: Findings): PlacedRow | undefined {
  const [row, second] = data
  if (row === undefined) {
    found.add('The document is empty. It takes one agent-preset row.', [], '')
    return undefined
  }
  if (second !== undefined)
    found.add('The document has more than one row. One document declares one preset.', [1], '[1]')
  if (!isRow(row)) {
    found.add('This row is not a map.', [0], '[0]')
    return undefined
  }
  const at = `[0] ${nameOf(row)}`.trim()
  if (row.name !== PRESET_ROW) {
    found.add(`The row's name is ${JSON.stringify(row.name)}; a preset is declared by ${PRESET_ROW}.`, [0, 'name'], at)
    return undefined
  }
  rowKeys({ row, path: [0], at }, found)
  return { row, path: [0], at }
}

function rowKeys({ row, path, at }: PlacedRow, found: Findings): void {
  const { id } = row as { id?: unknown }
  if (id !== undefined && (typeof id !== 'string' || id.trim() === ''))
    found.add('The id is blank.', [...path, 'id'], at)
  for (const key of Object.keys(row)) {
    const problem = unknownKeys({ [key]: true })
    if (problem !== undefined) found.add(problem, [...path, key], at, { what: 'key' })
  }
}

/** The config of the declaring row, without the rows in it. */
export async function declarationFindings({ row, path, at }: PlacedRow, found: Findings): Promise<void> {
  for (const { message, path: inner, what } of await configFindings({ schema: DeclarationConfig }, row.config))
    found.add(message, [...path, 'config', ...inner], `${at} > config`, what && { what })
}

/** Every row of the preset, groups before what is in them; says what is no row. */
export function* presetRows(list: unknown, path: Path, at: string, found: Findings): Generator<PlacedRow> {
  if (!Array.isArray(list)) {
    found.add('This is not a list of rows.', path, at)
    return
  }
  for (const [index, row] of list.entries()) {
    const here = [...path, index]
    const label = `${at}[${index}] ${isRow(row) ? nameOf(row) : ''}`.trim()
    if (!isRow(row)) {
      found.add(`Row ${index + 1} is not a map.`, here, label)
      continue
    }
    if (typeof row.name !== 'string' || row.name.trim() === '') {
      found.add(`Row ${index + 1} lacks a non-empty name.`, [...here, 'name'], label)
      continue
    }
    const placed = { row, path: here, at: label }
    rowKeys(placed, found)
    yield placed
    if (row.group || row.name === GROUP)
      yield* presetRows(row.config ?? [], [...here, 'config'], `${label} > config`, found)
  }
}

/** Ids that stand twice, at the second place of each. */
export function duplicateIds(rows: readonly PlacedRow[], found: Findings): void {
  const seen = new Set<string>()
  for (const { row, path, at } of rows) {
    if (row.id === undefined) continue
    if (seen.has(row.id)) found.add(`The id ${row.id} stands twice in this document.`, [...path, 'id'], at)
    seen.add(row.id)
  }
}

/** Name, plane and config of one row. */
export async function rowFindings(placed: PlacedRow, known: RowKnowledge, found: Findings): Promise<void> {
  const { row, path, at } = placed
  const name = row.name!
  if (row.group || name === GROUP) return
  const misplaced = known.planeProblem(name, 'preset')
  if (misplaced !== undefined) return found.add(`${misplaced}.`, [...path, 'name'], at)
  const answer = await known.pluginOf(name)
  if ('missing' in answer) {
    const near = nearest(name, known.names)
    const hint = near === undefined ? '' : ` Did you mean ${near}?`
    return found.add(`There is no row ${name}: ${answer.missing}.${hint}`, [...path, 'name'], at)
  }
  for (const { severity, message, path: inner, what } of await configFindings(answer.plugin, row.config))
    found.add(message, [...path, 'config', ...inner], configAt(at, inner), { severity, ...(what && { what }) })
}

const configAt = (at: string, path: Path): string => `${at} > ${['config', ...path].join('.')}`

/** Ids as the loader gives them out, to the places of their rows. Undefined where two rows would share one. */
export function placesById(plugins: unknown, rows: readonly PlacedRow[]): Map<string, PlacedRow> {
  const ids: string[] = []
  const walk = (list: readonly EntryOptions[]): void => {
    for (const row of list) {
      ids.push(row.id)
      if (row.group && Array.isArray(row.config)) walk(row.config as EntryOptions[])
    }
  }
  walk(prepareRows(plugins as EntryOptions[]))
  return new Map(ids.map((id, index) => [id, rows[index]!] as const))
}
