import { useEffect, useRef, useState } from 'react'
import type { WireError } from '../../../server/wire/errors.ts'
import type { Answer } from '../api.ts'
import { useApp } from '../store/store.ts'

export interface Loaded<T> {
  /** The answer for the key asked for, or, while `busy`, the one before: stepping through requests does not flicker. */
  value?: T
  error?: WireError
  busy: boolean
  again(): void
}

interface Held<T> {
  key: string
  value?: T
  error?: WireError
}

/** Asks `load` for `key`, and again when `version` moves or the line is back. Without a key nothing is asked. */
export function useLoad<T>(key: string | undefined, version: string, load: () => Promise<Answer<T>>): Loaded<T> {
  const [held, setHeld] = useState<Held<T>>({ key: '' })
  const [attempt, setAttempt] = useState(0)
  const open = useApp((app) => app.status.kind === 'open')
  const latest = useRef(load)
  useEffect(() => {
    latest.current = load
  })
  // A question is asked once however often its component renders, and anew when any of these moves.
  const asked = key === undefined ? undefined : [key, version, open, attempt].join(' ')
  useEffect(() => {
    if (asked === undefined || key === undefined) return
    let current = true
    void latest.current().then((answer) => {
      if (!current) return
      if (answer.ok) return setHeld({ key, value: answer.value })
      setHeld((before) => (before.key === key && before.value !== undefined ? before : { key, error: answer.error }))
    })
    return () => {
      current = false
    }
  }, [asked, key])
  const again = () => {
    setHeld({ key: '' })
    setAttempt((count) => count + 1)
  }
  if (key === undefined) return { busy: false, again }
  const own = held.key === key
  return {
    busy: !own,
    again,
    ...(held.value !== undefined && { value: held.value }),
    ...(own && held.error && { error: held.error }),
  }
}
