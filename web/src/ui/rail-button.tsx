import { Menu, PanelLeft } from 'lucide-react'
import { useT } from '../i18n/i18n.ts'
import { setPrefs, usePrefs } from '../store/prefs.ts'
import { openOverlay } from '../store/store.ts'
import { IconButton } from './button.tsx'
import { usePhone } from './hooks.ts'

/** The way back to the sessions, where the rail is not in view. */
export function RailButton() {
  const t = useT()
  const phone = usePhone()
  const collapsed = usePrefs((prefs) => prefs.railCollapsed)
  if (phone)
    return (
      <IconButton bare label={t('rail.label')} onClick={() => openOverlay({ kind: 'rail' })}>
        <Menu size={20} strokeWidth={1.5} />
      </IconButton>
    )
  if (!collapsed) return null
  return (
    <IconButton
      label={t('rail.show')}
      keys="["
      style={{ marginLeft: -8 }}
      onClick={() => setPrefs({ railCollapsed: false })}
    >
      <PanelLeft size={16} />
    </IconButton>
  )
}
