import { usePrefs } from '../store/prefs.ts'
import type { Language } from '../store/prefs.ts'
import { en } from './en.ts'
import { zh } from './zh.ts'

export type Key = keyof typeof en
export type Vars = Record<string, string | number>
export type T = (key: Key, vars?: Vars) => string

export const translate = (language: Language, key: Key, vars?: Vars): string =>
  fill((language === 'zh' ? zh : en)[key], vars)

/** `one|many` picks by `n`; `{name}` stands for a value. */
export function fill(text: string, vars: Vars = {}): string {
  const [one = text, many = one] = text.split('|')
  const form = vars['n'] === undefined || Number(vars['n']) === 1 ? one : many
  return form.replace(/\{(\w+)\}/g, (_, name: string) => String(vars[name] ?? `{${name}}`))
}

const tables: Record<Language, T> = {
  en: (key, vars) => translate('en', key, vars),
  zh: (key, vars) => translate('zh', key, vars),
}

export const useT = (): T => tables[usePrefs((prefs) => prefs.language)]

/** Outside components: the language of this moment. */
export const t: T = (key, vars) => tables[usePrefs.getState().language](key, vars)
