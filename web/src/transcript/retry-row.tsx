import { RotateCw, Square } from 'lucide-react'
import type { ItemOf } from '../../../server/projection/transcript-items.ts'
import { duration } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { run } from '../store/actions.ts'
import { serverNow } from '../store/server-time.ts'
import { isRunning } from '../store/session-view.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { useNow } from '../ui/hooks.ts'
import { wordsOf } from './failures.ts'

type Wait = ItemOf<'retry'> & { until: number }

/** A failed attempt and the wait before the next: why, the how-manieth, how long still, and the way out. */
export function RetryRow({ item, session }: { item: ItemOf<'retry'>; session: string }) {
  // The last attempt, or one that no second try can help: the error that ends the turn says it all.
  if (item.until === undefined) return null
  return <WaitRow item={{ ...item, until: item.until }} session={session} />
}

/** `lost`: the server that would try again cannot be heard, so nothing is counted on its behalf. */
type Stand = 'waiting' | 'lost' | 'done' | 'stopped'

function useStand({ until, started }: Wait, session: string): Stand {
  return useApp((app) => {
    if (started) return 'done'
    const view = app.sessions[session]
    if (view?.kind !== 'open' || !isRunning(view) || view.state.retry?.until !== until) return 'stopped'
    return app.status.kind === 'open' ? 'waiting' : 'lost'
  })
}

function WaitRow({ item, session }: { item: Wait; session: string }) {
  const t = useT()
  const stand = useStand(item, session)
  const words = wordsOf(item.error)
  const open = stand === 'waiting' || stand === 'lost'
  const { failed, waitedMs = item.waitMs } = item
  return (
    <div className={`row wait ${stand === 'waiting' ? 'live' : ''}`} data-testid="retry" data-stand={stand}>
      <RotateCw size={16} strokeWidth={1.75} />
      <span className="verb">{t('retry')}</span>
      <span className="last trunc" title={item.error.message}>
        {words ? t(words) : item.error.message}
      </span>
      <span className="meta">
        <span className="tag warn mono-s">{item.error.code}</span>
        {failed !== undefined && <span>{t('retry.attempt', { n: failed + 1 })}</span>}
        {stand === 'waiting' && <Countdown until={item.until} />}
        {stand === 'lost' && <span className="warn">{t('retry.lost')}</span>}
        {stand === 'done' && waitedMs !== undefined && <span>{t('retry.after', { time: duration(waitedMs) })}</span>}
        {stand === 'stopped' && <span>{t('retry.stopped')}</span>}
        {open && (
          <Button
            look="sm"
            off={stand === 'lost' ? t('retry.lost') : undefined}
            onClick={() => void run('session.stop', { session }, { place: `session:${session}` })}
          >
            <Square size={10} />
            {t('stop')}
          </Button>
        )}
      </span>
    </div>
  )
}

/** Screen readers hear of the wait once, not every second. */
function Countdown({ until }: { until: number }) {
  const t = useT()
  useNow(250)
  const left = Math.ceil((until - serverNow()) / 1000)
  return (
    <span className="clock" aria-live="off">
      {left > 0 ? t('retry.in', { n: left }) : t('retry.now')}
    </span>
  )
}
