import type { ItemOf, Money } from '../../../server/projection/transcript-items.ts'
import { inputOf } from '../../../server/projection/usage.ts'
import type { TurnEndReason } from '../../../server/wire/events.ts'
import { never } from '../../../server/wire/never.ts'
import { duration, timeOfDay, tokens } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import type { T } from '../i18n/i18n.ts'
import { costText } from '../models/cost-text.ts'
import { linkTo } from '../router.ts'
import { ForkHere } from './fork-here.tsx'

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

/** The last request of the turn: what the answer above was made from. */
const whyOf = ({ turn, step }: ItemOf<'footer'>) => ({ turn, ...(step !== undefined && { step }) })

function Cost({ money }: { money: Money }) {
  const t = useT()
  const why = money.unpriced > 0 ? t('foot.unpriced', { n: money.unpriced }) : t('foot.estimated')
  return (
    <span data-testid="foot-cost" title={why}>
      {costText(t, money)}
    </span>
  )
}

export function Footer({ item, session }: { item: ItemOf<'footer'>; session: string }) {
  const t = useT()
  const end = endText(t, item.reason)
  const { usage, selection } = item
  return (
    <div className="foot">
      {end && <span className={`tag ${end.tone}`}>{end.text}</span>}
      {item.ms !== undefined && <span>{duration(item.ms)}</span>}
      {usage && (
        <span data-testid="foot-tokens">
          {[
            t('foot.tokens', { in: tokens(inputOf(usage)), out: tokens(usage.outputTokens ?? 0) }),
            usage.cacheReadTokens && t('foot.cached', { n: tokens(usage.cacheReadTokens) }),
            usage.reasoningTokens && t('foot.thinking', { n: tokens(usage.reasoningTokens) }),
          ]
            .filter(Boolean)
            .join(', ')}
        </span>
      )}
      {item.money && <Cost money={item.money} />}
      {selection && (
        <span>
          {selection.model}
          {selection.reasoningEffort && ` ${selection.reasoningEffort}`}
        </span>
      )}
      {item.preset !== undefined && (
        <span data-testid="foot-preset">
          {item.preset}
          {item.composition && ` G${item.composition.generation}`}
        </span>
      )}
      <span>{timeOfDay(item.time)}</span>
      <a className="lk" data-testid="why" {...linkTo({ place: 'session', id: session, prompt: whyOf(item) })}>
        {t('foot.why')}
      </a>
      <span className="acts">
        <ForkHere session={session} seq={item.seq} />
      </span>
    </div>
  )
}
