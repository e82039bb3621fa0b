import { ChevronDown, ChevronUp, Clock, CornerDownLeft, ListTodo, Pencil, X, Zap } from 'lucide-react'
import { useState } from 'react'
import { waiting } from '../../../server/projection/inbox.ts'
import type { InboxRow } from '../../../server/projection/inbox.ts'
import type { Todo } from '../../../server/projection/transcript-items.ts'
import { textOf } from '../../../server/wire/messages.ts'
import type { CommandArgs } from '../../../server/wire/commands.ts'
import type { Pending } from '../connection/connection.ts'
import { useT } from '../i18n/i18n.ts'
import { run, withdraw } from '../store/actions.ts'
import { giveBack } from '../store/drafts-state.ts'
import { isRunning } from '../store/session-view.ts'
import type { OpenSession } from '../store/session-view.ts'
import { useApp } from '../store/store.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { TodoList } from '../transcript/cards.tsx'
import { ImeGuard } from './ime.ts'

/** What stands between the transcript and the composer: the plan, and what waits to be said. */
export function Tray({ id, view }: { id: string; view: OpenSession }) {
  const steers = waiting(view.state.inbox, 'next-step')
  const queued = waiting(view.state.inbox, 'next-turn')
  const unsent = useUnsent(id)
  const todos = isRunning(view) || view.state.todo.some((todo) => todo.status !== 'completed') ? view.state.todo : []
  const rows = steers.length + queued.length + unsent.length
  if (todos.length === 0 && rows === 0) return null
  return (
    <div className="tray">
      {todos.length > 0 && <Plan todos={todos} />}
      {todos.length > 0 && rows > 0 && <div className="line" />}
      {steers.map((row) => (
        <QueueLine key={row.message.id} id={id} row={row} when="tray.steer" />
      ))}
      {queued.map((row, index) => (
        <QueueLine key={row.message.id} id={id} row={row} when={index === 0 ? 'tray.next' : 'tray.then'} />
      ))}
      {unsent.map((pending) => (
        <UnsentLine key={pending.id} id={id} pending={pending} />
      ))}
    </div>
  )
}

function useUnsent(id: string): Pending[] {
  const pending = useApp((app) => app.pending)
  const away = useApp((app) => app.status.kind !== 'open')
  if (!away) return []
  return pending.filter((entry) => entry.name === 'session.prompt' && promptOf(entry).session === id)
}

const promptOf = (entry: Pending): CommandArgs<'session.prompt'> => entry.args as CommandArgs<'session.prompt'>

function Plan({ todos }: { todos: readonly Todo[] }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const done = todos.filter((todo) => todo.status === 'completed').length
  const now = todos.find((todo) => todo.status === 'in_progress') ?? todos.find((todo) => todo.status === 'pending')
  return (
    <>
      <button type="button" className="ln" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ListTodo size={14} />
        <span className="steps" aria-hidden="true">
          {todos.slice(0, 12).map((todo, index) => (
            <i key={index} className={todo.status} />
          ))}
        </span>
        <span className="m trunc" style={{ color: 'var(--text)' }}>
          {now?.content ?? t('todo.allDone')}
        </span>
        <span className="t3 num right" style={{ flex: 'none' }}>
          {t('todo.count', { done, total: todos.length })}
        </span>
        {open ? <ChevronDown size={14} /> : <ChevronUp size={14} />}
      </button>
      {open && <TodoList todos={todos} />}
    </>
  )
}

function QueueLine({ id, row, when }: { id: string; row: InboxRow; when: 'tray.steer' | 'tray.next' | 'tray.then' }) {
  const t = useT()
  const [editing, setEditing] = useState(false)
  const message = row.message.id
  const text = textOf(row.message)
  const place = `session:${id}`
  if (editing) return <EditLine id={id} message={message} text={text} onDone={() => setEditing(false)} />
  const remove = async () => {
    const outcome = await run('queue.remove', { session: id, message }, { place })
    if (outcome.ok) giveBack(id, outcome.result.text || text)
  }
  return (
    <div className="ln" data-testid="queue-row">
      {when === 'tray.steer' ? <Zap size={14} /> : <CornerDownLeft size={14} />}
      <span className="when">{t(row.parked === undefined ? when : 'tray.parked')}</span>
      <span className="trunc" style={{ color: 'var(--text)' }} title={row.parked ?? text}>
        {text}
      </span>
      <span className="acts">
        <Button look="ghost sm" onClick={() => void run('queue.send-now', { session: id, message }, { place })}>
          {t('tray.sendNow')}
        </Button>
        <IconButton look="sm" label={t('tray.edit')} onClick={() => setEditing(true)}>
          <Pencil size={14} />
        </IconButton>
        <IconButton look="sm" label={t('tray.remove')} onClick={() => void remove()}>
          <X size={14} />
        </IconButton>
      </span>
    </div>
  )
}

function EditLine({ id, message, text, onDone }: { id: string; message: string; text: string; onDone(): void }) {
  const t = useT()
  const [value, setValue] = useState(text)
  const [ime] = useState(() => new ImeGuard())
  const save = () => {
    onDone()
    if (value.trim() === '' || value === text) return
    void run('queue.edit', { session: id, message, text: value }, { place: `session:${id}` })
  }
  return (
    <div className="ln">
      <textarea
        autoFocus
        rows={Math.min(6, value.split('\n').length)}
        value={value}
        aria-label={t('tray.edit')}
        onChange={(event) => setValue(event.target.value)}
        onCompositionStart={ime.start}
        onCompositionEnd={ime.end}
        onKeyDown={(event) => {
          if (ime.owns(event)) return
          if (event.key === 'Escape') onDone()
          if (event.key !== 'Enter' || event.shiftKey) return
          event.preventDefault()
          save()
        }}
      />
      <Button look="sm pri" onClick={save}>
        {t('save')}
      </Button>
      <Button look="sm ghost" onClick={onDone}>
        {t('cancel')}
      </Button>
    </div>
  )
}

/** Typed while the server did not answer: sent once, in order, when it does; until then it can be taken back. */
function UnsentLine({ id, pending }: { id: string; pending: Pending }) {
  const t = useT()
  const { text } = promptOf(pending)
  return (
    <div className="ln">
      <Clock size={14} />
      <span className="when">{t(pending.sent ? 'tray.unanswered' : 'tray.unsent')}</span>
      <span className="trunc">{text}</span>
      {!pending.sent && (
        <span className="acts">
          <IconButton
            look="sm"
            label={t('tray.remove')}
            onClick={() => {
              if (withdraw(pending.id)) giveBack(id, text)
            }}
          >
            <X size={14} />
          </IconButton>
        </span>
      )}
    </div>
  )
}
