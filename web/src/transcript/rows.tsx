import { CircleEllipsis, Info, ListTodo, RotateCw, TriangleAlert } from 'lucide-react'
import { memo } from 'react'
import type { ReactNode } from 'react'
import type { Item, ItemOf } from '../../../server/projection/transcript-items.ts'
import { never } from '../../../server/wire/never.ts'
import { duration, timeOfDay } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { useNow } from '../ui/hooks.ts'
import { AnswerView } from './answer.tsx'
import { Card, TodoList } from './cards.tsx'
import { Fold } from './fold.tsx'
import { Acts } from './acts.tsx'
import { ToolRow } from './tool-row.tsx'
import { PresetNotice } from './preset-notice.tsx'
import { Footer } from './turn-end.tsx'
import { TurnErrorCard } from './turn-error.tsx'

interface Props {
  item: Item
  session: string
  cwd: string
}

export const ItemView = memo(function ItemView({ item, session, cwd }: Props): ReactNode {
  switch (item.kind) {
    case 'user':
      return <Said item={item} session={session} />
    case 'notice':
      return <Notice item={item} session={session} />
    case 'thinking':
      return <Thought item={item} session={session} />
    case 'text':
      return <AnswerView id={item.key} item={item} session={session} />
    case 'tool':
      return <ToolRow item={item} session={session} cwd={cwd} />
    case 'mark':
      return <MarkLine item={item} />
    case 'retry':
      return <Retry item={item} />
    case 'warning':
      return <Warning item={item} />
    case 'todo':
      return <Todos item={item} session={session} />
    case 'error':
      return <TurnErrorCard item={item} />
    case 'footer':
      return <Footer item={item} session={session} />
    default:
      return never(item)
  }
})

function Said({ item, session }: { item: ItemOf<'user'>; session: string }) {
  const t = useT()
  return (
    <div className="said">
      <span className="sr">{t('you')}: </span>
      {item.text}
      {item.images.map((image) => (
        <span key={image.sha256} className="tag" style={{ marginLeft: 8 }}>
          {image.mediaType}
        </span>
      ))}
      <Acts text={item.text} session={session} seq={item.seq} />
    </div>
  )
}

function Thought({ item, session }: { item: ItemOf<'thinking'>; session: string }) {
  const t = useT()
  const took = item.ms !== undefined && item.ms >= 100 ? t('thought.for', { time: duration(item.ms) }) : ''
  return (
    <Fold
      id={`${session}|${item.key}`}
      icon={<CircleEllipsis size={16} strokeWidth={1.75} />}
      verb={t('thought')}
      detail={took || firstLine(item.text)}
    >
      <Card whole={{ title: t('thought'), text: item.text }}>
        <div className="thought">{item.text}</div>
      </Card>
    </Fold>
  )
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? ''

function Notice({ item, session }: { item: ItemOf<'notice'>; session: string }) {
  const t = useT()
  if (item.about) return <PresetNotice about={item.about} time={item.time} />
  return (
    <Fold
      id={`${session}|${item.key}`}
      icon={<Info size={16} strokeWidth={1.75} />}
      verb={t('notice')}
      detail={item.summary}
      meta={<span>{item.source}</span>}
    >
      <Card>
        <pre className="raw">{item.body}</pre>
      </Card>
    </Fold>
  )
}

function Todos({ item, session }: { item: ItemOf<'todo'>; session: string }) {
  const t = useT()
  const done = item.todos.filter((todo) => todo.status === 'completed').length
  return (
    <Fold
      id={`${session}|${item.key}`}
      icon={<ListTodo size={16} strokeWidth={1.75} />}
      verb={t('did.planned')}
      detail={t('todo.count', { done, total: item.todos.length })}
    >
      <Card>
        <TodoList todos={item.todos} />
      </Card>
    </Fold>
  )
}

function MarkLine({ item }: { item: ItemOf<'mark'> }) {
  const t = useT()
  const { mark } = item
  const effort = mark.type === 'model' && mark.reasoningEffort ? ` ${mark.reasoningEffort}` : ''
  const text =
    mark.type === 'model'
      ? t('mark.model', { model: `${mark.provider}/${mark.model}${effort}` })
      : t('mark.preset', { preset: mark.preset })
  return (
    <div className="mark">
      <span>{text}</span>
      <span className="num">{timeOfDay(item.time)}</span>
    </div>
  )
}

function Retry({ item }: { item: ItemOf<'retry'> }) {
  const t = useT()
  const waiting = item.until !== undefined && !item.started
  const now = useNow(500, waiting)
  // The last attempt, or one that no second try can help: the error that ends the turn says it all.
  if (item.until === undefined) return null
  const left = Math.ceil((item.until - now) / 1000)
  return (
    <div className={`row ${waiting ? 'live' : ''}`} role="status">
      <RotateCw size={16} strokeWidth={1.75} />
      <span className="verb">{t('retry')}</span>
      <span className="last trunc" title={item.error.message}>
        {item.error.message}
      </span>
      <span className="meta">
        <span className="tag warn mono-s">{item.error.code}</span>
        {waiting && left > 0 && <span className="clock">{t('retry.in', { n: left })}</span>}
        {item.started && item.waitMs !== undefined && <span>{t('retry.after', { time: duration(item.waitMs) })}</span>}
      </span>
    </div>
  )
}

function Warning({ item }: { item: ItemOf<'warning'> }) {
  const t = useT()
  return (
    <div className="row">
      <TriangleAlert size={16} strokeWidth={1.75} />
      <span className="verb">{t('warning')}</span>
      <span className="last trunc">{[item.feature, item.detail].filter(Boolean).join(': ')}</span>
    </div>
  )
}
