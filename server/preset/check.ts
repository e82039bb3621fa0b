import {
  Findings,
  declarationFindings,
  duplicateIds,
  placesById,
  presetRow,
  presetRows,
  rowFindings,
} from './check-rows.ts'
import { parsePlaced } from './check-yaml.ts'
import { parseDeclaration } from './declaration.ts'
import type { DryRun, PresetCheck } from '../wire/presets.ts'
import type { PlacedRow, RowKnowledge } from './check-rows.ts'
import type { Declaration } from './declaration.ts'
import type { InventoryRow } from './document.ts'

/** How a declaration would fare, without declaring it. */
export type Trial = (
  declaration: Declaration,
  base: { baseUrl?: string },
) => Promise<{ rows: InventoryRow[]; broken?: string; dry?: DryRun }>

export interface CheckWorld {
  known: RowKnowledge
  /** Absent: the text is read, and nothing of it runs. */
  trial?: Trial
  /** What new sessions of a preset get now; undefined when it cannot be used. */
  active(preset: string): Promise<DryRun | undefined>
  /** Folder that the document's relative names start from. */
  baseUrl: string
}

/** The parts of a text that are sound as text; the rest is up to a trial. */
interface ReadText {
  found: Findings
  preset?: string
  declaration?: Declaration
  rows: PlacedRow[]
}

/** Syntax, shape, names, planes and configs: everything that can be said without mounting. Never throws. */
export async function readText(text: string, known: RowKnowledge): Promise<ReadText> {
  const parsed = parsePlaced(text)
  if (!parsed.ok) {
    const found = new Findings({ data: [], place: () => ({ line: 1, column: 1 }) })
    found.list.push(...parsed.diagnostics)
    return { found, rows: [] }
  }
  const { document } = parsed
  const found = new Findings(document)
  const declaring = presetRow(document.data, found)
  if (!declaring) return { found, rows: [] }
  await declarationFindings(declaring, found)
  const config = declaring.row.config as { id?: unknown; plugins?: unknown } | null | undefined
  const preset = typeof config?.id === 'string' && config.id.trim() !== '' ? config.id : undefined
  const path = [...declaring.path, 'config', 'plugins']
  const rows = config?.plugins === undefined ? [] : [...presetRows(config.plugins, path, 'plugins', found)]
  duplicateIds(rows, found)
  for (const row of rows) await rowFindings(row, known, found)
  const declaration = found.failed ? undefined : parseDeclaration(config)
  return { found, rows, ...(preset !== undefined && { preset }), ...(declaration && { declaration }) }
}

/**
 * What a text would do if it were activated: reads it, mounts it on trial beside the running presets, assembles it, and
 * takes it down again. Never throws for what stands in the text. `edited` is the preset that the text is an edit of.
 */
export async function checkText(text: string, world: CheckWorld, edited?: string): Promise<PresetCheck> {
  const { found, preset, declaration, rows } = await readText(text, world.known)
  if (edited !== undefined && preset !== undefined && preset !== edited)
    found.add(
      `The id may not change: it is ${edited}. Copy the preset to have it under another id.`,
      [0, 'config', 'id'],
      '',
    )
  const { trial } = world
  const dry =
    trial && declaration && !found.failed ? await tryOut(declaration, rows, { ...world, trial }, found) : undefined
  const active = await world.active(edited ?? preset ?? '')
  return {
    ...(preset !== undefined && { preset }),
    diagnostics: found.list.toSorted((a, b) => a.line - b.line || a.column - b.column),
    ...(dry && { dry }),
    ...(active && { active }),
  }
}

async function tryOut(
  declaration: Declaration,
  rows: readonly PlacedRow[],
  { trial, baseUrl }: CheckWorld & { trial: Trial },
  found: Findings,
): Promise<DryRun | undefined> {
  const outcome = await attempt(() => trial(declaration, { baseUrl }))
  const places = placesById(declaration.plugins, rows)
  const severity = outcome.dry ? 'warning' : 'error'
  const failing = outcome.rows.filter(({ problem }) => problem !== undefined)
  for (const { id, name, problem } of failing) {
    const row = id === undefined ? undefined : places.get(id)
    found.add(`${name}: ${problem}`, row?.path ?? [0, 'config', 'plugins'], row?.at ?? 'plugins', { severity })
  }
  if (outcome.broken !== undefined && failing.length === 0)
    found.add(outcome.broken, [0, 'config', 'plugins'], 'plugins', { severity })
  return outcome.dry
}

/** A trial that rejects could not even prepare its rows: its reason counts as one of the preset. */
async function attempt(trial: () => ReturnType<Trial>): ReturnType<Trial> {
  try {
    return await trial()
  } catch (error) {
    return { rows: [], broken: error instanceof Error ? error.message : String(error) }
  }
}
