import { useEffect, useState, useSyncExternalStore } from 'react'

const PHONE = '(max-width: 760px)'

export const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    (listener) => {
      const list = window.matchMedia(query)
      list.addEventListener('change', listener)
      return () => list.removeEventListener('change', listener)
    },
    () => window.matchMedia(query).matches,
  )

export const usePhone = (): boolean => useMedia(PHONE)

/** The time, again every `ms` while `active`. */
export function useNow(ms: number, active = true): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!active) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), ms)
    return () => clearInterval(timer)
  }, [ms, active])
  return now
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'core-web' : `${title} · core-web`
  }, [title])
}

/** `mod` is Ctrl, or Cmd where that is the custom. */
export const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
export const MOD = isMac ? '⌘' : 'Ctrl'
