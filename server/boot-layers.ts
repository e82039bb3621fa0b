import { readFile, readdir } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LineCounter, isMap, isScalar, parseDocument, visit } from 'yaml'
import { parseList } from './preset/file.ts'
import { planeProblem } from './preset/loader.ts'
import { INCLUDE, flatRows, prepareRows } from './preset/rows.ts'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'
import type { Catalog } from './preset/loader.ts'
import type { Layer, Patch } from './preset/patch.ts'

/** A patch file that was left out, as a whole or for one row, and why. */
export interface SkippedFile {
  file: string
  line?: number
  /** The one row whose config was left out, and what it runs. */
  row?: string
  plugin?: string
  cause: string
}

export const USER_PATCH = 'user.cordis.yml'
/** Where the user's own preset documents lie inside the data folder. */
export const USER_PRESETS = 'presets'

/** The line, from 1, of the map whose `id` (else `name`) has this value; undefined when there is none. */
export function lineOf(text: string, value: string): number | undefined {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, logLevel: 'silent' })
  const places: Record<'id' | 'name', number[]> = { id: [], name: [] }
  visit(document, {
    Map(_key, map) {
      if (!isMap(map)) return
      for (const key of ['id', 'name'] as const) {
        const node = map.get(key, true)
        if (isScalar(node) && node.value === value && node.range) places[key].push(lines.linePos(node.range[0]).line)
      }
    },
  })
  return places.id[0] ?? places.name[0]
}

interface YamlFailure {
  message: string
  reason?: string
  mark?: { line: number }
}

const withoutFile = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The first row of a patch that may not stand where the patch puts it. */
function misplacedRow(catalog: Catalog, patch: Patch): { row: EntryOptions; problem: string } | undefined {
  // A patch for the inside of an included document is judged there: it may add model-facing rows to a preset.
  if (patch.id?.includes(':')) return undefined
  const config: unknown = patch.config
  const rows = patch.insert ?? (Array.isArray(config) ? (config as EntryOptions[]) : [])
  for (const row of flatRows(prepareRows(rows))) {
    const problem = planeProblem(catalog, row.name, 'host')
    if (problem) return { row, problem }
  }
  return undefined
}

function patchProblem(patches: unknown[]): string | undefined {
  const index = patches.findIndex((patch) => typeof patch !== 'object' || patch === null || Array.isArray(patch))
  if (index >= 0) return `item ${index + 1} is not a map`
  const bad = (patches as Patch[]).findIndex(({ insert }) => insert !== undefined && !Array.isArray(insert))
  return bad >= 0 ? `insert of item ${bad + 1} is not a list` : undefined
}

/** One patch file as a layer; a file with any fault is left out as a whole (3.2). `missing` says whether it may be absent. */
export async function readLayer(
  catalog: Catalog,
  file: string,
  missing: 'allowed' | 'refused',
): Promise<Layer | SkippedFile | undefined> {
  let text
  try {
    text = await withoutFile(file)
    if (text === undefined) return missing === 'allowed' ? undefined : { file, cause: 'the file does not exist' }
    // A file of comments only is an empty patch, not a broken one.
    const empty = parseDocument(text, { logLevel: 'silent' }).contents === null
    const patches = empty ? [] : parseList(text, file)
    const problem = patchProblem(patches)
    if (problem) return { file, cause: problem }
    for (const patch of patches as Patch[]) {
      const misplaced = misplacedRow(catalog, patch)
      if (!misplaced) continue
      const { row, problem: cause } = misplaced
      const line = lineOf(text, row.id) ?? lineOf(text, row.name)
      return { file, ...(line !== undefined && { line }), cause: `row ${row.id} (${row.name}): ${cause}` }
    }
    return { source: file, patches: patches as Patch[] }
  } catch (error) {
    const { message, reason, mark } = error as YamlFailure
    return { file, ...(mark && { line: mark.line + 1 }), cause: reason ?? message }
  }
}

/** One include row per document in the data folder's `presets/`. */
export async function userDocuments(dataDir: string, taken: ReadonlySet<string>): Promise<Layer> {
  const folder = join(dataDir, USER_PRESETS)
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const rows = names
    .filter((name) => ['.yml', '.yaml'].includes(extname(name)) && !name.startsWith('.'))
    .toSorted()
    .map((name): EntryOptions => {
      const id = `preset-${basename(name, extname(name))}`
      const path = pathToFileURL(join(folder, name)).href
      return { id: taken.has(id) ? `user-${id}` : id, name: INCLUDE, config: { path } }
    })
  return { source: folder, patches: rows.length > 0 ? [{ insert: rows }] : [] }
}
