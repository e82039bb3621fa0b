import { enSettings } from '../i18n/en-settings.ts'
import { fill, useT } from '../i18n/i18n.ts'
import type { Key, Vars } from '../i18n/i18n.ts'
import { zhSettings } from '../i18n/zh-settings.ts'
import { usePrefs } from '../store/prefs.ts'

type SettingsKey = keyof typeof enSettings
export type Text = (key: SettingsKey | Key, vars?: Vars) => string

const isOurs = (key: string): key is SettingsKey => Object.hasOwn(enSettings, key)

/** The texts of the settings screen beside all others. They come with its chunk: the first load does without them. */
export function useText(): Text {
  const t = useT()
  const language = usePrefs((prefs) => prefs.language)
  const table = language === 'zh' ? zhSettings : enSettings
  return (key, vars) => (isOurs(key) ? fill(table[key], vars) : t(key, vars))
}
