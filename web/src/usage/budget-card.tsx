import type { UsageReport } from '../../../server/wire/models.ts'
import { money, thousands } from '../i18n/format.ts'
import { linkTo } from '../router.ts'
import { useText } from './text.ts'

/** What this day spent of its limit, whatever is filtered; the limit itself is set in the settings. */
export function BudgetCard({ report }: { report: UsageReport }) {
  const t = useText()
  const { cost, unpriced } = report.today
  const limit = report.budget.day
  const over = limit !== undefined && cost >= limit
  const near = limit !== undefined && !over && cost >= limit * 0.8
  const about = cost >= 0.01 ? '≈ ' : ''
  return (
    <section className="card budget" aria-label={t('usage.budget')} data-testid="usage-budget">
      <div className="uhd">
        <h2>{t('usage.budget')}</h2>
        <span className="t3 t12">{t('usage.budgetAll')}</span>
        <a className="btn ghost sm right" {...linkTo({ place: 'settings', page: 'sessions' })} data-testid="set-limit">
          {t(limit === undefined ? 'usage.setLimit' : 'usage.changeLimit')}
        </a>
      </div>
      <p className="sums num">
        <b>
          <span className="about">{about}</span>
          {money(cost)}
        </b>{' '}
        <span className="t3 t12">
          {limit === undefined ? t('usage.budgetNone') : t('usage.budgetOf', { limit: money(limit) })}
        </span>
      </p>
      {limit !== undefined && (
        <div
          className={`bar ${over ? 'over' : near ? 'near' : ''}`}
          role="meter"
          aria-label={t('usage.budget')}
          aria-valuemin={0}
          aria-valuemax={limit}
          aria-valuenow={Math.min(cost, limit)}
          aria-valuetext={`${about}${money(cost)} ${t('usage.budgetOf', { limit: money(limit) })}`}
        >
          <i style={{ width: `${limit > 0 ? Math.min(100, (cost / limit) * 100) : 100}%` }} />
        </div>
      )}
      {over && <p className="fail t12">{t('usage.budgetOver')}</p>}
      {unpriced > 0 && (
        <p className="t3 t12">{t('usage.budgetUnpriced', { n: unpriced === 1 ? 1 : thousands(unpriced) })}</p>
      )}
    </section>
  )
}
