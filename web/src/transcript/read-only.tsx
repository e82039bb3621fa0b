import { Lock } from 'lucide-react'
import { timeOfDay } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import type { OpenSession } from '../store/session-view.ts'
import { Button } from '../ui/button.tsx'

/** Why nothing can be sent, right above the composer that says so; the transcript stays readable. */
export function ReadOnly({ view }: { view: OpenSession }) {
  const t = useT()
  const { readOnly, writer } = view
  if (!readOnly && writer.kind !== 'elsewhere') return null
  const preset = readOnly?.code.startsWith('agent-preset/')
  return (
    <div className="base" style={{ paddingBottom: 8 }}>
      <div className="note warn" role="status" data-testid="read-only">
        <Lock size={14} />
        <span className="grow">
          <span className="m">{t('readOnly')}</span>{' '}
          {readOnly?.message ??
            (writer.kind === 'elsewhere' &&
              t('readOnly.elsewhere', { pid: writer.pid, host: writer.host, time: timeOfDay(writer.since) }))}{' '}
          {readOnly && <span className="mono-s">{readOnly.code}</span>}
        </span>
        {preset && (
          <Button look="sm" onClick={() => navigate({ place: 'presets' })}>
            {t('problem.presets')}
          </Button>
        )}
      </div>
    </div>
  )
}
