import { t } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import { usePrefs } from '../store/prefs.ts'
import { useApp } from '../store/store.ts'

/** Tells of sessions that begin to need a person while nobody looks at the page; only after that was asked for. */
export function notifyOfAsks(): () => void {
  return useApp.subscribe(({ rows }, before) => {
    if (rows === before.rows || !usePrefs.getState().notifyAsks || !document.hidden) return
    if (typeof Notification === 'undefined' || Notification.permission !== 'granted') return
    for (const row of Object.values(rows)) {
      if (row.status !== 'needs-you' || before.rows[row.id]?.status === 'needs-you') continue
      const shown = new Notification(t('notify.title', { title: row.title || t('untitled') }), { tag: row.id })
      shown.addEventListener('click', () => {
        window.focus()
        navigate({ place: 'session', id: row.id })
      })
    }
  })
}
