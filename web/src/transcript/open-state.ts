import { useCallback, useSyncExternalStore } from 'react'

/** Which rows a reader opened or closed by hand; kept while the page lives, so that scrolling away forgets nothing. */
const choices = new Map<string, boolean>()
const listeners = new Set<() => void>()

export function useOpen(key: string, byItself: boolean): [boolean, () => void] {
  const open = useSyncExternalStore(subscribe, () => choices.get(key) ?? byItself)
  const toggle = useCallback(() => {
    choices.set(key, !open)
    for (const listener of listeners) listener()
  }, [key, open])
  return [open, toggle]
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
