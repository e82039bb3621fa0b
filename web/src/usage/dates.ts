import type { Language } from '../store/prefs.ts'

const LOCALES: Record<Language, string> = { en: 'en-GB', zh: 'zh-CN' }

/** Of a date `YYYY-MM-DD`: the day is the host's, so no zone of the browser may move it. */
const at = (day: string): Date => new Date(`${day}T00:00:00Z`)

/** `27 Nov` */
export const shortDay = (day: string, language: Language): string =>
  at(day).toLocaleDateString(LOCALES[language], { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** `Fri 27 Nov` */
export const longDay = (day: string, language: Language): string =>
  at(day)
    .toLocaleDateString(LOCALES[language], { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
    .replace(',', '')

/** First and last day as a person writes them: the month of the first only where it differs. */
export function range(from: string, to: string, language: Language): { from: string; to: string } {
  const sameMonth = from.slice(0, 7) === to.slice(0, 7)
  const first = sameMonth && language === 'en' ? String(at(from).getUTCDate()) : shortDay(from, language)
  return { from: first, to: shortDay(to, language) }
}

/** `UTC+5:30`, from minutes ahead of UTC. */
export function zoneOf(offset: number): string {
  if (offset === 0) return 'UTC'
  const minutes = Math.abs(offset)
  const rest = minutes % 60
  return `UTC${offset < 0 ? '-' : '+'}${Math.floor(minutes / 60)}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}

/** The present date of a clock `offset` minutes ahead of UTC. */
export const dateAt = (now: number, offset: number): string =>
  new Date(now + offset * 60_000).toISOString().slice(0, 10)
