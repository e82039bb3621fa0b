import { applyEntryPatches } from '@deepseek-ai/cordis-plugin-include'
import { INCLUDE, PRESET_ROW, flatRows } from './rows.ts'
import type { PatchOptions } from '@deepseek-ai/cordis-plugin-include'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'

export type Patch = PatchOptions

/** The patches of one source, in order; `source` is the file's path, for messages. */
export interface Layer {
  source: string
  patches: Patch[]
}

/** Where a patch goes: to a row of this document, into the document of an include row, or into the rows of a preset. */
export type Route =
  | { kind: 'here' }
  | { kind: 'include'; row: EntryOptions; rest: string }
  | { kind: 'preset'; row: EntryOptions; rest: string }

const presetRows = (rows: readonly EntryOptions[]): EntryOptions[] =>
  [...flatRows(rows)].filter((row) => row.name === PRESET_ROW && Array.isArray(pluginsOf(row)))

const pluginsOf = (row: EntryOptions): EntryOptions[] | undefined =>
  (row.config as { plugins?: EntryOptions[] } | undefined)?.plugins

/**
 * `include:row` addresses a row of the included document, `preset:row` a row of a preset; in the document of one preset
 * its rows may be addressed without naming the declaring row.
 */
export function routeOf(rows: readonly EntryOptions[], id: string | undefined): Route {
  if (id === undefined) return { kind: 'here' }
  const all = [...flatRows(rows)]
  if (all.some((row) => row.id === id)) return { kind: 'here' }
  const [first, ...others] = id.split(':')
  const rest = others.join(':')
  const row = all.find((candidate) => candidate.id === first)
  if (rest && row?.name === INCLUDE) return { kind: 'include', row, rest }
  if (rest && row?.name === PRESET_ROW) return { kind: 'preset', row, rest }
  const [preset, ...more] = presetRows(rows)
  if (preset && more.length === 0 && [...flatRows(pluginsOf(preset)!)].some((child) => child.id === id)) {
    return { kind: 'preset', row: preset, rest: id }
  }
  return { kind: 'here' }
}

/** printf of the include plugin's warnings: `%C` stands for code. */
const filled = (message: string, args: unknown[]): string => message.replaceAll('%C', () => String(args.shift()))

/**
 * The effective rows of a document under patch layers. Patches for included documents are handed on as `layers` of the
 * include row; the input is not changed.
 */
export function applyLayers(
  rows: readonly EntryOptions[],
  layers: readonly Layer[],
  warn: (message: string) => void,
): EntryOptions[] {
  let result = structuredClone([...rows])
  const handedOn = new Map<string, Layer[]>()
  for (const { source, patches } of layers) {
    const warned = (message: string, ...args: unknown[]): void => warn(`${source}: ${filled(message, args)}`)
    for (const patch of patches) {
      const route = routeOf(result, patch.id)
      if (route.kind === 'here') {
        result = applyEntryPatches(result, [patch], warned)
        continue
      }
      const inner = { ...patch, id: route.rest }
      if (route.kind === 'preset') {
        const config = route.row.config as { plugins?: EntryOptions[] }
        route.row.config = { ...config, plugins: applyEntryPatches(config.plugins ?? [], [inner], warned) }
        continue
      }
      const list = handedOn.get(route.row.id) ?? []
      handedOn.set(route.row.id, [...list, { source, patches: [inner] }])
    }
  }
  // Only now: a later patch may restate the include row's whole config.
  for (const row of flatRows(result)) {
    const inner = handedOn.get(row.id)
    if (inner) row.config = { ...row.config, layers: inner }
  }
  return result
}
