import { ChartColumn, Table2 } from 'lucide-react'
import { useState } from 'react'
import type { UsageCounts, UsageReport } from '../../../server/wire/models.ts'
import { money } from '../i18n/format.ts'
import { USAGE_UNITS } from '../router.ts'
import type { UsageUnit } from '../router.ts'
import { IconButton, Segment } from '../ui/button.tsx'
import { longDay, range } from './dates.ts'
import { DayChart } from './day-chart.tsx'
import { DayTable } from './day-table.tsx'
import { partsOf, valueOf } from './figures.ts'
import { useLanguage, useText } from './text.ts'
import { inUnit, LEGEND, TONES } from './units.ts'

interface Props {
  report: UsageReport
  unit: UsageUnit
  /** Only where nothing is filtered: the limit is one for all sessions. */
  limit: number | undefined
  today: string
  active: number | undefined
  onActive(index: number | undefined): void
  onUnit(unit: UsageUnit): void
}

/** The period day by day. The legend is the readout: of the day in hand, otherwise of all days. */
export function DayCard({ report, unit, limit, today, active, onActive, onUnit }: Props) {
  const t = useText()
  const [asTable, setAsTable] = useState(false)
  return (
    <section className="card daycard" aria-label={t(`usage.chart.${unit}`)} data-testid="usage-days">
      <div className="uhd">
        <h2>{t(`usage.chart.${unit}`)}</h2>
        <Readout report={report} unit={unit} limit={limit} active={active} />
        <span className="right flex">
          <IconButton
            label={t(asTable ? 'usage.asChart' : 'usage.asTable')}
            aria-pressed={asTable}
            look={asTable ? 'on' : ''}
            data-testid="usage-as-table"
            onClick={() => setAsTable(!asTable)}
          >
            {asTable ? <ChartColumn size={16} /> : <Table2 size={16} />}
          </IconButton>
          <Segment
            label={t('usage.unit')}
            value={unit}
            options={USAGE_UNITS.map((value) => ({ value, label: t(`usage.unit.${value}`) }))}
            onPick={onUnit}
          />
        </span>
      </div>
      {asTable ? (
        <DayTable report={report} unit={unit} />
      ) : (
        <DayChart report={report} unit={unit} limit={limit} today={today} active={active} onActive={onActive} />
      )}
    </section>
  )
}

type ReadoutProps = Pick<Props, 'report' | 'unit' | 'limit' | 'active'>

function Readout({ report, unit, limit, active }: ReadoutProps) {
  const t = useText()
  const language = useLanguage()
  const day = active === undefined ? undefined : report.days[active]
  const counts: UsageCounts = day ?? report.total
  const parts = partsOf(counts, unit)
  const ends = range(report.from, report.to, language)
  return (
    <div className="ro" data-testid="usage-readout" data-day={day?.day}>
      <span className="m">{day ? longDay(day.day, language) : `${ends.from} – ${ends.to}`}</span>
      <span className="b num">{inUnit(valueOf(counts, unit), unit)}</span>
      {LEGEND[unit].map((name) => (
        <span key={name} className="lg">
          <i className={TONES[name]} />
          {t(`usage.part.${name}`)}
          <b className="num">{inUnit(parts.find((part) => part.name === name)?.value ?? 0, unit)}</b>
        </span>
      ))}
      {unit === 'requests' && counts.retried > 0 && (
        <span className="num">{t('usage.retried', { n: counts.retried })}</span>
      )}
      {unit === 'cost' && counts.unpriced > 0 && (
        <span className="num">{t('usage.unpriced', { n: counts.unpriced })}</span>
      )}
      {unit === 'cost' && limit !== undefined && (
        <span className="lg">
          <i className="dash" />
          {t('usage.limit', { sum: money(limit) })}
        </span>
      )}
    </div>
  )
}
