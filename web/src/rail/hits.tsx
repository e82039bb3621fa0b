import { useEffect, useMemo, useState } from 'react'
import type { WireError } from '../../../server/wire/errors.ts'
import type { SearchHit } from '../../../server/wire/protocol.ts'
import { search } from '../api.ts'
import { useT } from '../i18n/i18n.ts'
import { linkTo, useRoute } from '../router.ts'
import { openOverlay, useApp } from '../store/store.ts'
import { useNow } from '../ui/hooks.ts'
import { SessionLine } from './session-line.tsx'

const PAUSE_MS = 200

type State = { kind: 'waiting' } | { kind: 'found'; hits: SearchHit[] } | { kind: 'failed'; error: WireError }

/** Titles answer at once, from what the page holds; texts, tools and files are asked of the server after a pause. */
export function Hits({ query }: { query: string }) {
  const t = useT()
  const route = useRoute()
  const rows = useApp((app) => app.rows)
  const now = useNow(30_000)
  const state = useSearch(query)
  const titled = useMemo(() => {
    const wanted = query.toLowerCase()
    return Object.values(rows)
      .filter((row) => row.title.toLowerCase().includes(wanted))
      .sort((a, b) => b.updated - a.updated)
      .slice(0, 20)
  }, [rows, query])
  const hits = state.kind === 'found' ? state.hits : []
  const nothing = titled.length === 0 && state.kind === 'found' && hits.length === 0
  return (
    <div className="rail-list hits" role="region" aria-live="polite" aria-label={t('search.results')}>
      {titled.length > 0 && (
        <ul>
          {titled.map((row) => (
            <SessionLine key={row.id} row={row} on={route.place === 'session' && route.id === row.id} now={now} />
          ))}
        </ul>
      )}
      {hits.length > 0 && (
        <section>
          <p className="cap" style={{ padding: '4px 8px' }}>
            {t('search.inText')}
          </p>
          {hits.map((hit) => (
            <Hit key={`${hit.session}.${hit.seq}`} hit={hit} />
          ))}
        </section>
      )}
      {nothing && (
        <div className="empty">
          <span className="b">{t('search.none', { query })}</span>
          <p className="t12">{t('search.looked')}</p>
        </div>
      )}
      {state.kind === 'failed' && (
        <p className="note fail" role="alert">
          {state.error.message} <span className="mono-s">{state.error.code}</span>
        </p>
      )}
    </div>
  )
}

function Hit({ hit }: { hit: SearchHit }) {
  const t = useT()
  const link = linkTo({ place: 'session', id: hit.session })
  return (
    <a
      {...link}
      data-rail
      onClick={(event) => {
        link.onClick(event)
        openOverlay(undefined)
      }}
    >
      <span className="trunc" style={{ display: 'block' }}>
        {hit.title || t('untitled')}
      </span>
      <p>{hit.snippet}</p>
    </a>
  )
}

function useSearch(query: string): State {
  const [answered, setAnswered] = useState<{ query: string; state: State }>()
  useEffect(() => {
    const abort = new AbortController()
    const timer = setTimeout(async () => {
      const answer = await search(query, abort.signal)
      if (abort.signal.aborted) return
      const state: State = answer.ok
        ? { kind: 'found', hits: answer.value.hits }
        : { kind: 'failed', error: answer.error }
      setAnswered({ query, state })
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [query])
  return answered?.query === query ? answered.state : { kind: 'waiting' }
}
