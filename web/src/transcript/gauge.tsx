import { useState } from 'react'
import { contextReading } from '../../../server/projection/context.ts'
import type { ContextReading } from '../../../server/projection/context.ts'
import { inputOf } from '../../../server/projection/usage.ts'
import type { UsageState } from '../../../server/projection/usage.ts'
import { about, tokens } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { costText } from '../models/cost-text.ts'
import { LimitPart } from '../models/limit.tsx'
import { linkTo } from '../router.ts'
import type { OpenSession } from '../store/session-view.ts'
import { useApp } from '../store/store.ts'
import { Pop } from '../ui/pop.tsx'

/** What the log says of the window comes first; the list of the provider fills in. */
function useReading(view: OpenSession): ContextReading | undefined {
  const models = useApp((app) => app.global?.models)
  const reading = contextReading(view.state)
  if (!reading || reading.window !== undefined) return reading
  const route = view.state.model.next ?? view.state.lastHeader
  const provider = models?.providers.find((candidate) => candidate.id === route?.provider)
  const window = provider?.models.find((candidate) => candidate.id === route?.model)?.contextWindow
  return { ...reading, ...(window !== undefined && { window }) }
}

const usedText = ({ tokens: used, basis }: ContextReading): string =>
  `${basis === 'reported' ? '' : '≈ '}${tokens(used)}`

export function Gauge({ view }: { view: OpenSession }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const reading = useReading(view)
  const { own } = view.state.usage
  if (!reading && own.calls === 0) return null
  const share = reading?.window === undefined ? undefined : Math.min(1, reading.tokens / reading.window)
  const trigger = (
    <button
      type="button"
      className={`gauge ${share !== undefined && share > 0.85 ? 'full' : ''} ${reading?.basis ?? ''}`}
      data-testid="gauge"
      data-basis={reading?.basis}
      aria-label={[t('cost.label'), reading && wordsOf(t, reading)].filter(Boolean).join(': ')}
    >
      {share !== undefined && (
        <span className="bar">
          <i style={{ width: `${Math.max(2, share * 100)}%` }} />
        </span>
      )}
      {reading && (
        <span>
          {usedText(reading)}
          {reading.window !== undefined && <span className="t3"> / {tokens(reading.window)}</span>}
        </span>
      )}
      {own.calls > 0 && (
        <span className="t3 wide-only" data-testid="session-cost">
          {costText(t, own)}
        </span>
      )}
    </button>
  )
  return (
    <Pop open={open} onOpenChange={setOpen} title={t('cost.label')} trigger={trigger} width={440}>
      <div className="cost-pop">
        {reading && <Held reading={reading} />}
        <Spent usage={view.state.usage} />
        {!view.readOnly && view.writer.kind !== 'elsewhere' && <LimitPart state={view.state} />}
      </div>
    </Pop>
  )
}

const wordsOf = (t: ReturnType<typeof useT>, reading: ContextReading): string =>
  reading.window === undefined
    ? t('gauge.only', { used: usedText(reading) })
    : t('gauge.of', { used: usedText(reading), window: tokens(reading.window) })

function Held({ reading }: { reading: ContextReading }) {
  const t = useT()
  const { parts } = reading
  return (
    <section className="cost-part" data-testid="context-parts">
      <div className="flex">
        <span className="m">{t('cost.context')}</span>
        <span className="right num">{wordsOf(t, reading)}</span>
      </div>
      {parts && (
        <>
          <div className="cost-bar" aria-hidden="true">
            {PARTS.map((part) => (
              <i key={part} className={part} style={{ flexGrow: parts[part] }} />
            ))}
            <i className="free" style={{ flexGrow: Math.max(0, (reading.window ?? 0) - reading.tokens) }} />
          </div>
          <ul className="cost-keys">
            {PARTS.map((part) => (
              <li key={part}>
                <i className={part} />
                {t(`gauge.${part}`)}
                <span className="num">≈ {tokens(parts[part])}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p className="t12 t3">{t(`gauge.${reading.basis}`)}</p>
    </section>
  )
}

const PARTS = ['system', 'tools', 'messages'] as const

function Spent({ usage }: { usage: UsageState }) {
  const t = useT()
  const labels = useApp((app) => app.global?.models.providers)
  if (usage.total.calls === 0) return null
  const inherited = usage.total.calls !== usage.own.calls
  return (
    <section className="cost-part">
      <div className="flex">
        <span className="m">{t('cost.session')}</span>
        <span className="right num">{costText(t, usage.own)}</span>
      </div>
      <table className="cost-rows num">
        <thead>
          <tr>
            <th>{t('cost.model')}</th>
            <th>{t('cost.requests')}</th>
            <th>{t('cost.in')}</th>
            <th>{t('cost.out')}</th>
            <th>{t('cost.cost')}</th>
          </tr>
        </thead>
        <tbody>
          {usage.byModel.map((row) => (
            <tr key={`${row.provider}/${row.model}`}>
              <th className="trunc" title={`${row.provider}/${row.model}`}>
                {row.model}
                <span className="t3"> {labels?.find(({ id }) => id === row.provider)?.label ?? row.provider}</span>
              </th>
              <td>{row.calls}</td>
              <td>{tokens(inputOf(row))}</td>
              <td>{tokens(row.outputTokens ?? 0)}</td>
              <td>{costText(t, row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="t12 t3">
        {t('cost.estimate')} {usage.own.unpriced > 0 && t('limit.unpriced', { n: usage.own.unpriced })}{' '}
        {inherited && t('cost.inherited', { cost: about(usage.total.cost) })}{' '}
        <a className="lk" {...linkTo({ place: 'usage' })}>
          {t('cost.usage')}
        </a>
      </p>
    </section>
  )
}
