import { useEffect, useRef, useState } from 'react'
import type { WireError } from '../../../server/wire/errors.ts'
import type { PresetRow } from '../../../server/wire/views.ts'
import type { Answer } from '../api.ts'
import { useApp } from '../store/store.ts'

export type Loaded<T> =
  { kind: 'loading' } | { kind: 'shown'; value: T } | { kind: 'failed'; error: WireError; again(): void }

/**
 * What `load` answers for `key`. It is asked again when `version` moves and after each reconnect; the value in hand stays on
 * screen meanwhile, so that nothing flickers. Without `load` nothing is asked.
 */
export function useAnswer<T>(key: string, version: string, load: (() => Promise<Answer<T>>) | undefined): Loaded<T> {
  const [held, setHeld] = useState<{ key: string; asked?: string; state: Loaded<T> }>({
    key,
    state: { kind: 'loading' },
  })
  const [attempt, setAttempt] = useState(0)
  const open = useApp((app) => app.status.kind === 'open')
  const latest = useRef(load)
  useEffect(() => {
    latest.current = load
  })
  const asked = JSON.stringify([key, version, open, attempt])
  useEffect(() => {
    let current = true
    void latest.current?.().then((answer) => {
      if (!current) return
      if (answer.ok) return setHeld({ key, asked, state: { kind: 'shown', value: answer.value } })
      const again = () => setAttempt((count) => count + 1)
      const failed: Loaded<T> = { kind: 'failed', error: answer.error, again }
      setHeld((before) =>
        before.key === key && before.state.kind === 'shown' ? before : { key, asked, state: failed },
      )
    })
    return () => {
      current = false
    }
  }, [key, asked])
  return held.key === key ? held.state : { kind: 'loading' }
}

/** Moves whenever the host says something new about the document. */
export const revisionOf = (preset: PresetRow): string =>
  JSON.stringify([
    preset.generation,
    preset.broken,
    preset.stale,
    preset.notices,
    preset.name,
    preset.description,
    preset.order,
  ])
