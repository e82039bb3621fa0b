import { Download, GitFork, Lock, RotateCw } from 'lucide-react'
import { timeOfDay } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import { retrySession } from '../store/actions.ts'
import { exportSession } from '../store/export.ts'
import type { OpenSession } from '../store/session-view.ts'
import { openOverlay } from '../store/store.ts'
import { Button } from '../ui/button.tsx'

/** Why nothing can be sent, right above the composer that says so, and the ways on; the transcript stays readable. */
export function ReadOnly({ view }: { view: OpenSession }) {
  const t = useT()
  const { readOnly, writer, state } = view
  if (!readOnly && writer.kind !== 'elsewhere') return null
  const preset = readOnly?.code.startsWith('agent-preset/') ?? false
  const begun = state.lastTurn > 0
  return (
    <div className="base" style={{ paddingBottom: 8 }}>
      <div className="note warn shut-note" role="status" data-testid="read-only">
        <Lock size={14} />
        <span className="grow">
          <span className="m">{t(preset ? 'readOnly.preset' : 'readOnly')}</span>{' '}
          {readOnly?.message ??
            (writer.kind === 'elsewhere' &&
              t('readOnly.elsewhere', { pid: writer.pid, host: writer.host, time: timeOfDay(writer.since) }))}{' '}
          {readOnly && <span className="mono-s">{readOnly.code}</span>}
        </span>
        {readOnly && (
          <span className="ways">
            {begun ? (
              <Button look="sm pri" onClick={() => openOverlay({ kind: 'fork', session: state.id })}>
                <GitFork size={14} />
                {t('readOnly.fork')}
              </Button>
            ) : (
              <Button look="sm pri" onClick={() => navigate({ place: 'new' })}>
                {t('rail.new')}
              </Button>
            )}
            <Button look="sm" onClick={() => exportSession(state.id)}>
              <Download size={14} />
              {t('session.export')}
            </Button>
            <Button look="sm" onClick={() => retrySession(state.id)}>
              <RotateCw size={14} />
              {t('problem.retry')}
            </Button>
          </span>
        )}
      </div>
    </div>
  )
}
