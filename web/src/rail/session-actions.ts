import { t } from '../i18n/i18n.ts'
import { currentRoute, navigate } from '../router.ts'
import { run } from '../store/actions.ts'
import { get, set, toast } from '../store/store.ts'

/** Deletes at once and offers the way back; the place that showed the session is left. */
export async function deleteSession(id: string): Promise<void> {
  const row = get().rows[id]
  const route = currentRoute()
  const outcome = await run('session.delete', { session: id })
  if (!outcome.ok) return
  const { [id]: _, ...rows } = get().rows
  set({ rows })
  if (route.place === 'session' && route.id === id) navigate({ place: 'home' }, 'replace')
  toast(t('rail.deleted', { title: row?.title || t('untitled') }), {
    action: { label: t('undo'), run: () => void restoreSession(id) },
  })
}

async function restoreSession(id: string): Promise<void> {
  const outcome = await run('session.restore', { session: id })
  if (!outcome.ok) return
  set({ rows: { ...get().rows, [id]: outcome.result.row } })
  navigate({ place: 'session', id })
}

export async function archiveSession(id: string, archived: boolean): Promise<void> {
  const outcome = await run('session.archive', { session: id, archived })
  if (!outcome.ok) return
  const undo = { label: t('undo'), run: () => void run('session.archive', { session: id, archived: !archived }) }
  toast(t(archived ? 'rail.archived' : 'rail.unarchived'), { action: undo })
}

export const pinSession = (id: string, pinned: boolean): void => void run('session.pin', { session: id, pinned })
