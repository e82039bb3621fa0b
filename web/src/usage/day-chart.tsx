import type { UsageDay, UsageReport } from '../../../server/wire/models.ts'
import type { UsageUnit } from '../router.ts'
import type { Language } from '../store/prefs.ts'
import { usePhone } from '../ui/hooks.ts'
import { longDay, range, shortDay } from './dates.ts'
import { DayScrubber } from './day-scrubber.tsx'
import { highest, partsOf, valueOf } from './figures.ts'
import { axisTo, barsOver, labelled } from './scale.ts'
import type { Bar } from './scale.ts'
import { useLanguage, useText } from './text.ts'
import type { Text } from './text.ts'
import { inUnit, LEGEND, tickText, TONES } from './units.ts'
import { useWidth } from './use-width.ts'

interface Props {
  report: UsageReport
  unit: UsageUnit
  limit: number | undefined
  /** The present day of the host. */
  today: string
  active: number | undefined
  onActive(index: number | undefined): void
}

/** Room above the highest bar and for the days below, and the width of a character of the axis; pixels. */
const ABOVE = 12
const BELOW = 24
const CHARACTER = 6.7
const DAY_ROOM = 88
const DAY_ROOM_PHONE = 64

/** A limit beyond this many times the highest day would press the bars flat: it is told in words then. */
const LIMIT_IN_VIEW = 1.6

export function DayChart({ report, unit, limit, today, active, onActive }: Props) {
  const t = useText()
  const language = useLanguage()
  const phone = usePhone()
  const [box, width] = useWidth<HTMLDivElement>()
  const { days } = report
  const height = phone ? 200 : 240
  const most = Math.max(0, ...days.map((day) => valueOf(day, unit)))
  const line = unit === 'cost' && limit !== undefined && limit <= most * LIMIT_IN_VIEW ? limit : undefined
  const axis = axisTo(Math.max(most, line ?? 0), 4, unit !== 'cost')
  const left = Math.ceil(Math.max(...axis.ticks.map((tick) => tickText(tick, axis, unit).length)) * CHARACTER) + 12
  const room = Math.max(0, width - left)
  const ground = height - BELOW
  const bars = barsOver(days.length, room)
  const y = (value: number) => Math.round(ground - (value / axis.top) * (ground - ABOVE))
  const band = active === undefined ? undefined : bars[active]
  return (
    <div ref={box} className="plot" style={{ height }}>
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label={summaryOf({ report, unit, t, language })}>
          {band && (
            <rect className="band" x={left + band.from} y={0} width={band.to - band.from} height={ground} rx={4} />
          )}
          {axis.ticks.map((tick) => (
            <g key={tick}>
              <line x1={left} x2={width} y1={y(tick) + 0.5} y2={y(tick) + 0.5} />
              <text x={left - 12} y={y(tick) + 4} textAnchor="end">
                {tickText(tick, axis, unit)}
              </text>
            </g>
          ))}
          <g transform={`translate(${left} 0)`}>
            {days.map((day, index) => (
              <Stack key={day.day} day={day} bar={bars[index]} unit={unit} y={y} />
            ))}
            <Labels days={days} today={today} width={room} at={height - 6} bars={bars} />
          </g>
          {line !== undefined && <line className="limit" x1={left} x2={width} y1={y(line) + 0.5} y2={y(line) + 0.5} />}
        </svg>
      )}
      <DayScrubber
        days={days}
        left={left}
        active={active}
        onActive={onActive}
        label={t(`usage.chart.${unit}`)}
        textOf={(day) => readOf({ day, unit, t, language })}
      />
    </div>
  )
}

interface StackProps {
  day: UsageDay
  bar: Bar | undefined
  unit: UsageUnit
  y(value: number): number
}

/** A pixel of ground between the parts tells them apart where tones are close; what is there is seen, however small. */
function Stack({ day, bar, unit, y }: StackProps) {
  if (!bar || valueOf(day, unit) <= 0) return null
  let sum = 0
  let foot = y(0)
  const pieces = partsOf(day, unit).map(({ name, value }) => {
    sum += value
    const head = value > 0 ? Math.min(y(sum), foot - 1) : foot
    const gap = foot === y(0) || foot - head <= 1 ? 0 : 1
    const piece = { name, top: head, height: foot - head - gap }
    foot = head
    return piece
  })
  return pieces
    .filter(({ height }) => height > 0)
    .map(({ name, top, height }) => (
      <rect key={name} className={TONES[name]} x={bar.x} y={top} width={bar.width} height={height} rx={1} />
    ))
}

interface LabelsProps {
  days: readonly UsageDay[]
  today: string
  width: number
  at: number
  bars: readonly Bar[]
}

function Labels({ days, today, width, at, bars }: LabelsProps) {
  const t = useText()
  const language = useLanguage()
  const room = usePhone() ? DAY_ROOM_PHONE : DAY_ROOM
  return labelled(days.length, width, room).map((index) => {
    const bar = bars[index]
    const day = days[index]
    if (!bar || !day) return null
    const middle = bar.x + bar.width / 2
    const [x, anchor] =
      middle < 20
        ? ([0, 'start'] as const)
        : middle > width - 20
          ? ([width, 'end'] as const)
          : ([middle, 'middle'] as const)
    return (
      <text key={day.day} x={x} y={at} textAnchor={anchor} className={day.day === today ? 'today' : undefined}>
        {day.day === today ? t('usage.today') : shortDay(day.day, language)}
      </text>
    )
  })
}

interface Said {
  unit: UsageUnit
  t: Text
  language: Language
}

function summaryOf({ report, unit, t, language }: Said & { report: UsageReport }): string {
  const title = t(`usage.chart.${unit}`)
  const ends = range(report.from, report.to, language)
  const top = highest(report.days, unit)
  const total = valueOf(report.total, unit)
  if (!top || total <= 0) return t('usage.summaryNone', { title, ...ends })
  const best = { top: inUnit(valueOf(top, unit), unit), day: longDay(top.day, language) }
  return t('usage.summary', { title, ...ends, total: inUnit(total, unit), ...best })
}

/** One day in words, for a reader who hears the page. */
function readOf({ day, unit, t, language }: Said & { day: UsageDay }): string {
  const values = partsOf(day, unit)
  const parts = LEGEND[unit].map((name) => {
    const value = values.find((part) => part.name === name)?.value ?? 0
    return `${t(`usage.part.${name}`)} ${inUnit(value, unit)}`
  })
  return [`${longDay(day.day, language)} ${inUnit(valueOf(day, unit), unit)}`, ...parts].join(', ')
}
