import { useEffect, useState } from 'react'
import { usageReport } from '../api.ts'
import { useApp } from '../store/store.ts'

/** Requests of the last 30 days by provider; `undefined` until they are known. Read once, and again after each reconnect. */
export function useRequests(): ReadonlyMap<string, number> | undefined {
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>()
  const open = useApp((app) => app.status.kind === 'open')
  useEffect(() => {
    if (!open) return
    let current = true
    void load().then((loaded) => current && loaded && setCounts(loaded))
    return () => {
      current = false
    }
  }, [open])
  return counts
}

/** The number is an extra of the row: without it the row says the rest. */
async function load(): Promise<ReadonlyMap<string, number> | undefined> {
  const answer = await usageReport({ days: 30 })
  if (!answer.ok) return undefined
  const counts = new Map<string, number>()
  for (const { provider, requests } of answer.value.rows) counts.set(provider, (counts.get(provider) ?? 0) + requests)
  return counts
}
