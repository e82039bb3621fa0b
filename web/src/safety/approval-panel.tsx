import { ShieldQuestion } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { PendingApproval } from '../../../server/wire/safety.ts'
import { duration } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { run } from '../store/actions.ts'
import type { OpenSession } from '../store/session-view.ts'
import { get } from '../store/store.ts'
import { Button } from '../ui/button.tsx'

type Answer = 'once' | 'session' | 'reject'

/** What waits for a person, oldest first; the server owns it, every tab shows it. */
export function ApprovalPanel({ view }: { view: OpenSession }) {
  const [first, ...more] = view.state.asks
  if (!first) return null
  return <Panel key={first.id} session={view.state.id} ask={first} more={more.length} />
}

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

function Panel({ session, ask, more }: { session: string; ask: PendingApproval; more: number }) {
  const t = useT()
  const [note, setNote] = useState('')
  const [sent, setSent] = useState(false)
  const answers: readonly Answer[] = ask.kind === 'approve' ? ['once', 'session', 'reject'] : ['once', 'reject']
  const send = async (answer: Answer) => {
    if (sent) return
    setSent(true)
    const said = note.trim()
    const outcome = await run(
      'approval.answer',
      {
        session,
        approval: ask.id,
        digest: ask.digest,
        answer,
        ...(answer === 'reject' && said !== '' && { note: said }),
      },
      // A refusal outlives the panel: another tab may just have answered.
      { place: `session:${session}` },
    )
    if (!outcome.ok) setSent(false)
  }
  useKeys((index) => {
    const answer = answers[index]
    if (answer) void send(answer)
  })
  return (
    <section className="ask" aria-label={t('ask.title')} data-testid="approval">
      <header>
        <ShieldQuestion size={16} />
        <h2>{titleOf(t, ask)}</h2>
        {more > 0 && <span className="tag right">{t('ask.more', { n: more })}</span>}
      </header>
      <div className="ask-body">
        <Subject ask={ask} />
        <p className={ask.kind === 'escalate' ? 'warn' : 't2'}>
          {ask.kind === 'escalate' && <span className="m">{t('ask.escalate')}. </span>}
          {ask.reason}
        </p>
        <p className="t3 mono-s where">{t('ask.in', { cwd: ask.cwd })}</p>
        {ask.touches.some((path) => path !== ask.cwd) && (
          <p className="t3 mono-s where">{t('ask.touches', { paths: ask.touches.join(', ') })}</p>
        )}
      </div>
      <footer>
        {answers.map((answer, index) => (
          <Button
            key={answer}
            look={answer === 'once' ? 'pri' : ''}
            data-testid={`answer-${answer}`}
            aria-disabled={sent || undefined}
            onClick={() => void send(answer)}
          >
            {t(answer === 'reject' ? 'ask.deny' : `ask.${answer}`)}
            <kbd>{index + 1}</kbd>
          </Button>
        ))}
        <span className="field grow">
          <input
            value={note}
            aria-label={t('ask.note')}
            placeholder={t('ask.note')}
            maxLength={4000}
            onChange={(event) => setNote(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && !event.nativeEvent.isComposing) void send('reject')
            }}
          />
        </span>
      </footer>
      <p className="t3 t12">
        {ask.waitMs === null ? t('ask.waitsEver') : t('ask.waits', { time: duration(ask.waitMs) })}
      </p>
    </section>
  )
}

/** 1 to 3 answer wherever nobody types. */
function useKeys(answer: (index: number) => void): void {
  const latest = useRef(answer)
  useEffect(() => {
    latest.current = answer
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
      if (typing(event.target) || get().overlay || !/^[1-3]$/.test(event.key)) return
      event.preventDefault()
      latest.current(Number(event.key) - 1)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function titleOf(t: ReturnType<typeof useT>, { toolName, args }: PendingApproval): string {
  if (pathOf(args) !== undefined) return t('ask.edit')
  return textOf(args['command']) === undefined ? t('ask.tool', { tool: toolName }) : t('ask.command')
}

const pathOf = (args: PendingApproval['args']) => textOf(args['file_path']) ?? textOf(args['path'])

/** Exactly what would run: the command as it is, or the file and what would stand in it. */
function Subject({ ask: { args } }: { ask: PendingApproval }) {
  const path = pathOf(args)
  const command = textOf(args['command'])
  if (path === undefined && command !== undefined) return <pre className="ask-what mono">{command}</pre>
  const old = textOf(args['old_string']) ?? textOf(args['old_str'])
  const next =
    textOf(args['new_string']) ?? textOf(args['new_str']) ?? textOf(args['content']) ?? textOf(args['file_text'])
  if (path === undefined || next === undefined)
    return <pre className="ask-what mono">{JSON.stringify(args, null, 2)}</pre>
  return (
    <div className="ask-what mono">
      <p className="m">{path}</p>
      {old !== undefined && <Lines sign="-" text={old} />}
      <Lines sign="+" text={next} />
    </div>
  )
}

const Lines = ({ sign, text }: { sign: '-' | '+'; text: string }) => (
  <pre className={sign === '-' ? 'minus' : 'plus'}>
    {text
      .split('\n')
      .map((line) => `${sign} ${line}`)
      .join('\n')}
  </pre>
)
