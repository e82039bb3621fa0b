import {
  ChevronDown,
  ChevronRight,
  FileSearch,
  FileText,
  FolderTree,
  ListTodo,
  Pencil,
  Terminal as TerminalIcon,
  Wrench,
} from 'lucide-react'
import { memo, useMemo } from 'react'
import type { ItemOf } from '../../../server/projection/transcript-items.ts'
import { clockText, duration } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { useLiveOutput } from '../store/live.ts'
import { useApp } from '../store/store.ts'
import { useNow } from '../ui/hooks.ts'
import { Ansi, Card, DiffView, FileView, More, TodoList, cutLines } from './cards.tsx'
import { Denied } from '../safety/denied.tsx'
import { useOpen } from './open-state.ts'
import { argsOf, hunksOf, lineOf } from './tools.ts'
import type { ToolLine, ToolLook } from './tools.ts'

const ICONS: Record<ToolLook, typeof Wrench> = {
  bash: TerminalIcon,
  edit: Pencil,
  view: FileText,
  list: FolderTree,
  search: FileSearch,
  todo: ListTodo,
  other: Wrench,
}
/** A small change is read in passing; a larger one waits to be opened. */
const SMALL_DIFF = 24

interface Props {
  item: ItemOf<'tool'>
  session: string
  cwd: string
}

export const ToolRow = memo(function ToolRow({ item, session, cwd }: Props) {
  const line = useMemo(() => lineOf(item, cwd), [item, cwd])
  const live = item.state === 'running' || item.state === 'called'
  const output = useLiveOutput(session, item.callId)
  const byItself = line.failed || (live && line.look === 'bash' && output !== '') || opensItself(item, line)
  const [open, toggle] = useOpen(`${session}|${item.key}`, byItself)
  return (
    <>
      <Head item={item} session={session} line={line} live={live} open={open} onToggle={toggle} />
      {open && <Body item={item} line={line} live={live} output={output} />}
      {item.result?.error?.code === 'PERMISSION_READ_ONLY' && <Denied session={session} />}
    </>
  )
})

function opensItself(item: ItemOf<'tool'>, line: ToolLine): boolean {
  if (line.look !== 'edit' || !item.result) return false
  return hunksOf(item).reduce((sum, hunk) => sum + hunk.lines.length, 0) <= SMALL_DIFF
}

interface HeadProps {
  item: ItemOf<'tool'>
  session: string
  line: ToolLine
  live: boolean
  open: boolean
  onToggle(): void
}

function Head({ item, session, line, live, open, onToggle }: HeadProps) {
  const t = useT()
  const Icon = ICONS[line.look]
  const asks = useApp((app) => {
    const view = app.sessions[session]
    return view?.kind === 'open' && view.state.asks.some(({ callId }) => callId === item.callId)
  })
  const Chevron = open ? ChevronDown : ChevronRight
  const todos = line.look === 'todo' ? todosOf(item) : []
  const done = todos.filter((todo) => todo.status === 'completed').length
  return (
    <button
      type="button"
      className={`row ${live ? 'live' : ''} ${line.failed ? 'bad' : ''}`}
      data-testid="tool-row"
      data-state={item.state}
      aria-expanded={open}
      onClick={onToggle}
    >
      <Icon size={16} strokeWidth={1.75} />
      <span className="verb">{t(asks ? 'ask.verb' : live ? `doing.${line.verb}` : `did.${line.verb}`)}</span>
      <span className="obj trunc">{line.object}</span>
      {todos.length > 0 && <span className="last">{t('todo.count', { done, total: todos.length })}</span>}
      <span className="meta">
        {line.exit && <span className="tag fail">{line.exit}</span>}
        {!line.exit && item.result?.error && <span className="tag fail mono-s">{item.result.error.code}</span>}
        {item.state === 'stopped' && <span className="tag">{t('tool.stopped')}</span>}
        {line.added !== undefined && <span className="plus">+{line.added}</span>}
        {line.removed !== undefined && line.removed > 0 && <span className="minus">-{line.removed}</span>}
        {live ? (
          <Clock since={item.startedAt} />
        ) : (
          item.ms !== undefined && item.ms >= 50 && <span>{duration(item.ms)}</span>
        )}
        <Chevron size={14} />
      </span>
    </button>
  )
}

