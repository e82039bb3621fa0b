import { create } from 'zustand'
import type { Selection } from '../../../server/wire/messages.ts'
import type { GlobalState, PresetRow, WorkspaceRow } from '../../../server/wire/views.ts'

/** What was picked for the session that is not there yet; kept while the page lives, so that a look elsewhere loses nothing. */
interface NewSession {
  workspace?: string
  preset?: string
  selection?: Selection
  /** Id of a permission preset. */
  permission?: string
  alsoDefault: boolean
  /** The preset before the last switch, for "what changed" and undo. */
  before?: string
}

export const useNewSession = create<NewSession>()(() => ({ alsoDefault: true }))

export const usable = (preset: PresetRow): boolean => preset.broken === undefined

export function presetOf(global: GlobalState, picked: string | undefined): PresetRow | undefined {
  const find = (test: (preset: PresetRow) => boolean) => global.presets.find((preset) => usable(preset) && test(preset))
  return find((preset) => preset.id === picked) ?? find((preset) => preset.isDefault) ?? find(() => true)
}

/** Picked, else asked for by the address, else the one used last. */
export function workspaceOf(
  global: GlobalState,
  wanted: string | undefined,
  lastPath?: string,
): WorkspaceRow | undefined {
  const usable = global.workspaces.filter((workspace) => workspace.problem === undefined)
  return (
    usable.find((workspace) => workspace.id === wanted) ??
    usable.find((workspace) => workspace.path === lastPath) ??
    [...usable].sort((a, b) => b.addedAt - a.addedAt)[0]
  )
}

export interface PresetDelta {
  added: string[]
  removed: string[]
  /** Same name, other description or parameters. */
  changed: string[]
  services: { added: string[]; removed: string[] }
  lines: number
  tokens?: number
}

const missingFrom = (names: readonly string[], others: readonly string[]): string[] =>
  others.filter((name) => !names.includes(name))

/** What a switch from `before` to `after` changes on every request. */
export function deltaOf(before: PresetRow, after: PresetRow): PresetDelta {
  const names = (preset: PresetRow) => preset.tools.map((tool) => tool.name)
  const [old, now] = [names(before), names(after)]
  const lines = (preset: PresetRow) => (preset.prompt === '' ? 0 : preset.prompt.split('\n').length)
  const changed = after.tools.filter((tool) => {
    const other = before.tools.find(({ name }) => name === tool.name)
    return other && JSON.stringify(other) !== JSON.stringify(tool)
  })
  return {
    added: missingFrom(old, now),
    removed: missingFrom(now, old),
    changed: changed.map((tool) => tool.name),
    services: {
      added: missingFrom(before.services, after.services),
      removed: missingFrom(after.services, before.services),
    },
    lines: lines(after) - lines(before),
    ...(before.tokens !== undefined && after.tokens !== undefined && { tokens: after.tokens - before.tokens }),
  }
}
