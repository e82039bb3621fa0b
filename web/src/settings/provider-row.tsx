import { ChevronDown, ChevronRight } from 'lucide-react'
import { useEffect, useRef } from 'react'
import type { Probe } from '../../../server/wire/models.ts'
import type { ProviderView } from '../../../server/wire/views.ts'
import { thousands, timeOfDay } from '../i18n/format.ts'
import { Button } from '../ui/button.tsx'
import { hostOf } from './options.ts'
import { cureOf, useTested } from './probes.ts'
import type { Cure } from './probes.ts'
import { ProviderDetails } from './provider-details.tsx'
import { useText } from './text.ts'
import type { Text } from './text.ts'

interface Props {
  provider: ProviderView
  /** Requests of the last 30 days; absent while nobody counts them. */
  requests: number | undefined
  open: boolean
  /** What the row is opened for: the fix of its problem, or nothing in particular. */
  wish: Wish | undefined
  model: string | undefined
  onToggle(): void
  onCure(cure: Cure): void
}

export interface Wish {
  cure: Cure
  /** Two wishes for the same are two. */
  n: number
}

interface State {
  tone: 'works' | 'idle' | 'failed'
  what: string
  problem?: string
  cure?: Cure
}

function stateOf(t: Text, provider: ProviderView, probe: Probe | undefined): State {
  const missing = provider.key === 'missing'
  if (probe && probe.verdict !== 'works' && !missing) {
    const said = t('row.refused', { what: t(`verdict.${probe.verdict}`), time: timeOfDay(probe.at).slice(0, 5) })
    return { tone: 'failed', what: t('provider.failed'), problem: said, cure: cureOf(probe.verdict) }
  }
  if (provider.problem !== undefined) return { tone: 'failed', what: t('provider.failed'), problem: provider.problem }
  if (missing) return { tone: 'idle', what: t('provider.idle'), problem: t('key.missing'), cure: 'key' }
  if (provider.models.length === 0) return { tone: 'idle', what: t('provider.noModels') }
  return { tone: 'works', what: t('provider.works') }
}

export function ProviderRow({ provider, requests, open, wish, model, onToggle, onCure }: Props) {
  const t = useText()
  const row = useRef<HTMLDivElement>(null)
  const openedByAddress = useRef(open)
  useEffect(() => {
    if (openedByAddress.current) row.current?.scrollIntoView({ block: 'start' })
  }, [])
  const { tone, what, problem, cure } = stateOf(t, provider, useTested(provider.id)?.last)
  const Chevron = open ? ChevronDown : ChevronRight
  const missing = provider.key === 'missing'
  const counts = [
    provider.models.length === 0 ? t('row.noModels') : t('provider.models', { n: provider.models.length }),
    requests !== undefined && t('row.requests', { n: requests, count: thousands(requests) }),
  ]
  return (
    <div data-testid="provider-row" data-provider={provider.id} ref={row} className="pv-box">
      <div className="pv pv-line">
        <button type="button" className="pv-open" aria-expanded={open} onClick={onToggle}>
          <span className={`dot ${tone}`} role="img" aria-label={what} />
          <span className="b trunc">{provider.label}</span>
          <span className="mono t3 trunc">{hostOf(provider)}</span>
          {provider.changed && <span className="tag">{t('provider.changed')}</span>}
          {problem !== undefined ? (
            <span className={`pv-say trunc ${missing ? '' : 'fail'}`} title={problem}>
              {problem}
            </span>
          ) : (
            <span className="pv-say num trunc">{counts.filter(Boolean).join(', ')}</span>
          )}
        </button>
        {cure !== undefined && cure !== 'none' && !open && (
          <Button look="sm" onClick={() => onCure(cure)}>
            {t(missing ? 'cure.addKey' : `cure.${cure}`)}
          </Button>
        )}
        <button type="button" className="ib sm" tabIndex={-1} aria-hidden onClick={onToggle}>
          <Chevron size={14} />
        </button>
      </div>
      {open && <ProviderDetails provider={provider} wish={wish} model={model} onCure={onCure} />}
    </div>
  )
}
