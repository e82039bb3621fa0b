import type { WorkspaceRow } from '../../../server/wire/views.ts'

/** As the workspace is called; a folder that is none any more by its last part. */
export const folderName = (path: string, workspaces: readonly WorkspaceRow[]): string =>
  workspaces.find((workspace) => workspace.path === path)?.name ?? path.split('/').filter(Boolean).at(-1) ?? path
