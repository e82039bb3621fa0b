import { Check, CloudOff, Info, TriangleAlert, X } from 'lucide-react'
import { useT } from '../i18n/i18n.ts'
import { clockText, timeOfDay } from '../i18n/format.ts'
import { retryNow } from '../store/actions.ts'
import { dismissToast, useApp } from '../store/store.ts'
import { Button, IconButton } from './button.tsx'
import { useNow } from './hooks.ts'
import { Problems } from './problems.tsx'

/** Results at the lower right; refusals without a place of their own stay above them. */
export function Toasts() {
  const t = useT()
  const toasts = useApp((app) => app.toasts)
  return (
    <div className="toasts" aria-live="polite">
      <Problems place="global" />
      {toasts.map(({ id, tone, text, action }) => (
        <div key={id} className="toast" role="status">
          {tone === 'ok' && <Check size={14} className="ok" />}
          {tone === 'warn' && <TriangleAlert size={14} className="warn" />}
          {tone === 'plain' && <Info size={14} className="t3" />}
          <span className="grow">{text}</span>
          {action && (
            <Button
              look="ghost"
              onClick={() => {
                dismissToast(id)
                action.run()
              }}
            >
              {action.label}
            </Button>
          )}
          <IconButton label={t('close')} onClick={() => dismissToast(id)}>
            <X size={14} />
          </IconButton>
        </div>
      ))}
    </div>
  )
}

const QUIET_MS = 3000
const GIVEN_UP_MS = 20_000

/** Silent for three seconds: most losses are shorter than a reader notices. */
export function ConnectionPill() {
  const t = useT()
  const status = useApp((app) => app.status)
  const away = status.kind !== 'open'
  const now = useNow(1000, away)
  if (status.kind === 'open' || now - status.since < QUIET_MS) return null
  const since = now - status.since
  if (status.kind === 'connecting' || since < GIVEN_UP_MS)
    return (
      <div className="pill" role="status" style={{ paddingRight: 12 }}>
        <span className="dot needs-you" />
        <span className="m">{t(status.kind === 'connecting' ? 'conn.connecting' : 'conn.reconnecting')}</span>
        {status.kind === 'lost' && (
          <span className="t3 num">{t('conn.heard', { time: timeOfDay(status.lastHeard) })}</span>
        )}
      </div>
    )
  return (
    <div className="pill" role="status">
      <CloudOff size={14} className="fail" />
      <span className="m fail">{t('conn.silent')}</span>
      <span className="t3 num">{t('conn.for', { time: clockText(since) })}</span>
      <Button onClick={retryNow}>{t('conn.try')}</Button>
    </div>
  )
}
