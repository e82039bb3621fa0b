import { judgedValue, verdict, type Figure } from './figure.ts'

const HEAD = ['figure', 'measured', 'floor', 'ratio', 'judged', 'target', 'gate', ''] as const

const SIGNS: Record<Figure['judged'], string> = { value: '', over: '+', ratio: 'x' }

function number(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(digits)
}

const bounded = (one: Figure, value: number): string =>
  one.judged === 'ratio' ? `${number(value)}x` : `${SIGNS[one.judged]}${number(value)}`

function cells(one: Figure): string[] {
  return [
    one.name,
    `${number(one.value)} ${one.unit}`,
    number(one.floor),
    `${number(one.value / one.floor)}x`,
    bounded(one, judgedValue(one)),
    bounded(one, one.target),
    bounded(one, one.gate),
    verdict(one),
  ]
}

/** One group's figures in columns, with what each floor is below them. */
export function table(figures: readonly Figure[]): string {
  const rows = [HEAD as readonly string[], ...figures.map(cells)]
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column === 7 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  )
  const notes = figures.map((one) => `    ${one.name}: floor = ${one.floorIs}${one.note ? `; ${one.note}` : ''}`)
  return [...lines, ...notes].join('\n')
}

/** The same figures as rows of the table in README.md. */
export function markdown(figures: readonly Figure[]): string {
  const rows = figures.map((one) => {
    const measured = `${number(one.value)} ${one.unit}`
    return `| ${one.name} | ${measured} | ${number(one.floor)} (${one.floorIs}) | ${bounded(one, one.target)} |`
  })
  return ['| figure | measured | floor | target |', '|---|---|---|---|', ...rows].join('\n')
}
