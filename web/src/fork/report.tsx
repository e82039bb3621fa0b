import { CircleCheck, MessageSquareText, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ForkReport } from '../../../server/wire/presets.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'

/** What a fork keeps and loses. */
export function Report({ report, from }: { report: ForkReport; from: string | null }) {
  const t = useT()
  const { asText, tools, services, tokens } = report
  const calls = asText.reduce((sum, { calls: count }) => sum + count, 0)
  return (
    <>
      <h3 className="m">{from === null ? report.preset : t('fork.fromTo', { from, to: report.preset })}</h3>
      {calls === 0 ? (
        <p className="note">
          <CircleCheck size={14} className="ok" />
          <span>{t('fork.allCalls')}</span>
        </p>
      ) : (
        <div className="note warn">
          <TriangleAlert size={14} />
          <div className="grow">
            <p className="m">{t('fork.asText', { n: calls })}</p>
            <p>{t('fork.asTextWhy')}</p>
            <ul className="fork-calls">
              {asText.map(({ tool, calls: count }) => (
                <li key={tool}>
                  <MessageSquareText size={12} aria-hidden />
                  <span className="mono-s">{tool}</span>
                  <span className="num">{t('fork.calls', { n: count })}</span>
                </li>
              ))}
            </ul>
          </div>
        </div>
      )}
      <dl className="fork-facts">
        <Names title={t('fork.toolsAdded')} names={tools.added} sign="+" />
        <Names title={t('fork.toolsRemoved')} names={tools.removed} sign="-" />
        <Names title={t('fork.toolsChanged')} names={tools.changed} />
        <Names title={t('fork.servicesAdded')} names={services.added} sign="+" />
        <Names title={t('fork.servicesRemoved')} names={services.removed} sign="-" />
        <Fact title={t('fork.tokens')}>
          <span className="num">
            {tokens.before !== undefined && `${thousands(tokens.before)} → `}
            <span className="m">{thousands(tokens.after)}</span> <span className="t3">{t('preset.before')}</span>
          </span>
        </Fact>
      </dl>
    </>
  )
}

function Names({ title, names, sign = '' }: { title: string; names: readonly string[]; sign?: string }) {
  if (names.length === 0) return null
  return (
    <Fact title={title}>
      {names.map((name) => (
        <span key={name} className="tag mono-s">
          {sign !== '' && <span className={sign === '+' ? 'plus' : 'minus'}>{sign}</span>}
          {name}
        </span>
      ))}
    </Fact>
  )
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}

export function ReportSkeleton() {
  return (
    <div className="stack" aria-busy="true" style={{ gap: 12 }}>
      <div className="skel" style={{ width: '52%' }} />
      <div className="skel" style={{ height: 36 }} />
      {['80%', '66%', '44%'].map((width) => (
        <div key={width} className="skel" style={{ width }} />
      ))}
    </div>
  )
}
