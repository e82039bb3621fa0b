import { useCallback, useEffect, useRef, useState } from 'react'
import type { WireError } from '../../../../server/wire/errors.ts'
import type { PresetCheck } from '../../../../server/wire/presets.ts'
import { run } from '../../store/actions.ts'
import { useApp } from '../../store/store.ts'

/** Typing rests this long before the text is tried. */
const REST_MS = 350

export interface Checked {
  /** The newest answer there is, for `of`; it may be of a text some keys older. */
  check?: PresetCheck
  of?: string
  error?: WireError
  /** The answer is about the text asked for. */
  fresh: boolean
}

/**
 * What the server says about `text`, latest first: one question at a time, and after an answer only the newest text is asked,
 * so that fast typing never queues trials. Asked again when `version` moves: the generation to compare with has changed.
 */
export function useCheck(text: string | undefined, preset: string | undefined, version: string, trial = true): Checked {
  const open = useApp((app) => app.status.kind === 'open')
  const [answer, setAnswer] = useState<Omit<Checked, 'fresh'>>({})
  const wanted = useRef<{ key: string; text: string }>(undefined)
  const busy = useRef(false)
  const ask = useCallback(async () => {
    if (busy.current) return
    busy.current = true
    for (let now = wanted.current; now; now = wanted.current === now ? undefined : wanted.current) {
      const args = { text: now.text, trial, ...(preset !== undefined && { preset }) }
      const outcome = await run('preset.check', args, { place: 'none' })
      if (wanted.current === undefined) break
      const of = now.text
      setAnswer((before) => (outcome.ok ? { check: outcome.result, of } : { ...before, of, error: outcome.error }))
    }
    busy.current = false
  }, [preset, trial])
  useEffect(() => {
    if (text === undefined || !open) return
    const first = wanted.current === undefined
    const timer = setTimeout(
      () => {
        wanted.current = { key: version, text }
        void ask()
      },
      first ? 0 : REST_MS,
    )
    return () => clearTimeout(timer)
  }, [text, version, open, ask])
  useEffect(
    () => () => {
      wanted.current = undefined
    },
    [],
  )
  return { ...answer, fresh: answer.of === text && answer.error === undefined }
}
