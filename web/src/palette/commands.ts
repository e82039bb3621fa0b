import { t } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import type { Route } from '../router.ts'
import { setPrefs, usePrefs } from '../store/prefs.ts'
import { get, openOverlay } from '../store/store.ts'

export type CommandId =
  | 'new'
  | 'needs'
  | 'folder'
  | 'rail'
  | 'presets'
  | 'models'
  | 'appearance'
  | 'about'
  | 'light'
  | 'dark'
  | 'system'
  | 'shortcuts'

export interface Command {
  id: CommandId
  label: string
  keys?: readonly string[]
  run(): void
}

const go = (route: Route) => () => navigate(route)

/** Every action that has no place of its own, with its shortcut. */
export function commands(): Command[] {
  return [
    { id: 'new', label: t('rail.new'), keys: ['N'], run: go({ place: 'new' }) },
    { id: 'needs', label: t('cmd.needsYou'), keys: ['G', 'N'], run: nextThatNeedsYou },
    { id: 'folder', label: t('folder.title'), run: () => openOverlay({ kind: 'folder' }) },
    { id: 'rail', label: t('rail.toggle'), keys: ['['], run: toggleRail },
    { id: 'presets', label: t('presets'), run: go({ place: 'presets' }) },
    { id: 'models', label: t('cmd.models'), run: go({ place: 'settings', page: 'models' }) },
    { id: 'appearance', label: t('cmd.appearance'), run: go({ place: 'settings', page: 'appearance' }) },
    { id: 'about', label: t('cmd.about'), run: go({ place: 'settings', page: 'about' }) },
    { id: 'light', label: t('cmd.light'), run: () => setPrefs({ theme: 'light' }) },
    { id: 'dark', label: t('cmd.dark'), run: () => setPrefs({ theme: 'dark' }) },
    { id: 'system', label: t('cmd.system'), run: () => setPrefs({ theme: 'system' }) },
    { id: 'shortcuts', label: t('shortcuts'), keys: ['?'], run: () => openOverlay({ kind: 'shortcuts' }) },
  ]
}

export function toggleRail(): void {
  setPrefs({ railCollapsed: !usePrefs.getState().railCollapsed })
}

/** Those that ask or failed first, then those that run. */
export function nextThatNeedsYou(): void {
  const order = { 'needs-you': 0, failed: 1, running: 2, idle: 3 } as const
  const rows = Object.values(get().rows).filter((row) => !row.archived && row.status !== 'idle')
  const next = rows.sort((a, b) => order[a.status] - order[b.status] || b.updated - a.updated)[0]
  if (next) navigate({ place: 'session', id: next.id })
}
