import type { UsageReport } from '../../../server/wire/models.ts'
import type { UsageUnit } from '../router.ts'
import { longDay } from './dates.ts'
import { partsOf, valueOf } from './figures.ts'
import { useLanguage, useText } from './text.ts'
import { inUnit, LEGEND } from './units.ts'

/** The same as the chart in figures, the newest day first, in the room of the chart. */
export function DayTable({ report, unit }: { report: UsageReport; unit: UsageUnit }) {
  const t = useText()
  const language = useLanguage()
  const names = LEGEND[unit]
  return (
    <div className="daytable" tabIndex={0} role="region" aria-label={t(`usage.chart.${unit}`)}>
      <table className="utbl" data-testid="usage-day-table">
        <thead>
          <tr>
            <th scope="col">{t('usage.day')}</th>
            {names.map((name) => (
              <th key={name} scope="col" className="n">
                {t(`usage.part.${name}`)}
              </th>
            ))}
            <th scope="col" className="n">
              {t('usage.total')}
            </th>
          </tr>
        </thead>
        <tbody>
          {report.days.toReversed().map((day) => {
            const parts = partsOf(day, unit)
            return (
              <tr key={day.day}>
                <td>{longDay(day.day, language)}</td>
                {names.map((name) => (
                  <td key={name} className="n">
                    {inUnit(parts.find((part) => part.name === name)?.value ?? 0, unit)}
                  </td>
                ))}
                <td className="n m">{inUnit(valueOf(day, unit), unit)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