export function Clock({ since }: { since: number | undefined }) {
  const now = useNow(1000, since !== undefined)
  return since === undefined ? null : <span className="clock">{clockText(Math.max(0, now - since))}</span>
}

interface BodyProps {
  item: ItemOf<'tool'>
  line: ToolLine
  live: boolean
  output: string
}

function Body({ item, line, live, output }: BodyProps) {
  const text = item.result?.text ?? ''
  const tone = line.failed ? 'bad' : live ? 'live' : ''
  if (line.look === 'bash')
    return <Terminal item={item} tone={tone} text={live ? output : text} live={live} title={line.object} />
  const todos = todosOf(item)
  if (line.look === 'todo' && todos.length > 0)
    return (
      <Card tone={tone}>
        <TodoList todos={todos} />
      </Card>
    )
  const hunks = line.look === 'edit' ? hunksOf(item) : []
  if (hunks.length > 0 && (!line.failed || text === '')) return <Edit item={item} tone={tone} title={line.object} />
  if (line.look === 'view' && text !== '' && !line.failed)
    return (
      <Card tone={tone} whole={{ title: line.object, text }}>
        <FileView text={text} />
      </Card>
    )
  return <Generic item={item} tone={tone} title={line.object} />
}

type Tone = 'live' | 'bad' | ''

function Terminal({
  item,
  tone,
  text,
  live,
  title,
}: {
  item: ItemOf<'tool'>
  tone: Tone
  text: string
  live: boolean
  title: string
}) {
  const t = useT()
  const command = String(argsOf(item)['command'] ?? '')
  const cut = cutLines(text, live ? 'tail' : 'ends')
  const nothing = text === '' && !live
  return (
    <Card tone={tone} whole={{ title, text: `$ ${command}\n${text}` }}>
      <div className="term" tabIndex={0} role="figure" aria-label={t('card.terminal')}>
        <span className="p">$ </span>
        <span className="c">{command}</span>
        {'\n'}
        {nothing ? <span className="p">{t('card.noOutput')}</span> : <Ansi text={cut.text} />}
        {live && <span className="cur" />}
      </div>
      <More cut={cut} title={title} whole={text} />
    </Card>
  )
}

function Edit({ item, tone, title }: { item: ItemOf<'tool'>; tone: Tone; title: string }) {
  const hunks = useMemo(() => hunksOf(item), [item])
  const unified = useMemo(() => hunks.flatMap((hunk) => hunk.lines).join('\n'), [hunks])
  return (
    <Card tone={tone} whole={{ title, text: unified }}>
      <DiffView hunks={hunks} />
    </Card>
  )
}

function Generic({ item, tone, title }: { item: ItemOf<'tool'>; tone: Tone; title: string }) {
  const t = useT()
  const text = item.result?.text ?? ''
  const args = useMemo(() => pretty(item.arguments), [item.arguments])
  const cut = cutLines(text, 'ends')
  return (
    <Card tone={tone} whole={{ title, text: [args, text].filter(Boolean).join('\n\n') }}>
      {args !== '' && <pre className="raw t3">{cutLines(args, 'ends').text}</pre>}
      {text !== '' && (
        <pre className="raw">
          <Ansi text={cut.text} />
        </pre>
      )}
      {item.result?.images.map((image) => (
        <p key={image.sha256} className="raw t3">
          {t('card.image', { type: image.mediaType, kb: Math.ceil(image.bytes / 1024) })}
        </p>
      ))}
      {args === '' && text === '' && <pre className="raw t3">{t('card.noOutput')}</pre>}
      <More cut={cut} title={title} whole={text} />
    </Card>
  )
}

function todosOf(item: ItemOf<'tool'>): NonNullable<ItemOf<'tool'>['todos']> {
  if (item.todos) return item.todos
  const todos = argsOf(item)['todos']
  return Array.isArray(todos) ? (todos as unknown as NonNullable<ItemOf<'tool'>['todos']>) : []
}

function pretty(json: string): string {
  try {
    const value = JSON.parse(json) as object
    return Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2)
  } catch {
    return json
  }
}
