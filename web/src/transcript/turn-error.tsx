import { CircleX, Copy, RotateCcw } from 'lucide-react'
import { waiting } from '../../../server/projection/inbox.ts'
import type { ItemOf } from '../../../server/projection/transcript-items.ts'
import { useT } from '../i18n/i18n.ts'
import type { Key } from '../i18n/i18n.ts'
import { navigate, useRoute } from '../router.ts'
import { run } from '../store/actions.ts'
import { useApp } from '../store/store.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { copyText } from '../ui/problems.tsx'

/** What happened, in plain words; the provider's own words stand below. */
const TITLES: { readonly [code: string]: Key } = {
  AUTH: 'error.auth',
  MISSING_CREDENTIAL: 'error.auth',
  INVALID_CREDENTIAL: 'error.auth',
  QUOTA: 'error.quota',
  RATE_LIMIT: 'error.rate',
  UNKNOWN_MODEL: 'error.model',
  NO_ADAPTER: 'error.model',
  SERVER: 'error.server',
  TIMEOUT: 'error.timeout',
  TRANSPORT: 'error.transport',
  STREAM_CLOSED: 'error.transport',
  CONTEXT_WINDOW_EXCEEDED: 'error.window',
}

export function TurnErrorCard({ item }: { item: ItemOf<'error'> }) {
  const t = useT()
  const { code, message, status, requestId } = item.error
  const again = useAgain(item)
  const title = TITLES[code]
  const facts = [code, status, requestId && t('error.request', { id: requestId })].filter(Boolean).join(', ')
  return (
    <div className="problem" role="alert" style={{ margin: '4px 0 8px' }}>
      <div className="what">
        <CircleX size={14} />
        <div className="grow">
          <span className="m">{title ? t(title) : message || t('error.turn')}</span>
          {title && message && <p>{message}</p>}
          <p>
            {t('error.kept')} <span className="mono-s">{facts}</span>
          </p>
        </div>
      </div>
      <div className="acts">
        {again && (
          <Button look="pri" data-testid="try-again" onClick={again}>
            <RotateCcw size={14} />
            {t('error.again')}
          </Button>
        )}
        <Button onClick={() => navigate({ place: 'settings', page: 'models' })}>{t('problem.models')}</Button>
        <span className="right" />
        <IconButton label={t('problem.copy')} onClick={() => void copyText(JSON.stringify(item.error, null, 2))}>
          <Copy size={14} />
        </IconButton>
      </div>
    </div>
  )
}

/** Only the failure at the end can be tried again: the prompt that waits for it, else the last one, is sent. */
function useAgain({ key, seq }: ItemOf<'error'>): (() => void) | undefined {
  const route = useRoute()
  const id = route.place === 'session' ? route.id : ''
  const view = useApp((app) => app.sessions[id])
  if (view?.kind !== 'open' || view.readOnly || view.writer.kind === 'elsewhere' || view.state.openTurn)
    return undefined
  const { items } = view.transcript
  if (items.findLast((each) => each.kind === 'error')?.key !== key) return undefined
  const last = items.findLast((each) => each.kind === 'user')
  if (!last || items.some((each) => each.kind === 'footer' && each.seq > seq + 1)) return undefined
  const place = `session:${id}`
  const held = waiting(view.state.inbox, 'next-turn')[0]
  if (held) return () => void run('queue.send-now', { session: id, message: held.message.id }, { place })
  return () => void run('session.prompt', { session: id, text: last.text, mode: 'queue' }, { place })
}
