import { t } from '../i18n/i18n.ts'
import { openPresetDialog } from '../presets/dialogs.ts'
import type { PresetDialog } from '../presets/dialogs.ts'
import { currentRoute, navigate } from '../router.ts'
import type { Route } from '../router.ts'
import { setPrefs, usePrefs } from '../store/prefs.ts'
import { get, openOverlay } from '../store/store.ts'

export type CommandId =
  | 'new'
  | 'needs'
  | 'folder'
  | 'rail'
  | 'presets'
  | 'new-preset'
  | 'import-preset'
  | 'edit-preset'
  | 'copy-preset'
  | 'export-preset'
  | 'default-preset'
  | 'prompt'
  | 'fork-preset'
  | 'usage'
  | 'models'
  | 'sessions'
  | 'permissions'
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
    ...sessionCommands(),
    ...presetCommands(),
    { id: 'usage', label: t('usage'), run: go({ place: 'usage' }) },
    { id: 'models', label: t('cmd.models'), run: go({ place: 'settings', page: 'models' }) },
    { id: 'sessions', label: t('cmd.sessions'), run: go({ place: 'settings', page: 'sessions' }) },
    { id: 'permissions', label: t('cmd.permissions'), run: go({ place: 'settings', page: 'permissions' }) },
    { id: 'appearance', label: t('cmd.appearance'), run: go({ place: 'settings', page: 'appearance' }) },
    { id: 'about', label: t('cmd.about'), run: go({ place: 'settings', page: 'about' }) },
    { id: 'light', label: t('cmd.light'), run: () => setPrefs({ theme: 'light' }) },
    { id: 'dark', label: t('cmd.dark'), run: () => setPrefs({ theme: 'dark' }) },
    { id: 'system', label: t('cmd.system'), run: () => setPrefs({ theme: 'system' }) },
    { id: 'shortcuts', label: t('shortcuts'), keys: ['?'], run: () => openOverlay({ kind: 'shortcuts' }) },
  ]
}

/** Of the session in view. */
function sessionCommands(): Command[] {
  const route = currentRoute()
  if (route.place !== 'session') return []
  const { id } = route
  return [
    { id: 'prompt', label: t('cmd.prompt'), run: go({ place: 'session', id, prompt: {} }) },
    { id: 'fork-preset', label: t('fork.into'), run: () => openOverlay({ kind: 'fork', session: id }) },
  ]
}

/** On the presets screen also what can be done with the preset in view. */
function presetCommands(): Command[] {
  const route = currentRoute()
  const id = route.place === 'presets' ? route.id : undefined
  const shown = get().global?.presets.find((preset) => preset.id === id)
  const dialog = (dialog: PresetDialog) => () => {
    if (route.place !== 'presets') navigate({ place: 'presets' })
    openPresetDialog(dialog)
  }
  const actions = () => import('../presets/actions.ts')
  const always: Command[] = [
    { id: 'new-preset', label: t('cmd.newPreset'), run: dialog({ kind: 'copy' }) },
    { id: 'import-preset', label: t('cmd.importPreset'), run: dialog({ kind: 'import' }) },
    {
      id: 'default-preset',
      label: t('presets.resetDefault'),
      run: () => void actions().then(({ makeDefault }) => makeDefault(null)),
    },
  ]
  if (!shown) return always
  const here = { place: 'presets', id: shown.id } as const
  return [
    ...(shown.own
      ? [{ id: 'edit-preset', label: t('cmd.editPreset'), run: go({ ...here, tab: 'edit' }) } satisfies Command]
      : []),
    { id: 'copy-preset', label: t('cmd.copyPreset'), run: dialog({ kind: 'copy', from: shown.id }) },
    {
      id: 'export-preset',
      label: t('cmd.exportPreset'),
      run: () => void actions().then(({ exportPreset }) => exportPreset(shown.id)),
    },
    ...always,
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
