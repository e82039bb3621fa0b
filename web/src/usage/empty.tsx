import type { UsageReport } from '../../../server/wire/models.ts'
import { linkTo, navigate } from '../router.ts'
import type { UsagePlace } from '../router.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { range } from './dates.ts'
import { withChange } from './head.tsx'
import { useLanguage, useText } from './text.ts'

/** Heights of a made-up month, in pixels: what will stand here, as an outline. */
const OUTLINE = [8, 14, 22, 40, 31, 31, 6, 4, 27, 36, 48, 44, 52, 10, 6, 40, 56, 52, 36, 60]

export function NoUsage({ report, shown }: { report: UsageReport; shown: UsagePlace }) {
  const t = useText()
  const language = useLanguage()
  const sessions = useApp((app) => Object.values(app.rows).some((row) => row.turns > 0))
  const ends = range(report.from, report.to, language)
  const filtered = shown.cwd !== undefined || shown.preset !== undefined
  const known = sessions || report.before.requests > 0 || filtered
  return (
    <div className="empty" data-testid="usage-empty">
      <svg className="outline" width={20 * 14} height={64} aria-hidden="true">
        {OUTLINE.map((height, index) => (
          <rect key={index} x={index * 14 + 3} y={64 - height} width={8} height={height} rx={1} />
        ))}
      </svg>
      {!known && (
        <>
          <h2>{t('usage.emptyTitle')}</h2>
          <p>{t('usage.emptyWhat')}</p>
          <div className="flex">
            <Button look="pri" onClick={() => navigate({ place: 'home' })}>
              {t('rail.new')}
            </Button>
          </div>
        </>
      )}
      {known && (
        <>
          <h2>{filtered ? t('usage.emptyFilter') : t('usage.emptyPeriod', { n: report.days.length })}</h2>
          <p>{t(filtered ? 'usage.emptyFilterWhat' : 'usage.emptyPeriodWhat', ends)}</p>
          <div className="flex">
            {filtered && (
              <a className="btn" {...linkTo(withChange(shown, { cwd: undefined, preset: undefined }))}>
                {t('usage.clear')}
              </a>
            )}
            {report.days.length < 90 && (
              <a className="btn" {...linkTo(withChange(shown, { days: 90 }))}>
                {t('usage.longer')}
              </a>
            )}
          </div>
        </>
      )}
    </div>
  )
}

/** The same boxes in the same places, so that nothing moves when the figures come. */
export function Bones() {
  const t = useText()
  return (
    <div className="ubody" aria-busy="true" aria-label={t('usage.loading')} role="status">
      <div className="card kpis bones" />
      <div className="card daycard bones" />
      <div className="urow">
        <div className="card bones" style={{ height: 240 }} />
        <div className="uside">
          <div className="card bones" style={{ height: 112 }} />
          <div className="card bones" style={{ height: 112 }} />
        </div>
      </div>
    </div>
  )
}
