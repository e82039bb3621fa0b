import '../styles/usage.css'
import { CloudOff } from 'lucide-react'
import { useState } from 'react'
import type { UsageReport } from '../../../server/wire/models.ts'
import { timeOfDay } from '../i18n/format.ts'
import { navigate } from '../router.ts'
import type { UsagePlace } from '../router.ts'
import { useApp } from '../store/store.ts'
import { Failed } from '../ui/failed.tsx'
import { useNow, useTitle } from '../ui/hooks.ts'
import { BudgetCard } from './budget-card.tsx'
import { dateAt } from './dates.ts'
import { DayCard } from './day-card.tsx'
import { Bones, NoUsage } from './empty.tsx'
import { FigureRow } from './figure-row.tsx'
import { UsageHead, withChange } from './head.tsx'
import { Lines } from './lines.tsx'
import { FolderTable, ModelTable, SessionTable } from './tables.tsx'
import { useText } from './text.ts'
import { useReport } from './use-report.ts'
import type { Asked } from './use-report.ts'

export function UsageScreen({ shown }: { shown: UsagePlace }) {
  const t = useText()
  useTitle(t('usage'))
  const asked = useReport({ days: shown.days ?? 30, cwd: shown.cwd, preset: shown.preset })
  const { report, current } = asked
  return (
    <div className="main">
      <UsageHead shown={shown} report={report} />
      <main className="usage" tabIndex={-1}>
        <Trouble asked={asked} />
        {!report && !asked.error && <Bones />}
        {report && (
          <div className={`ubody ${current ? '' : 'older'}`} aria-busy={!current} data-testid="usage">
            <Report report={report} shown={shown} />
          </div>
        )}
      </main>
    </div>
  )
}

/** What failed, with the way to try again; a lost line is no failure of the figures in hand. */
function Trouble({ asked: { report, at, error, again } }: { asked: Asked }) {
  const t = useText()
  const lost = useApp((app) => app.status.kind === 'lost')
  if (!error) return null
  if (!lost) return <Failed error={error} again={again} />
  return (
    <div className="note warn" role="status">
      <CloudOff size={14} />
      <span className="grow">{report ? t('usage.old', { time: timeOfDay(at) }) : t('usage.offline')}</span>
    </div>
  )
}

function Report({ report, shown }: { report: UsageReport; shown: UsagePlace }) {
  const [active, setActive] = useState<number>()
  const today = dateAt(useNow(60_000), report.offset)
  const filtered = shown.cwd !== undefined || shown.preset !== undefined
  if (report.total.requests === 0) return <NoUsage report={report} shown={shown} />
  const shared = { report, active, onActive: setActive }
  return (
    <>
      <FigureRow report={report} />
      <DayCard
        {...shared}
        unit={shown.unit ?? 'cost'}
        limit={filtered ? undefined : report.budget.day}
        today={today}
        onUnit={(unit) => navigate(withChange(shown, { unit }), 'replace')}
      />
      <div className="urow">
        <div className="stack">
          <ModelTable report={report} />
          {report.folders.length > 0 && <FolderTable folders={report.folders} shown={shown} />}
        </div>
        <div className="uside">
          <BudgetCard report={report} />
          <Lines {...shared} />
        </div>
      </div>
      {report.sessions.length > 0 && <SessionTable sessions={report.sessions} />}
    </>
  )
}
