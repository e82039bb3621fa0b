import { enUsage } from '../i18n/en-usage.ts'
import { fill, useT } from '../i18n/i18n.ts'
import type { Key, Vars } from '../i18n/i18n.ts'
import { zhUsage } from '../i18n/zh-usage.ts'
import { usePrefs } from '../store/prefs.ts'
import type { Language } from '../store/prefs.ts'

type UsageKey = keyof typeof enUsage
export type Text = (key: UsageKey | Key, vars?: Vars) => string

const isOurs = (key: string): key is UsageKey => Object.hasOwn(enUsage, key)

/** The texts of this screen beside all others: they come with its chunk, the first load does without them. */
export function useText(): Text {
  const t = useT()
  const language = usePrefs((prefs) => prefs.language)
  const table = language === 'zh' ? zhUsage : enUsage
  return (key, vars) => (isOurs(key) ? fill(table[key], vars) : t(key, vars))
}

export const useLanguage = (): Language => usePrefs((prefs) => prefs.language)
