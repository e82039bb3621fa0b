import type { UsageReport } from '../../../server/wire/models.ts'
import { seconds } from './cells.tsx'
import { shortDay } from './dates.ts'
import { cachedShare, percentOf, standsOut } from './figures.ts'
import { LineCard } from './line-card.tsx'
import { axisTo } from './scale.ts'
import { useLanguage, useText } from './text.ts'
import type { Text } from './text.ts'
import type { Language } from '../store/prefs.ts'

interface Props {
  report: UsageReport
  active: number | undefined
  onActive(index: number | undefined): void
}

/** How well the cache works, and how long a reader waits: day by day. */
export function Lines(props: Props) {
  const t = useText()
  const language = useLanguage()
  const { report } = props
  const waits = report.days.map((day) => day.firstMs)
  const longest = Math.max(0, ...waits.map((wait) => wait ?? 0))
  const mark = axisTo(longest || 1000, 3).ticks[1] ?? 1000
  return (
    <>
      <LineCard
        {...props}
        title={t('usage.share')}
        values={report.days.map(cachedShare)}
        total={cachedShare(report.total)}
        top={1}
        mark={0.5}
        textOf={(share) => `${percentOf(share)}%`}
        testid="usage-share"
      />
      <LineCard
        {...props}
        title={t('usage.first')}
        values={waits}
        total={report.total.firstMs}
        top={Math.max(longest, mark)}
        mark={mark}
        textOf={seconds}
        note={noteOf(report, t, language)}
        testid="usage-first"
      />
    </>
  )
}

function noteOf({ days }: UsageReport, t: Text, language: Language): { index: number; text: string } | undefined {
  const index = standsOut(days.map((day) => day.firstMs))
  const day = index === undefined ? undefined : days[index]
  if (index === undefined || day?.firstMs === undefined) return undefined
  const retried = day.retried > 0 ? [t('usage.retried', { n: day.retried })] : []
  return { index, text: [shortDay(day.day, language), seconds(day.firstMs), ...retried].join(', ') }
}
