import { Circle, CircleCheck, CircleDot, Copy, Maximize2 } from 'lucide-react'
import { memo, useMemo, useState } from 'react'
import type { ReactNode } from 'react'
import type { Todo } from '../../../server/projection/transcript-items.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { copyText } from '../ui/problems.tsx'
import { diffLines } from './diff-lines.ts'
import type { DiffLine, Hunk } from './diff-lines.ts'
import { FullText } from './full-text.tsx'
import { parseSgr } from './sgr.ts'
import type { Run } from './sgr.ts'

/** Lines of one card in the page at once (B80); the whole stands one click away. */
export const CARD_LINES = 300
const CARD_CHARS = 40_000

interface CardProps {
  tone?: 'live' | 'bad' | ''
  /** What "copy" copies and "open full" shows. */
  whole?: { title: string; text: string }
  children: ReactNode
}

export function Card({ tone = '', whole, children }: CardProps) {
  const t = useT()
  const [full, setFull] = useState(false)
  return (
    <div className={`open ${tone}`}>
      {children}
      {whole && whole.text !== '' && (
        <span className="acts">
          <IconButton look="sm" label={t('copy')} onClick={() => void copyText(whole.text)}>
            <Copy size={14} />
          </IconButton>
          <IconButton look="sm" label={t('card.full')} onClick={() => setFull(true)}>
            <Maximize2 size={14} />
          </IconButton>
        </span>
      )}
      {full && whole && <FullText title={whole.title} text={whole.text} onClose={() => setFull(false)} />}
    </div>
  )
}

export interface Cut {
  text: string
  lines: number
  hidden: number
}

/** The last lines for what runs, the first and last for what is done: failures stand at the end. */
export function cutLines(text: string, from: 'ends' | 'tail', limit = CARD_LINES): Cut {
  const lines = (text.length > 4_000_000 ? text.slice(-4_000_000) : text).split('\n')
  const bounded = (shown: string[]) =>
    shown.map((line) => (line.length > 2000 ? `${line.slice(0, 2000)}…` : line)).join('\n')
  if (lines.length <= limit && text.length <= CARD_CHARS) return { text, lines: lines.length, hidden: 0 }
  if (lines.length <= limit) return { text: bounded(lines).slice(-CARD_CHARS), lines: lines.length, hidden: 1 }
  const hidden = lines.length - limit
  if (from === 'tail') return { text: bounded(lines.slice(-limit)), lines: lines.length, hidden }
  const head = lines.slice(0, limit / 3)
  const tail = lines.slice(-(limit - head.length))
  return {
    text: [bounded(head), `\u001b[2m··· ${thousands(hidden)} ···\u001b[0m`, bounded(tail)].join('\n'),
    lines: lines.length,
    hidden,
  }
}

export function More({ cut, title, whole }: { cut: Cut; title: string; whole: string }) {
  const t = useT()
  const [full, setFull] = useState(false)
  if (cut.hidden === 0) return null
  return (
    <div className="more">
      <span>{t('card.cut', { n: thousands(cut.lines) })}</span>
      <Button look="ghost sm right" onClick={() => setFull(true)}>
        {t('card.full')}
      </Button>
      {full && <FullText title={title} text={whole} onClose={() => setFull(false)} />}
    </div>
  )
}

export const Ansi = memo(function Ansi({ text }: { text: string }) {
  return parseSgr(text).map((run, index) => (
    <span key={index} className={classOf(run) || undefined}>
      {run.text}
    </span>
  ))
})

const classOf = ({ fg, bg, bold, dim, italic, underline }: Run): string =>
  [fg && `fg-${fg}`, bg && `bg-${bg}`, bold && 'bold', dim && 'dim', italic && 'italic', underline && 'underline']
    .filter(Boolean)
    .join(' ')

export const DiffView = memo(function DiffView({ hunks }: { hunks: readonly Hunk[] }) {
  const lines = useMemo(() => diffLines(hunks), [hunks])
  const t = useT()
  const [all, setAll] = useState(false)
  const shown = all ? lines.slice(0, CARD_LINES * 10) : lines.slice(0, CARD_LINES)
  return (
    <>
      <div className="diff" tabIndex={0} role="figure" aria-label={t('card.diff')}>
        {shown.map((line, index) => (
          <DiffRow key={index} line={line} />
        ))}
      </div>
      {shown.length < lines.length && (
        <div className="more">
          <span>{t('card.diffCut', { shown: shown.length, total: lines.length })}</span>
          {!all && (
            <Button look="ghost sm right" onClick={() => setAll(true)}>
              {t('card.showMore')}
            </Button>
          )}
        </div>
      )}
    </>
  )
})

const SIGNS = { same: '', add: '+', del: '-', gap: '' } as const
const CLASSES = { same: 'both', add: 'a', del: 'd', gap: 'gap' } as const

function DiffRow({ line }: { line: DiffLine }) {
  if (line.kind === 'gap') return <div className="gap">{line.pieces[0]}</div>
  return (
    <div className={CLASSES[line.kind]}>
      <b>{line.before}</b>
      <b>{line.after}</b>
      <u>{SIGNS[line.kind]}</u>
      <span>{line.pieces.map((piece, index) => (index % 2 ? <em key={index}>{piece}</em> : piece))}</span>
    </div>
  )
}

/** Numbered lines as the view tools print them; what has no number is shown as it is. */
export function FileView({ text }: { text: string }) {
  const cut = cutLines(text, 'ends')
  return (
    <div className="fileview" tabIndex={0}>
      {cut.text.split('\n').map((line, index) => {
        const numbered = /^\s*(\d+)(?: {2}|\t|→)(.*)$/.exec(line)
        return (
          <div key={index}>
            <b>{numbered?.[1]}</b>
            <span>{numbered ? numbered[2] : line}</span>
          </div>
        )
      })}
    </div>
  )
}

const TODO_ICONS = { pending: Circle, in_progress: CircleDot, completed: CircleCheck } as const
const TODO_CLASSES = { pending: '', in_progress: 'now', completed: 'done' } as const

export function TodoList({ todos }: { todos: readonly Todo[] }) {
  const t = useT()
  return (
    <ul className="todos">
      {todos.map((todo, index) => {
        const Icon = TODO_ICONS[todo.status]
        return (
          <li key={index} className={TODO_CLASSES[todo.status]}>
            <Icon size={14} aria-label={t(`todo.${todo.status}`)} />
            <span>{todo.content}</span>
          </li>
        )
      })}
    </ul>
  )
}
