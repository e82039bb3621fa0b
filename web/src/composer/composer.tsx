import { ArrowUp, Square } from 'lucide-react'
import { waiting } from '../../../server/projection/inbox.ts'
import { textOf } from '../../../server/wire/messages.ts'
import { clockText } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { SessionModelChip } from '../models/session-model.tsx'
import { PresetChip } from '../presets/preset-chip.tsx'
import { ApprovalPanel } from '../safety/approval-panel.tsx'
import { PermissionChip } from '../safety/permission-chip.tsx'
import { run } from '../store/actions.ts'
import { draftOf, giveBack, setDraft, useDraft } from '../store/drafts-state.ts'
import { usePrefs } from '../store/prefs.ts'
import { isRunning } from '../store/session-view.ts'
import type { OpenSession } from '../store/session-view.ts'
import { IconButton } from '../ui/button.tsx'
import { useNow, usePhone } from '../ui/hooks.ts'
import { Problems } from '../ui/problems.tsx'
import { TextBox } from './text-box.tsx'
import { Tray } from './tray.tsx'

export function Composer({ id, view }: { id: string; view: OpenSession }) {
  const t = useT()
  const text = useDraft(id)
  const running = isRunning(view)
  const enter = usePrefs((prefs) => prefs.enterWhileRunning)
  const phone = usePhone()
  const shut = view.readOnly ?? (view.writer.kind === 'elsewhere' ? { message: '' } : undefined)
  const submit = (modifier: boolean) => {
    if (shut || draftOf(id).trim() === '') return
    const other = enter === 'queue' ? 'steer' : 'queue'
    void send(id, running ? (modifier ? other : enter) : 'queue')
  }
  const hint = t(phone ? 'composer.queueShort' : enter === 'queue' ? 'composer.queue' : 'composer.steer')
  return (
    <div className="base">
      <Problems place={`session:${id}`} />
      <ApprovalPanel view={view} />
      <Tray id={id} view={view} />
      <div className={`comp ${shut ? 'shut' : ''}`}>
        <TextBox
          key={id}
          autoFocus={!shut}
          value={text}
          shut={shut !== undefined}
          label={t('composer.label')}
          placeholder={shut ? t('composer.shut') : running ? hint : t('composer.placeholder')}
          onChange={(next) => setDraft(id, next)}
          onEnter={submit}
          {...(running && { onEscape: () => void stop(id, view) })}
        />
        <div className="tools">
          <SessionModelChip state={view.state} />
          {!phone && <PresetChip view={view} />}
          <PermissionChip view={view} />
          <span className="end">
            {running && view.state.openTurn && <Elapsed since={view.state.openTurn.startedAt} />}
            {running && text.trim() === '' ? (
              <IconButton
                label={t('stop')}
                keys="Esc"
                look="send stop"
                data-testid="stop"
                onClick={() => void stop(id, view)}
              >
                <Square size={11} />
              </IconButton>
            ) : (
              <IconButton
                label={t(running ? 'send.queue' : 'send')}
                keys="Enter"
                look="send"
                data-testid="send"
                aria-disabled={shut !== undefined || text.trim() === ''}
                onClick={() => submit(false)}
              >
                <ArrowUp size={16} />
              </IconButton>
            )}
          </span>
        </div>
      </div>
    </div>
  )
}

/** The text leaves the box at once and comes back if it is refused and nothing else was typed meanwhile. */
async function send(id: string, mode: 'queue' | 'steer'): Promise<void> {
  const text = draftOf(id)
  setDraft(id, '')
  const outcome = await run('session.prompt', { session: id, text, mode }, { place: `session:${id}` })
  if (!outcome.ok && outcome.error.code !== 'gateway/cancelled' && draftOf(id) === '') setDraft(id, text)
}

/** Queued text is taken out first and given back, so that stopping one turn does not start the next. */
async function stop(id: string, view: OpenSession): Promise<void> {
  const place = `session:${id}`
  const rows = waiting(view.state.inbox, 'next-turn').filter((row) => row.message.source.kind === 'user')
  const removals = rows.map((row) => run('queue.remove', { session: id, message: row.message.id }, { place: 'none' }))
  const stopped = run('session.stop', { session: id }, { place })
  const outcomes = await Promise.all(removals)
  const texts = outcomes.map((outcome, index) => {
    if (!outcome.ok) return ''
    return outcome.result.text || textOf(rows[index]?.message ?? { content: [] })
  })
  const back = texts.filter(Boolean).join('\n\n')
  if (back !== '') giveBack(id, back)
  await stopped
}

function Elapsed({ since }: { since: number }) {
  const now = useNow(1000)
  return <span className="num">{clockText(Math.max(0, now - since))}</span>
}
