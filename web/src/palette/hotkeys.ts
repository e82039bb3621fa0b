import { useEffect } from 'react'
import { navigate } from '../router.ts'
import { get, openOverlay } from '../store/store.ts'
import { nextThatNeedsYou, toggleRail } from './commands.ts'

const CHORD_MS = 1200

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Single keys work where nobody types; the palette opens from anywhere. */
export function useHotkeys(): void {
  useEffect(() => {
    let chordUntil = 0
    const onKey = (event: KeyboardEvent) => {
      if (event.isComposing || event.keyCode === 229 || get().auth !== 'in') return
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        openOverlay(get().overlay?.kind === 'palette' ? undefined : { kind: 'palette' })
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || get().overlay) return
      const chord = Date.now() < chordUntil
      chordUntil = 0
      if (event.key === 'g') chordUntil = Date.now() + CHORD_MS
      else if (event.key === 'n') act(event, chord ? nextThatNeedsYou : () => navigate({ place: 'new' }))
      else if (event.key === '[') act(event, toggleRail)
      else if (event.key === '?') act(event, () => openOverlay({ kind: 'shortcuts' }))
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

function act(event: KeyboardEvent, run: () => void): void {
  event.preventDefault()
  run()
}
