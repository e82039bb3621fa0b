import { ShieldOff } from 'lucide-react'
import { useT } from '../i18n/i18n.ts'
import { run } from '../store/actions.ts'
import { Button } from '../ui/button.tsx'
import { useApp } from '../store/store.ts'

/** A call that the session's mode declined says what would let it pass; gone once the mode is another one. */
export function Denied({ session }: { session: string }) {
  const t = useT()
  const readOnly = useApp((app) => {
    const view = app.sessions[session]
    return view?.kind === 'open' && view.state.policy.sandbox === 'read-only'
  })
  if (!readOnly) return null
  return (
    <div className="note warn" data-testid="denied">
      <ShieldOff size={14} />
      <span className="grow">{t('denied.readOnly')}</span>
      <Button
        look="sm"
        onClick={() =>
          void run('permission.select', { session, preset: 'workspace-write' }, { place: `session:${session}` })
        }
      >
        {t('denied.switch')}
      </Button>
    </div>
  )
}
