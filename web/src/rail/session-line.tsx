import { Archive, ArchiveRestore, Ellipsis, Pencil, Pin, PinOff, Trash2 } from 'lucide-react'
import { memo, useEffect, useRef, useState } from 'react'
import type { SessionRow } from '../../../server/wire/views.ts'
import { ImeGuard } from '../composer/ime.ts'
import { age } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import type { Key } from '../i18n/i18n.ts'
import { linkTo } from '../router.ts'
import { run } from '../store/actions.ts'
import { openOverlay } from '../store/store.ts'
import { IconButton } from '../ui/button.tsx'
import { Menu } from '../ui/pop.tsx'
import { archiveSession, deleteSession, pinSession } from './session-actions.ts'

export const STATUS_KEYS = {
  idle: 'status.idle',
  running: 'status.running',
  'needs-you': 'status.needs-you',
  failed: 'status.failed',
} as const satisfies Record<SessionRow['status'], Key>

export const SessionLine = memo(function SessionLine({ row, on, now }: { row: SessionRow; on: boolean; now: number }) {
  const t = useT()
  const [renaming, setRenaming] = useState(false)
  const title = row.title || t('untitled')
  const link = linkTo({ place: 'session', id: row.id })
  if (renaming) return <Rename row={row} onDone={() => setRenaming(false)} />
  return (
    <li className={`sess ${on ? 'on' : ''}`} data-testid="rail-session">
      <a
        {...link}
        data-rail
        aria-current={on ? 'page' : undefined}
        onClick={(event) => {
          link.onClick(event)
          openOverlay(undefined)
        }}
        onDoubleClick={() => setRenaming(true)}
      >
        <span className={`dot ${row.status}`} role="img" aria-label={t(STATUS_KEYS[row.status])} />
        <span className="trunc grow" title={title}>
          {title}
        </span>
      </a>
      <Trailing row={row} now={now} />
      <Actions row={row} onRename={() => setRenaming(true)} />
    </li>
  )
})

function Trailing({ row, now }: { row: SessionRow; now: number }) {
  const t = useT()
  if (row.damaged) return <span className="age warn">{t('rail.damaged')}</span>
  if (row.status === 'needs-you') return <span className="age warn m">{t('status.needs-you')}</span>
  if (row.status === 'failed') return <span className="age fail">{t('status.failed')}</span>
  return (
    <span className="age">
      {row.pinned && <Pin size={12} aria-label={t('rail.pinned')} />}
      {age(t, row.updated, now)}
    </span>
  )
}

function Actions({ row, onRename }: { row: SessionRow; onRename(): void }) {
  const t = useT()
  const pin = t(row.pinned ? 'rail.unpin' : 'rail.pin')
  const archive = t(row.archived ? 'rail.unarchive' : 'rail.archive')
  return (
    <span className="acts">
      <IconButton look="sm pin" label={pin} onClick={() => pinSession(row.id, !row.pinned)}>
        {row.pinned ? <PinOff size={14} /> : <Pin size={14} />}
      </IconButton>
      <Menu
        trigger={
          <IconButton bare look="sm" label={t('rail.more')}>
            <Ellipsis size={14} />
          </IconButton>
        }
        entries={[
          { label: t('rail.rename'), icon: <Pencil size={14} />, run: onRename },
          {
            label: pin,
            icon: row.pinned ? <PinOff size={14} /> : <Pin size={14} />,
            run: () => pinSession(row.id, !row.pinned),
          },
          {
            label: archive,
            icon: row.archived ? <ArchiveRestore size={14} /> : <Archive size={14} />,
            run: () => void archiveSession(row.id, !row.archived),
          },
          null,
          { label: t('rail.delete'), icon: <Trash2 size={14} />, danger: true, run: () => void deleteSession(row.id) },
        ]}
      />
    </span>
  )
}

function Rename({ row, onDone }: { row: SessionRow; onDone(): void }) {
  const t = useT()
  const input = useRef<HTMLInputElement>(null)
  const [ime] = useState(() => new ImeGuard())
  // The menu that opened this gives the focus back to its button first.
  useEffect(() => {
    const timer = setTimeout(() => input.current?.select(), 0)
    return () => clearTimeout(timer)
  }, [])
  const save = () => {
    const title = input.current?.value.trim() ?? ''
    onDone()
    if (title !== '' && title !== row.title) void run('session.rename', { session: row.id, title })
  }
  return (
    <li className="sess on">
      <span className={`dot ${row.status}`} />
      <input
        ref={input}
        className="rename"
        aria-label={t('rail.rename')}
        defaultValue={row.title}
        maxLength={200}
        onCompositionStart={ime.start}
        onCompositionEnd={ime.end}
        onBlur={save}
        onKeyDown={(event) => {
          if (ime.owns(event)) return
          if (event.key === 'Enter') save()
          if (event.key === 'Escape') onDone()
        }}
      />
    </li>
  )
}
