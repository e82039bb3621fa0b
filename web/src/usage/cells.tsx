import type { ReactNode } from 'react'
import type { UsageCounts } from '../../../server/wire/models.ts'
import { money, thousands, tokens } from '../i18n/format.ts'
import { Tip } from '../ui/button.tsx'
import { cachedShare, inputOf, percentOf, priced } from './figures.ts'
import { useText } from './text.ts'

/** Heads of the columns that every table of sums has; `wide` ones go where room is scarce. */
export function CountHeads({ cached = true, first = false, failed = true }: Columns) {
  const t = useText()
  return (
    <>
      <Head>{t('usage.col.requests')}</Head>
      <Head>{t('usage.col.in')}</Head>
      {cached && (
        <th scope="col" className="wide">
          {t('usage.col.cached')}
        </th>
      )}
      <Head>{t('usage.col.out')}</Head>
      {first && (
        <Head>
          <Tip text={t('usage.firstWhat')}>
            <button type="button" className="tipped">
              {t('usage.col.first')}
            </button>
          </Tip>
        </Head>
      )}
      {failed && <Head>{t('usage.col.failed')}</Head>}
      <th scope="col" className="n">
        {t('usage.col.cost')}
      </th>
    </>
  )
}

export interface Columns {
  cached?: boolean
  first?: boolean
  failed?: boolean
}

export const Head = ({ children }: { children: ReactNode }) => (
  <th scope="col" className="n wide">
    {children}
  </th>
)

export function CountCells({ counts, cost, cached = true, first = false, failed = true }: Columns & CellProps) {
  const share = cachedShare(counts)
  const input = inputOf(counts)
  return (
    <>
      <td className="n wide">{thousands(counts.requests)}</td>
      <td className="n wide">{input === 0 && share === undefined ? <None /> : tokens(input)}</td>
      {cached && <td className="wide">{share === undefined ? <None /> : <Share share={share} />}</td>}
      <td className="n wide">{counts.outputTokens === undefined ? <None /> : tokens(counts.outputTokens)}</td>
      {first && <td className="n wide">{counts.firstMs === undefined ? <None /> : seconds(counts.firstMs)}</td>}
      {failed && (
        <td className="n wide">
          {counts.failed === 0 ? (
            <span className="t3">0</span>
          ) : (
            <span className="fail m">{thousands(counts.failed)}</span>
          )}
        </td>
      )}
      <td className="n m">{cost ?? <CostText counts={counts} />}</td>
    </>
  )
}

interface CellProps {
  counts: UsageCounts
  cost?: ReactNode
}

export function CostText({ counts }: { counts: UsageCounts }) {
  const t = useText()
  if (!priced(counts)) return <span className="t3 plain">{t('usage.noPrice')}</span>
  const partly = counts.unpriced > 0 ? `, ${t('usage.part.noPrice', { n: counts.unpriced })}` : ''
  return (
    <span title={money(counts.cost.total, true) + partly}>
      {money(counts.cost.total)}
      {partly !== '' && <span className="t3">*</span>}
    </span>
  )
}

/** What the columns say, in one line, where there is no room for them. */
export function NarrowLine({ counts }: { counts: UsageCounts }) {
  const t = useText()
  const share = cachedShare(counts)
  return (
    <span className="narrow t3 t12 num">
      {t('usage.asked', { n: counts.requests === 1 ? 1 : thousands(counts.requests) })}
      {counts.failed > 0 && <span className="fail">{` · ${t('usage.failed', { n: counts.failed })}`}</span>}
      {` · ${tokens(inputOf(counts))} ${t('usage.col.in').toLowerCase()}`}
      {share !== undefined && ` · ${t('usage.cached', { n: percentOf(share) })}`}
    </span>
  )
}

const None = () => <span className="t3">–</span>

function Share({ share }: { share: number }) {
  return (
    <span className="sharebar">
      <span className="bar" aria-hidden="true">
        <i style={{ width: `${share * 100}%` }} />
      </span>
      <span className="num">{percentOf(share)}%</span>
    </span>
  )
}

/** `0.84 s` below ten seconds: first tokens differ by tenths. */
export const seconds = (ms: number): string =>
  ms < 100
    ? `${Math.max(1, Math.round(ms))} ms`
    : ms < 9950
      ? `${(ms / 1000).toFixed(1)} s`
      : `${Math.round(ms / 1000)} s`
