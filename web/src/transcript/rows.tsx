import {
  ChevronDown,
  ChevronRight,
  CircleX,
  Copy,
  Info,
  ListTodo,
  CircleEllipsis,
  RotateCw,
  TriangleAlert,
  Wrench,
} from 'lucide-react'
import { memo } from 'react'
import type { ReactNode } from 'react'
import type { Item, ItemOf } from '../../../server/projection/transcript.ts'
import { never } from '../../../server/wire/never.ts'
import type { TurnEndReason } from '../../../server/wire/events.ts'
import { inputOf } from '../../../server/projection/usage.ts'
import { duration, timeOfDay, tokens } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import type { T } from '../i18n/i18n.ts'
import { useLiveText } from '../store/live.ts'
import type { LiveBlock } from '../store/live.ts'
import { navigate } from '../router.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { useNow } from '../ui/hooks.ts'
import { copyText } from '../ui/problems.tsx'
import { Card, TodoList } from './cards.tsx'
import { Markdown, StreamingMarkdown } from './markdown.tsx'
import { useOpen } from './open-state.ts'
import { Clock, ToolRow } from './tool-row.tsx'

interface Props {
  item: Item
  session: string
  cwd: string
}

export const ItemView = memo(function ItemView({ item, session, cwd }: Props): ReactNode {
  switch (item.kind) {
    case 'user':
      return <Said item={item} />
    case 'notice':
      return <Notice item={item} session={session} />
    case 'thinking':
      return <Thought item={item} session={session} />
    case 'text':
      return <Answer item={item} />
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
      return <Footer item={item} />
    default:
      return never(item)
  }
})

function Said({ item }: { item: ItemOf<'user'> }) {
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
      <span className="acts">
        <IconButton look="sm" label={t('copy')} onClick={() => void copyText(item.text)}>
          <Copy size={14} />
        </IconButton>
      </span>
    </div>
  )
}

function Answer({ item }: { item: ItemOf<'text'> }) {
  const t = useT()
  return (
    <div className="prose-row">
      <Markdown text={item.text} />
      {item.interrupted && <span className="tag warn">{t('cutOff')}</span>}
      <span className="acts">
        <IconButton look="sm" label={t('copy')} onClick={() => void copyText(item.text)}>
          <Copy size={14} />
        </IconButton>
      </span>
    </div>
  )
}

interface FoldProps {
  id: string
  icon: ReactNode
  verb: string
  detail: ReactNode
  meta?: ReactNode
  live?: boolean
  children: ReactNode
}

/** A row that opens into what it stands for; closed, its content is not in the page (B81). */
function Fold({ id, icon, verb, detail, meta, live, children }: FoldProps) {
  const [open, toggle] = useOpen(id, false)
  const Chevron = open ? ChevronDown : ChevronRight
  return (
    <>
      <button type="button" className={`row ${live ? 'live' : ''}`} aria-expanded={open} onClick={toggle}>
        {icon}
        <span className="verb">{verb}</span>
        <span className="last trunc">{detail}</span>
        <span className="meta">
          {meta}
          <Chevron size={14} />
        </span>
      </button>
      {open && children}
    </>
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
  const now = useNow(500, waiting && item.until !== undefined && item.until > Date.now())
  const left = item.until === undefined ? 0 : Math.ceil((item.until - now) / 1000)
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

function TurnErrorCard({ item }: { item: ItemOf<'error'> }) {
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

function Footer({ item }: { item: ItemOf<'footer'> }) {
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

/** Text that is still coming; the logged message takes its place under the same key. */
export function LiveView({ block, session }: { block: LiveBlock; session: string }) {
  const t = useT()
  const text = useLiveText(session, block.key)
  if (block.kind === 'text') return <StreamingMarkdown text={text} />
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
