import type { ReactNode } from 'react'
import type { UsageReport } from '../../../server/wire/models.ts'
import { money, thousands, tokens } from '../i18n/format.ts'
import { Tip } from '../ui/button.tsx'
import { cachedShare, changeOf, inputOf, percentOf, priced, thinkingShare } from './figures.ts'
import { useText } from './text.ts'
import type { Text } from './text.ts'

/** Five sums of the period; sums of money are estimates and say so. */
export function FigureRow({ report }: { report: UsageReport }) {
  const t = useText()
  const { total } = report
  const share = cachedShare(total)
  const thinking = thinkingShare(total)
  const known = (count: number | undefined) => (count === undefined ? t('usage.notReported') : tokens(count))
  return (
    <div className="card kpis" data-testid="usage-figures">
      <Figure name={t('usage.cost')} why={t('usage.costWhat')} note={changeText(report, t)} testid="figure-cost">
        <Money dollars={priced(total) ? total.cost.total : undefined} />
      </Figure>
      <Figure name={t('usage.requests')} note={<Outcome report={report} />} testid="figure-requests">
        {thousands(total.requests)}
      </Figure>
      <Figure
        name={t('usage.input')}
        note={share === undefined ? '' : t('usage.cached', { n: percentOf(share) })}
        testid="figure-input"
      >
        {share === undefined && inputOf(total) === 0 ? t('usage.notReported') : tokens(inputOf(total))}
      </Figure>
      <Figure
        name={t('usage.output')}
        note={thinking === undefined ? t('usage.noThinking') : t('usage.thinking', { n: percentOf(thinking) })}
        testid="figure-output"
      >
        {known(total.outputTokens)}
      </Figure>
      <Figure
        name={t('usage.saved')}
        why={t('usage.savedWhat')}
        note={priced(total) ? t('usage.atPrice') : ''}
        testid="figure-saved"
      >
        <Money dollars={priced(total) ? total.saved : undefined} />
      </Figure>
    </div>
  )
}

interface FigureProps {
  name: string
  why?: string
  note: ReactNode
  testid: string
  children: ReactNode
}

function Figure({ name, why, note, testid, children }: FigureProps) {
  return (
    <div className="kpi" data-testid={testid}>
      <span className="cap">
        {why === undefined ? (
          name
        ) : (
          <Tip text={why}>
            <button type="button" className="tipped">
              {name}
            </button>
          </Tip>
        )}
      </span>
      <b className="num">{children}</b>
      <span className="t3 t12 num">{note}</span>
    </div>
  )
}

function Money({ dollars }: { dollars: number | undefined }) {
  const t = useText()
  if (dollars === undefined) return <span className="none">{t('usage.noPrice')}</span>
  return (
    <span title={money(dollars, true)}>
      {dollars >= 0.01 && <span className="about">≈ </span>}
      {money(dollars)}
    </span>
  )
}

function Outcome({ report: { total } }: { report: UsageReport }) {
  const t = useText()
  if (total.failed === 0 && total.retried === 0) return t('usage.noneFailed')
  return (
    <>
      {total.failed > 0 && t('usage.failed', { n: thousands(total.failed) })}
      {total.failed > 0 && total.retried > 0 && ', '}
      {total.retried > 0 && t('usage.retried', { n: thousands(total.retried) })}
    </>
  )
}

function changeText({ total, before, days }: UsageReport, t: Text): string {
  if (!priced(total)) return ''
  const change = changeOf(total.cost.total, before.cost.total)
  const period = { days: days.length }
  switch (change.kind) {
    case 'none':
      return t('usage.noBefore', period)
    case 'same':
      return t('usage.same', period)
    case 'times':
      return t('usage.times', { ...period, n: change.factor })
    case 'more':
    case 'less':
      return t(`usage.${change.kind}`, { ...period, n: change.percent })
  }
}
