import { CircleEllipsis, Wrench } from 'lucide-react'
import { tokens } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { useLiveText } from '../store/live.ts'
import type { LiveBlock } from '../store/live.ts'
import { Card } from './cards.tsx'
import { Fold } from './fold.tsx'
import { Clock } from './tool-row.tsx'

/** Thinking or a call that is still coming; the logged message takes its place under the same key. */
export function LiveView({ block, session }: { block: LiveBlock; session: string }) {
  const t = useT()
  const text = useLiveText(session, block.key)
  if (block.kind === 'tool')
    return (
      <div className="row live">
        <Wrench size={16} strokeWidth={1.75} />
        <span className="verb">{t('preparing')}</span>
        <span className="obj trunc">{block.name}</span>
        <span className="meta">
          <span className="num">{t('chars', { n: tokens(text.length) })}</span>
        </span>
      </div>
    )
  return (
    <Fold
      id={`${session}|${block.key}`}
      live
      icon={<CircleEllipsis size={16} strokeWidth={1.75} />}
      verb={t('thinking')}
      detail={lastLine(text)}
      meta={<Clock since={block.startedAt} />}
    >
      <Card tone="live">
        <div className="thought">{text.slice(-20_000)}</div>
      </Card>
    </Fold>
  )
}

const lastLine = (text: string): string => text.trimEnd().slice(-400).split('\n').at(-1) ?? ''

/** Between a prompt and the first word of the model nothing else says that something happens. */
export function Waiting({ since }: { since: number }) {
  const t = useT()
  return (
    <div className="row live" role="status">
      <span className="dot running" />
      <span className="last">{t('waiting')}</span>
      <span className="meta">
        <Clock since={since} />
      </span>
    </div>
  )
}
