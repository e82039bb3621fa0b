import { Dialog, Tooltip } from 'radix-ui'
import { Suspense, lazy } from 'react'
import type { ReactNode } from 'react'
import { useT } from './i18n/i18n.ts'
import { Login } from './login.tsx'
import { FolderPicker } from './new-session/folder-picker.tsx'
import { NewSessionScreen } from './new-session/new-session.tsx'
import { useHotkeys } from './palette/hotkeys.ts'
import { Shortcuts } from './palette/shortcuts.tsx'
import { Rail } from './rail/rail.tsx'
import { navigate, useRoute } from './router.ts'
import { usePrefs } from './store/prefs.ts'
import { openOverlay, useApp } from './store/store.ts'
import { SessionScreen } from './transcript/session-screen.tsx'
import { Button } from './ui/button.tsx'
import { usePhone } from './ui/hooks.ts'
import { ConnectionPill, Toasts } from './ui/overlays.tsx'
import { RailButton } from './ui/rail-button.tsx'

const Palette = lazy(async () => ({ default: (await import('./palette/palette.tsx')).Palette }))
const SettingsScreen = lazy(async () => ({ default: (await import('./settings/settings.tsx')).SettingsScreen }))
const ForkDialog = lazy(async () => ({ default: (await import('./fork/fork-dialog.tsx')).ForkDialog }))
const PresetsScreen = lazy(async () => ({ default: (await import('./presets/presets-screen.tsx')).PresetsScreen }))

const UsageScreen = lazy(async () => ({ default: (await import('./usage/usage-screen.tsx')).UsageScreen }))

export function App() {
  const auth = useApp((app) => app.auth)
  const collapsed = usePrefs((prefs) => prefs.railCollapsed)
  const phone = usePhone()
  useHotkeys()
  return (
    <Tooltip.Provider delayDuration={400} skipDelayDuration={200}>
      {auth === 'out' ? (
        <Login />
      ) : (
        <>
          <div className={`app ${collapsed && !phone ? 'collapsed' : ''}`}>
            {!collapsed && !phone && <Rail />}
            <Suspense fallback={<div className="main" aria-busy="true" />}>
              <Place />
            </Suspense>
          </div>
          <Overlays />
          <ConnectionPill />
          <Toasts />
        </>
      )}
    </Tooltip.Provider>
  )
}

function Place(): ReactNode {
  const route = useRoute()
  switch (route.place) {
    case 'home':
    case 'new':
      return <NewSessionScreen workspace={route.place === 'new' ? route.workspace : undefined} />
    case 'session':
      return <SessionScreen id={route.id} prompt={route.prompt} />
    case 'presets':
      return <PresetsScreen id={route.id} tab={route.tab} />
    case 'settings':
      return <SettingsScreen page={route.page} />
    case 'usage': {
      const { place: _, ...shown } = route
      return <UsageScreen shown={shown} />
    }
    case 'missing':
      return <Missing path={route.path} />
  }
}

function Missing({ path }: { path: string }) {
  const t = useT()
  return (
    <div className="main">
      <header className="head">
        <RailButton />
        <h1>{t('missing')}</h1>
      </header>
      <div className="empty">
        <h2>{t('missing')}</h2>
        <p className="mono">{path}</p>
        <div className="flex">
          <Button look="pri" onClick={() => navigate({ place: 'home' })}>
            {t('rail.new')}
          </Button>
        </div>
      </div>
    </div>
  )
}

function Overlays(): ReactNode {
  const t = useT()
  const overlay = useApp((app) => app.overlay)
  const close = () => openOverlay(undefined)
  switch (overlay?.kind) {
    case undefined:
      return null
    case 'palette':
      return (
        <Suspense>
          <Palette />
        </Suspense>
      )
    case 'shortcuts':
      return <Shortcuts />
    case 'fork':
      return (
        <Suspense>
          <ForkDialog session={overlay.session} seq={overlay.seq} onClose={close} />
        </Suspense>
      )
    case 'folder':
      return <FolderPicker onAdded={overlay.onAdded} onClose={close} />
    case 'rail':
      return (
        <Dialog.Root open onOpenChange={(open) => open || close()}>
          <Dialog.Portal>
            <Dialog.Overlay className="scrim" />
            <Dialog.Content className="rail-sheet" aria-describedby={undefined}>
              <Dialog.Title className="sr">{t('rail.label')}</Dialog.Title>
              <Rail />
            </Dialog.Content>
          </Dialog.Portal>
        </Dialog.Root>
      )
  }
}
