import type { SessionRow, WorkspaceRow } from '../../../server/wire/views.ts'

export interface Group {
  /** Path of the folder; empty for sessions without one. */
  path: string
  workspace?: WorkspaceRow
  name: string
  rows: SessionRow[]
}

/** Sessions below their workspaces: pinned first, then the newest; the workspace with the newest session first. */
export function groupRows(
  rows: readonly SessionRow[],
  workspaces: readonly WorkspaceRow[],
  options: { archived: boolean },
): Group[] {
  const groups = new Map<string, Group>()
  for (const workspace of workspaces)
    groups.set(workspace.path, { path: workspace.path, workspace, name: workspace.name, rows: [] })
  for (const row of rows) {
    if (row.archived !== options.archived) continue
    const path = row.cwd ?? ''
    const group = groups.get(path) ?? { path, name: path.split('/').filter(Boolean).at(-1) ?? path, rows: [] }
    group.rows.push(row)
    groups.set(path, group)
  }
  const newest = (group: Group) => Math.max(group.workspace?.addedAt ?? 0, ...group.rows.map((row) => row.updated))
  for (const group of groups.values())
    group.rows.sort((a, b) => Number(b.pinned) - Number(a.pinned) || b.updated - a.updated)
  const shown = [...groups.values()].filter((group) => group.rows.length > 0 || (group.workspace && !options.archived))
  return shown.sort((a, b) => newest(b) - newest(a))
}
