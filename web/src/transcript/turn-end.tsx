import { CircleX, Copy } from 'lucide-react'
import type { ItemOf } from '../../../server/projection/transcript-items.ts'
import { inputOf } from '../../../server/projection/usage.ts'
import type { TurnEndReason } from '../../../server/wire/events.ts'
import { never } from '../../../server/wire/never.ts'
import { duration, timeOfDay, tokens } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import type { T } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { copyText } from '../ui/problems.tsx'

export function TurnErrorCard({ item }: { item: ItemOf<'error'> }) {
  const t = useT()
  const { code, message, status, requestId } = item.error
  const facts = [code, status, requestId && t('error.request', { id: requestId })].filter(Boolean).join(', ')
  return (
    <div className="problem" role="alert" style={{ margin: '4px 0 8px' }}>
      <div className="what">
        <CircleX size={14} />
        <div className="grow">
          <span className="m">{message || t('error.turn')}</span>
          <p>
            {t('error.kept')} <span className="mono-s">{facts}</span>
          </p>
        </div>
      </div>
      <div className="acts">
        <Button onClick={() => navigate({ place: 'settings', page: 'models' })}>{t('problem.models')}</Button>
        <span className="right" />
        <IconButton label={t('problem.copy')} onClick={() => void copyText(JSON.stringify(item.error, null, 2))}>
          <Copy size={14} />
        </IconButton>
      </div>
    </div>
  )
}

function endText(t: T, reason: TurnEndReason): { text: string; tone: string } | undefined {
  switch (reason.kind) {
    case 'completed':
      return undefined
    case 'aborted':
      return { text: reason.reason.kind === 'user' ? t('end.stopped') : t('end.aborted'), tone: '' }
    case 'blocked':
      return { text: t('end.blocked', { reason: reason.reason ?? '' }), tone: 'warn' }
    case 'error':
      return { text: t('end.failed'), tone: 'fail' }
    case 'max-tokens':
      return { text: t('end.maxTokens'), tone: 'warn' }
    case 'interrupted':
      return { text: t('end.interrupted'), tone: 'warn' }
    case 'forked':
      return { text: t('end.forked'), tone: '' }
    default:
      return never(reason)
  }
}

export function Footer({ item }: { item: ItemOf<'footer'> }) {
  const t = useT()
  const end = endText(t, item.reason)
  const { usage, selection } = item
  return (
    <div className="foot">
      {end && <span className={`tag ${end.tone}`}>{end.text}</span>}
      {item.ms !== undefined && <span>{duration(item.ms)}</span>}
      {usage && (
        <span title={t('foot.cached', { n: tokens(usage.cacheReadTokens ?? 0) })}>
          {t('foot.tokens', { in: tokens(inputOf(usage)), out: tokens(usage.outputTokens ?? 0) })}
        </span>
      )}
      {selection && (
        <span>
          {selection.model}
          {selection.reasoningEffort && ` ${selection.reasoningEffort}`}
        </span>
      )}
      {item.preset !== undefined && <span>{item.preset}</span>}
      <span>{timeOfDay(item.time)}</span>
    </div>
  )
}
