import { CircleX } from 'lucide-react'
import { useEffect, useMemo } from 'react'
import type { ReactNode } from 'react'
import type { RequestRow, RequestView } from '../../../server/wire/presets.ts'
import { requestRows, requestView } from '../api.ts'
import { useT } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import type { PromptPlace, RequestPlace } from '../router.ts'
import type { OpenSession } from '../store/session-view.ts'
import { Button } from '../ui/button.tsx'
import { Bar } from './bar.tsx'
import { compare } from './compare.ts'
import { DryPrompt } from './dry.tsx'
import { Facts } from './facts.tsx'
import { useLoad } from './load.ts'
import type { Loaded } from './load.ts'
import { PromptText } from './prompt-text.tsx'
import '../styles/prompt.css'

interface Props {
  id: string
  view: OpenSession
  place: PromptPlace
}

/** Exactly what a request of the session was made of, and where each piece comes from. */
export function PromptScreen({ id, view, place }: Props) {
  const rows = useLoad(id, newest(view), () => requestRows(id))
  const list = rows.value
  const shown = list && pick(list, place)
  useExactAddress(id, place, shown)
  if (rows.error) return <Failed load={rows} />
  if (!list) return <Waiting />
  if (list.length === 0) return <DryPrompt view={view} />
  if (!shown) return <Missing id={id} />
  return <Request id={id} view={view} rows={list} row={shown} against={place.against} />
}

/** Moves with every request of the session that runs. */
const newest = ({ events }: OpenSession): string =>
  String(events.findLast(({ type }) => type === 'request/header' || type === 'step/start')?.seq ?? -1)

function pick(rows: readonly RequestRow[], { turn, step }: PromptPlace): RequestRow | undefined {
  if (turn === undefined) return rows.at(-1)
  return rows.find((row) => row.turn === turn && (step === undefined || row.step === step))
}

/** "The newest" and "of this turn" become the address of one request, so that a reload or a link shows the same. */
function useExactAddress(id: string, place: PromptPlace, row: RequestRow | undefined): void {
  const { turn, step, against } = place
  useEffect(() => {
    if (!row || (turn !== undefined && step !== undefined)) return
    const prompt = { turn: row.turn, step: row.step, ...(against && { against }) }
    navigate({ place: 'session', id, prompt }, 'replace')
  }, [id, turn, step, against, row])
}

interface RequestProps {
  id: string
  view: OpenSession
  rows: readonly RequestRow[]
  row: RequestRow
  against: RequestPlace | undefined
}

const keyOf = ({ session, turn, step }: RequestPlace & { session: string }): string => `${session}/${turn}/${step}`

function Request({ id, view, rows, row, against }: RequestProps) {
  const t = useT()
  const { turn, step } = row
  // What was sent does not change; only the origins of the running request may come a moment after its header.
  const running = row === rows.at(-1) && view.state.openTurn !== null
  const version = running ? String(view.to) : 'sent'
  const own = useLoad(keyOf({ session: id, turn, step }), version, () => requestView(id, turn, step))
  const other = against && { ...against, session: against.session ?? id }
  const beside = useLoad(other && keyOf(other), 'sent', () =>
    requestView(other?.session ?? id, other?.turn ?? 0, other?.step ?? 0),
  )
  const comparison = useMemo(
    () => (own.value && beside.value ? compare(beside.value, own.value) : undefined),
    [own.value, beside.value],
  )
  return (
    <>
      <Bar
        id={id}
        rows={rows}
        row={row}
        against={against}
        {...(own.value && { request: own.value })}
        {...(comparison && { comparison })}
      />
      {against && beside.error && (
        <p className="note fail pv-note" role="alert">
          <CircleX size={14} />
          <span className="grow">
            {t('pv.otherFailed')} {beside.error.message} <span className="mono-s">{beside.error.code}</span>
          </span>
          <Button look="sm" onClick={beside.again}>
            {t('problem.retry')}
          </Button>
        </p>
      )}
      <Split load={own}>
        {(request) => (
          <>
            <Facts request={request} rows={rows} {...(comparison && { comparison })} />
            <PromptText request={request} {...(comparison && { comparison })} />
          </>
        )}
      </Split>
    </>
  )
}

function Split({ load, children }: { load: Loaded<RequestView>; children(request: RequestView): ReactNode }) {
  if (load.error) return <Failed load={load} />
  if (!load.value) return <Skeleton />
  return (
    <div className="pv-split" aria-busy={load.busy} data-testid="prompt-view">
      {children(load.value)}
    </div>
  )
}

function Failed({ load }: { load: Loaded<unknown> }) {
  const t = useT()
  return (
    <div className="empty" role="alert">
      <h2>{t('pv.failed')}</h2>
      <p>
        {load.error?.message} <span className="mono-s">{load.error?.code}</span>
      </p>
      <div className="flex">
        <Button look="pri" onClick={load.again}>
          {t('problem.retry')}
        </Button>
      </div>
    </div>
  )
}

function Missing({ id }: { id: string }) {
  const t = useT()
  return (
    <div className="empty">
      <h2>{t('pv.missing')}</h2>
      <p>{t('pv.missingWhy')}</p>
      <div className="flex">
        <Button look="pri" onClick={() => navigate({ place: 'session', id, prompt: {} }, 'replace')}>
          {t('pv.newest')}
        </Button>
      </div>
    </div>
  )
}

function Waiting() {
  return (
    <>
      <div className="pv-bar">
        <div className="skel" style={{ width: 180, height: 28 }} />
        <div className="skel" style={{ width: 160, height: 28 }} />
      </div>
      <Skeleton />
    </>
  )
}

const WIDTHS = ['92%', '64%', '81%', '47%', '88%', '72%', '55%', '90%']

function Skeleton() {
  return (
    <div className="pv-split" aria-busy="true" data-testid="prompt-skeleton">
      <aside className="pv-facts">
        <div className="stack" style={{ padding: 16 }}>
          {WIDTHS.slice(0, 5).map((width) => (
            <div key={width} className="skel" style={{ width }} />
          ))}
        </div>
      </aside>
      <div className="pv-text">
        <div className="stack" style={{ padding: '16px 24px 16px 228px' }}>
          {WIDTHS.map((width) => (
            <div key={width} className="skel" style={{ width }} />
          ))}
        </div>
      </div>
    </div>
  )
}
