import { ArrowLeft, MessageSquare, Search } from 'lucide-react'
import { useState } from 'react'
import type { RequestRow } from '../../../server/wire/presets.ts'
import type { SessionRow } from '../../../server/wire/views.ts'
import { listSessions, requestRows } from '../api.ts'
import { timeOfDay } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import type { RequestPlace } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { useLoad } from './load.ts'

/** Rows in the page at once; the newest are at the top. */
const SHOWN = 200

interface ListProps {
  rows: readonly RequestRow[]
  value?: RequestRow
  onPick(row: RequestRow): void
}

export function RequestList({ rows, value, onPick }: ListProps) {
  const t = useT()
  const [more, setMore] = useState(1)
  const shown = rows.slice(-SHOWN * more).toReversed()
  return (
    <div className="opts" role="listbox" aria-label={t('pv.requests')}>
      {shown.map((row) => {
        const on = row === value
        return (
          <button
            key={`${row.turn}.${row.step}`}
            type="button"
            role="option"
            aria-selected={on}
            className={`opt ${on ? 'on' : ''}`}
            data-testid="request-option"
            onClick={() => onPick(row)}
          >
            <span className="grow">
              <span className="flex">
                <span className="m num">{t('pv.request', { turn: row.turn, step: row.step })}</span>
                {row.changed && <span className="tag acc">{t('pv.changed')}</span>}
                <span className="right t3 t12 num">{timeOfDay(row.time)}</span>
              </span>
              <span className="flex">
                <span className="sub trunc grow">{row.prompt}</span>
                <span className="sub trunc">{row.model}</span>
              </span>
            </span>
          </button>
        )
      })}
      {shown.length < rows.length && (
        <Button look="ghost" onClick={() => setMore(more + 1)}>
          {t('pv.older')}
        </Button>
      )}
    </div>
  )
}

interface CompareProps {
  id: string
  rows: readonly RequestRow[]
  row: RequestRow
  onPick(place: RequestPlace): void
}

/** Any other request of this session, or of one that is chosen by its title. */
export function ComparePicker({ id, rows, row, onPick }: CompareProps) {
  const t = useT()
  const [from, setFrom] = useState<'here' | 'sessions' | SessionRow>('here')
  if (from === 'sessions') return <SessionList id={id} onBack={() => setFrom('here')} onPick={setFrom} />
  if (from !== 'here')
    return (
      <OtherSession
        session={from}
        onBack={() => setFrom('sessions')}
        onPick={({ turn, step }) => onPick({ session: from.id, turn, step })}
      />
    )
  const others = rows.filter((each) => each !== row)
  return (
    <>
      {others.length === 0 && <p className="pv-none">{t('pv.onlyOne')}</p>}
      <RequestList rows={others} onPick={({ turn, step }) => onPick({ turn, step })} />
      <button type="button" className="opt pop-part" onClick={() => setFrom('sessions')} data-testid="other-session">
        <MessageSquare size={16} className="t3" />
        {t('pv.otherSession')}
      </button>
    </>
  )
}

function Back({ label, onBack }: { label: string; onBack(): void }) {
  return (
    <button type="button" className="opt pv-back" onClick={onBack}>
      <ArrowLeft size={14} className="t3" />
      <span className="m trunc">{label}</span>
    </button>
  )
}

function SessionList({ id, onBack, onPick }: { id: string; onBack(): void; onPick(row: SessionRow): void }) {
  const t = useT()
  const [query, setQuery] = useState('')
  const page = useLoad('sessions', '', () => listSessions())
  const wanted = query.trim().toLowerCase()
  const rows = (page.value?.rows ?? []).filter(
    (row) => row.id !== id && row.turns > 0 && row.title.toLowerCase().includes(wanted),
  )
  return (
    <>
      <Back label={t('pv.otherSession')} onBack={onBack} />
      <div className="pop-search">
        <label className="field">
          <Search size={14} />
          <input
            autoFocus
            value={query}
            placeholder={t('pv.findSession')}
            aria-label={t('pv.findSession')}
            onChange={(event) => setQuery(event.target.value)}
          />
        </label>
      </div>
      <div className="opts" role="listbox" aria-label={t('palette.sessions')}>
        {rows.map((row) => (
          <button
            key={row.id}
            type="button"
            role="option"
            aria-selected={false}
            className="opt"
            data-testid="session-option"
            onClick={() => onPick(row)}
          >
            <span className="grow">
              <span className="m trunc" style={{ display: 'block' }}>
                {row.title || t('untitled')}
              </span>
              <span className="sub trunc">
                {[row.cwd?.split('/').at(-1), row.preset, row.model].filter(Boolean).join(', ')}
              </span>
            </span>
          </button>
        ))}
        <Note load={page} empty={rows.length === 0} />
      </div>
    </>
  )
}

interface OtherProps {
  session: SessionRow
  onBack(): void
  onPick(row: RequestRow): void
}

function OtherSession({ session, onBack, onPick }: OtherProps) {
  const t = useT()
  const load = useLoad(session.id, '', () => requestRows(session.id))
  return (
    <>
      <Back label={session.title || t('untitled')} onBack={onBack} />
      {!load.busy && load.value && <RequestList rows={load.value} onPick={onPick} />}
      <Note load={load} empty={load.value?.length === 0} />
    </>
  )
}

function Note({ load, empty }: { load: ReturnType<typeof useLoad>; empty: boolean }) {
  const t = useT()
  if (load.error)
    return (
      <p className="pv-none" role="alert">
        {load.error.message} <span className="mono-s">{load.error.code}</span>{' '}
        <Button look="sm" onClick={load.again}>
          {t('problem.retry')}
        </Button>
      </p>
    )
  if (load.busy)
    return (
      <div className="stack" style={{ padding: 16 }} aria-busy="true">
        {['70%', '52%', '64%'].map((width) => (
          <div key={width} className="skel" style={{ width }} />
        ))}
      </div>
    )
  return empty ? <p className="pv-none">{t('pv.nothing')}</p> : null
}
