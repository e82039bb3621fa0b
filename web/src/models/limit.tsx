import { useState } from 'react'
import type { SessionState } from '../../../server/projection/session-state.ts'
import { money } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { run } from '../store/actions.ts'
import { get, useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'

/** In US dollars; what `session.budget` takes. */
const HIGHEST = 1_000_000

export interface Limit {
  /** Absent: no limit. */
  value?: number
  own: boolean
}

export function limitOf(state: SessionState, host: number | undefined): Limit {
  const own = state.budget?.limit ?? null
  if (own !== null) return { value: own, own: true }
  return { own: false, ...(host !== undefined && { value: host }) }
}

const parsed = (text: string): number | undefined => {
  const value = Number(text.trim().replace(',', '.'))
  return value > 0 && value <= HIGHEST ? value : undefined
}

/** Twice the limit, or twice what was spent where that is more: enough to go on for as long again. */
export const proposal = (limit: number | undefined, spent: number): string =>
  String(Number((Math.max(limit ?? 0, spent) * 2).toPrecision(2)))

interface FieldProps {
  state: SessionState
  label: string
  initial: string
  look?: string
  onSaved?(): void
}

/** Sets the limit of this session. */
export function LimitField({ state, label, initial, look = '', onSaved }: FieldProps) {
  const t = useT()
  const [text, setText] = useState(initial)
  const value = parsed(text)
  const save = async () => {
    if (value === undefined) return
    const args = { session: state.id, limit: value }
    const outcome = await run('session.budget', args, { place: `session:${state.id}` })
    if (outcome.ok) onSaved?.()
  }
  return (
    <form
      className="flex limit"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <label className={`field money ${text.trim() !== '' && value === undefined ? 'bad' : ''}`}>
        <span className="t3">$</span>
        <input
          value={text}
          inputMode="decimal"
          aria-label={t('limit.field')}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <Button type="submit" look={look} off={value === undefined ? t('limit.bad') : undefined}>
        {label}
      </Button>
    </form>
  )
}

/** The budget in words, and a way to change it. */
export function LimitPart({ state }: { state: SessionState }) {
  const t = useT()
  const host = useApp((app) => app.global?.sessionSettings?.budget)
  const limit = limitOf(state, host?.session)
  const words =
    limit.value === undefined
      ? t('limit.none')
      : t(limit.own ? 'limit.own' : 'limit.host', { limit: money(limit.value, true) })
  const clear = () => void run('session.budget', { session: state.id, limit: null }, { place: `session:${state.id}` })
  return (
    <div className="pop-part" data-testid="limit">
      <span className="grow">
        <span className="m">{t('limit.session')}</span>
        <span className="t12 t3" style={{ display: 'block' }}>
          {words}
        </span>
        {host?.day !== undefined && (
          <span className="t12 t3" style={{ display: 'block' }}>
            {t('limit.day', { limit: money(host.day, true) })}
          </span>
        )}
      </span>
      <LimitField
        key={limit.value ?? 'none'}
        state={state}
        label={t('limit.set')}
        initial={limit.value === undefined ? '' : String(limit.value)}
      />
      {limit.own && (
        <Button look="ghost" onClick={clear}>
          {t('limit.clear')}
        </Button>
      )}
    </div>
  )
}

/** Whose limit stopped it: the session's where that is spent, else the day's. */
export function isOwnLimit(state: SessionState): boolean {
  const { value } = limitOf(state, get().global?.sessionSettings?.budget.session)
  return value !== undefined && state.usage.own.cost >= value
}
