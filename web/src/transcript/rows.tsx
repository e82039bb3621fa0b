import { CircleEllipsis, Info, ListTodo, TriangleAlert } from 'lucide-react'
import { memo } from 'react'
import type { ReactNode } from 'react'
import type { Item, ItemOf } from '../../../server/projection/transcript-items.ts'
import { never } from '../../../server/wire/never.ts'
import { duration, timeOfDay } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { AnswerView } from './answer.tsx'
import { Card, TodoList } from './cards.tsx'
import { Fold } from './fold.tsx'
import { Acts } from './acts.tsx'
import { ToolRow } from './tool-row.tsx'
import { ModelMarkLine } from './model-mark.tsx'
import { PresetNotice } from './preset-notice.tsx'
import { RetryRow } from './retry-row.tsx'
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
      return <RetryRow item={item} session={session} />
    case 'warning':
      return <Warning item={item} />
    case 'todo':
      return <Todos item={item} session={session} />
    case 'error':
      return <TurnErrorCard item={item} session={session} />
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
  if (mark.type === 'model') return <ModelMarkLine mark={mark} time={item.time} />
  return (
    <div className="mark">
      <span>{t('mark.preset', { preset: mark.preset })}</span>
      <span className="num">{timeOfDay(item.time)}</span>
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
