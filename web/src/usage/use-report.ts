import { useEffect, useState } from 'react'
import type { WireError } from '../../../server/wire/errors.ts'
import type { UsageReport } from '../../../server/wire/models.ts'
import { usageReport } from '../api.ts'
import type { UsageQuery } from '../api.ts'
import { useApp } from '../store/store.ts'

/** While the page is in view; fresh enough for figures that grow by a request at a time. */
const REFRESH_MS = 60_000

export interface Asked {
  /** The last report, perhaps of other filters: `current` says whether it answers what is asked now. */
  report?: UsageReport
  /** Ms since the epoch at which it came. */
  at: number
  current: boolean
  /** Why the newest attempt failed. */
  error?: WireError
  again(): void
}

interface Held {
  key: string
  at: number
  report?: UsageReport
  error?: WireError
}

/** The report for `query`; asked again on focus, after a reconnect and once a minute. What is in hand stays on screen meanwhile. */
export function useReport(query: UsageQuery): Asked {
  const key = JSON.stringify([query.days, query.cwd, query.preset])
  const [held, setHeld] = useState<Held>({ key: '', at: 0 })
  const [attempt, setAttempt] = useState(0)
  const open = useApp((app) => app.status.kind === 'open')
  useRefresh(() => setAttempt((count) => count + 1))
  // What is asked, and what makes it be asked again.
  const wish = JSON.stringify([key, open, attempt])
  useEffect(() => {
    let wanted = true
    const [key] = JSON.parse(wish) as [string]
    const [days, cwd, preset] = JSON.parse(key) as [number, string | null, string | null]
    void usageReport({ days, cwd: cwd ?? undefined, preset: preset ?? undefined }).then((answer) => {
      if (!wanted) return
      if (answer.ok) return setHeld({ key, at: Date.now(), report: answer.value })
      const { error } = answer
      setHeld((before) => (before.key === key && before.report ? { ...before, error } : { key, at: Date.now(), error }))
    })
    return () => {
      wanted = false
    }
  }, [wish])
  return {
    at: held.at,
    current: held.key === key,
    again: () => setAttempt((count) => count + 1),
    ...(held.report && { report: held.report }),
    ...(held.key === key && held.error && { error: held.error }),
  }
}

function useRefresh(refresh: () => void): void {
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') refresh()
    }
    const timer = setInterval(look, REFRESH_MS)
    window.addEventListener('focus', look)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      window.removeEventListener('focus', look)
      document.removeEventListener('visibilitychange', look)
    }
    // The state setter behind it never changes.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [])
}
