import type { UsageReport } from '../../../server/wire/models.ts'
import { shortDay } from './dates.ts'
import { runsOf } from './figures.ts'
import { useLanguage, useText } from './text.ts'
import { useWidth } from './use-width.ts'

interface Props {
  report: UsageReport
  title: string
  /** One value a day; undefined where nothing was reported. */
  values: readonly (number | undefined)[]
  /** Of the whole period. */
  total: number | undefined
  /** The value of the upper line, and of the line that is labelled. */
  top: number
  mark: number
  textOf(value: number): string
  /** A day that stands out. */
  note?: { index: number; text: string } | undefined
  active: number | undefined
  onActive(index: number | undefined): void
  testid: string
}

const HEIGHT = 64
const ABOVE = 8
const GROUND = HEIGHT - 6
/** For the label of the line in the middle. */
const GUTTER = 44

/** A small line, one point a day; its figure is that of the day in hand, otherwise of the period. */
export function LineCard({ title, values, total, textOf, active, testid, ...rest }: Props) {
  const t = useText()
  const shown = active === undefined ? total : values[active]
  const said = values.some((value) => value !== undefined)
  return (
    <section className="card linecard" aria-label={title} data-testid={testid}>
      <div className="uhd">
        <h2>{title}</h2>
        <span className="right num m">{shown === undefined ? '–' : textOf(shown)}</span>
      </div>
      {said ? (
        <Line title={title} values={values} textOf={textOf} active={active} {...rest} />
      ) : (
        <p className="t3 t12" style={{ minHeight: HEIGHT }}>
          {t('usage.lineNone')}
        </p>
      )}
    </section>
  )
}

type LineProps = Omit<Props, 'total' | 'testid'>

function Line({ report, title, values, top, mark, textOf, note, active, onActive }: LineProps) {
  const t = useText()
  const language = useLanguage()
  const [box, width] = useWidth<HTMLDivElement>()
  const step = values.length > 1 ? (width - GUTTER - 4) / (values.length - 1) : 0
  const x = (index: number) => GUTTER + index * step
  const y = (value: number) => GROUND - (Math.min(value, top) / top) * (GROUND - ABOVE)
  const known = values.flatMap((value, index) => (value === undefined ? [] : [{ index, value }]))
  const [first, last] = [known[0], known.at(-1)]
  if (!first || !last) return null
  const dot = active === undefined ? last : known.find((point) => point.index === active)
  const day = (index: number) => shortDay(report.days[index]?.day ?? report.to, language)
  const all = known.map((point) => point.value)
  const summary = t('usage.lineSummary', {
    title,
    first: textOf(first.value),
    from: day(first.index),
    last: textOf(last.value),
    to: day(last.index),
    low: textOf(Math.min(...all)),
    high: textOf(Math.max(...all)),
  })
  const noted = note && active === undefined ? known.find((point) => point.index === note.index) : undefined
  return (
    <div
      ref={box}
      className="plot"
      style={{ height: HEIGHT }}
      onPointerMove={(event) => {
        const across = event.clientX - event.currentTarget.getBoundingClientRect().left - GUTTER
        onActive(Math.max(0, Math.min(values.length - 1, Math.round(across / Math.max(1, step)))))
      }}
      onPointerLeave={() => onActive(undefined)}
    >
      {width > 0 && (
        <svg width={width} height={HEIGHT} role="img" aria-label={summary}>
          {[0, mark].map((value) => (
            <line key={value} x1={GUTTER} x2={width} y1={Math.round(y(value)) + 0.5} y2={Math.round(y(value)) + 0.5} />
          ))}
          <text x={GUTTER - 12} y={Math.round(y(mark)) + 4} textAnchor="end">
            {textOf(mark).replace('.0 ', ' ')}
          </text>
          {runsOf(values).map((run) => (
            <polyline
              key={run[0]?.index}
              points={run.map((point) => `${x(point.index)},${y(point.value)}`).join(' ')}
            />
          ))}
          {runsOf(values)
            .filter((run) => run.length === 1)
            .map(([point]) => point && <circle key={point.index} cx={x(point.index)} cy={y(point.value)} r={2} />)}
          {dot && <circle cx={x(dot.index)} cy={y(dot.value)} r={3} />}
          {noted && <Note x={x(noted.index)} y={y(noted.value)} text={note?.text ?? ''} width={width} />}
        </svg>
      )}
    </div>
  )
}

function Note({ x, y, text, width }: { x: number; y: number; text: string; width: number }) {
  const before = x > width / 2
  return (
    <>
      <circle className="worry" cx={x} cy={y} r={3.5} />
      <text className="halo" x={before ? x - 9 : x + 9} y={y + 4} textAnchor={before ? 'end' : 'start'}>
        {text}
      </text>
    </>
  )
}
