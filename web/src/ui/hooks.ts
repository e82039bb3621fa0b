import { useCallback, useEffect, useSyncExternalStore } from 'react'

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

/** The time in steps of `ms`, running while `active`. */
export const useNow = (ms: number, active = true): number =>
  useSyncExternalStore(
    useCallback(
      (listener) => {
        if (!active) return () => {}
        const timer = setInterval(listener, ms)
        return () => clearInterval(timer)
      },
      [ms, active],
    ),
    () => (active ? Math.floor(Date.now() / ms) * ms : 0),
  )

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'core-web' : `${title} · core-web`
  }, [title])
}

/** `mod` is Ctrl, or Cmd where that is the custom. */
export const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
export const MOD = isMac ? '⌘' : 'Ctrl'
