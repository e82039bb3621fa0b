import { create } from 'zustand'

export type Theme = 'system' | 'light' | 'dark'
export type Language = 'en' | 'zh'

export interface Prefs {
  theme: Theme
  language: Language
  railCollapsed: boolean
  /** What plain Enter does while a turn runs; the modifier does the other. */
  enterWhileRunning: 'queue' | 'steer'
  /** A notification of the browser when a session needs an answer and the page is hidden. */
  notifyAsks: boolean
}

const KEY = 'core-web.prefs'

const fallback = (): Prefs => ({
  theme: 'system',
  language: navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en',
  railCollapsed: false,
  enterWhileRunning: 'queue',
  notifyAsks: false,
})

function load(): Prefs {
  try {
    return { ...fallback(), ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Prefs>) }
  } catch {
    // No storage or not ours: start from the defaults.
    return fallback()
  }
}

export const usePrefs = create<Prefs>()(load)

export function setPrefs(changes: Partial<Prefs>): void {
  usePrefs.setState(changes)
  try {
    localStorage.setItem(KEY, JSON.stringify(usePrefs.getState()))
  } catch {
    // The choice holds for this page only.
  }
}

/** Writes theme and language onto the document, now and on every change. */
export function applyPrefs(): void {
  const apply = ({ theme, language }: Prefs) => {
    const root = document.documentElement
    if (theme === 'system') delete root.dataset['theme']
    else root.dataset['theme'] = theme
    root.lang = language === 'zh' ? 'zh-CN' : 'en'
  }
  apply(usePrefs.getState())
  usePrefs.subscribe(apply)
}
