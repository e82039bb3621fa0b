import type { T } from './i18n.ts'

/** `1.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`; `ms` in milliseconds. */
export function duration(ms: number): string {
  if (ms < 9950) return `${(ms / 1000).toFixed(1).replace('.0', '')} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Whole seconds, for clocks that run. */
export const clockText = (ms: number): string => (ms < 60_000 ? `${Math.floor(ms / 1000)} s` : duration(ms))

/** `812`, `34.2k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1000) return String(count)
  if (count < 999_950) return `${trim(count / 1000)}k`
  return `${trim(count / 1_000_000)}M`
}

const trim = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, ''))

export const thousands = (count: number): string => count.toLocaleString('en-US')

/**
 * US dollars: `$14.62`, `$1,204.50`, `$0.00` for nothing, `< $0.01` for what is less. `exact` keeps four significant digits
 * below a dollar: `$0.003456`.
 */
export function money(dollars: number, exact = false): string {
  if (dollars <= 0) return '$0.00'
  if (exact && dollars < 1) return `$${belowOne(dollars)}`
  if (dollars < 0.01) return '< $0.01'
  return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

/** Cents at least; small sums without an exponent. */
function belowOne(dollars: number): string {
  const digits = Math.min(12, Math.max(2, 3 - Math.floor(Math.log10(dollars))))
  const [whole, part = ''] = dollars.toFixed(digits).split('.')
  return `${whole}.${part.replace(/0+$/, '').padEnd(2, '0')}`
}

/** An estimate of a small sum: `≈ $0.012`, `≈ $1.24`; `< $0.01` is one already. */
export function about(dollars: number): string {
  if (dollars < 0.01) return money(dollars)
  if (dollars < 0.1) return `≈ $${dollars.toFixed(3).replace(/0$/, '')}`
  return `≈ ${money(dollars)}`
}

/** A price per million tokens as the catalog has it: `$0.55`, `$2`, `$0.0375`. */
export const priceText = (value: number): string => `$${Number(value.toFixed(4))}`

/** Age in a list: now, 4m, 3h, 2d, 5w. */
export function age(t: T, then: number, now: number): string {
  const minutes = Math.floor((now - then) / 60_000)
  if (minutes < 1) return t('age.now')
  if (minutes < 60) return t('age.minutes', { n: minutes })
  if (minutes < 1440) return t('age.hours', { n: Math.floor(minutes / 60) })
  if (minutes < 1440 * 14) return t('age.days', { n: Math.floor(minutes / 1440) })
  return t('age.weeks', { n: Math.floor(minutes / 10_080) })
}

export const timeOfDay = (ms: number): string =>
  new Date(ms).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** Home shortened to `~`; `home` is the host's, not the browser's. */
export function shortPath(path: string, home?: string): string {
  if (home && home !== '/' && (path === home || path.startsWith(`${home}/`))) return `~${path.slice(home.length)}`
  return path
}
