import { useEffect, useState } from 'react'
import type { PresetSource } from '../../../../server/wire/presets.ts'
import { t } from '../../i18n/i18n.ts'
import { navigate } from '../../router.ts'
import { toast } from '../../store/store.ts'
import { openEdit } from './edit-state.ts'
import type { Edit } from './edit-state.ts'

/** The edit of one preset while its editor is open; leaving keeps the draft and says so. */
export function useEdit(source: PresetSource): Edit {
  const [edit] = useState(() => openEdit(source))
  useEffect(() => edit.follow(source), [edit, source])
  useEffect(() => {
    const flush = () => void edit.keep()
    window.addEventListener('pagehide', flush)
    return () => {
      window.removeEventListener('pagehide', flush)
      if (!edit.keep()) return
      const { preset } = edit.use.getState().source
      const back = () => navigate({ place: 'presets', id: preset, tab: 'edit' })
      toast(t('presets.draftKept', { id: preset }), { action: { label: t('presets.draftBack'), run: back } })
    }
  }, [edit])
  return edit
}
