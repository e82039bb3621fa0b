import { Shield, ShieldOff } from 'lucide-react'
import type { SandboxVerdict } from '../../../server/wire/safety.ts'
import type { HostFacts } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { Again, Fix } from '../safety/no-runner.tsx'
import { useApp } from '../store/store.ts'
import { Problems } from '../ui/problems.tsx'
import { Fault } from './host-faults.tsx'

export function About() {
  const t = useT()
  const host = useApp((app) => app.global?.host)
  const safety = useApp((app) => app.global?.safety)
  if (!host || !safety) return <div className="card" style={{ height: 220 }} aria-busy="true" />
  const facts: [string, string][] = [
    ['core-web', host.version],
    [t('about.protocol'), String(host.protocol)],
    ['Node', host.node],
    [t('about.platform'), host.platform],
    [t('about.data'), host.dataDir],
    [t('about.home'), host.home],
  ]
  return (
    <>
      <section>
        <div className="hd">
          <div>
            <h2>{t('settings.about')}</h2>
            <p>{t('about.what')}</p>
          </div>
        </div>
        <dl className="card rows">
          {facts.map(([name, value]) => (
            <div key={name} className="kv-row">
              <dt>{name}</dt>
              <dd className="mono">{value}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section id="confinement">
        <div className="hd">
          <div>
            <h2>{t('about.confinement')}</h2>
          </div>
        </div>
        <Verdict verdict={safety.verdict} />
      </section>
      <HostProblems problems={host.problems} />
    </>
  )
}

function Verdict({ verdict }: { verdict: SandboxVerdict }) {
  const t = useT()
  const { enforcement, version = '' } = verdict
  const good = enforcement === 'full' || enforcement === 'container'
  const Icon = good ? Shield : ShieldOff
  return (
    <div className={`note ${good ? '' : 'warn'}`} data-testid="verdict">
      <Icon size={14} />
      <div className="grow stack" style={{ gap: 8 }}>
        <p>
          <span className="m">
            {t(
              enforcement === 'none'
                ? 'runner.none'
                : enforcement === 'container'
                  ? 'permission.container'
                  : 'runner.full',
            )}
            .
          </span>{' '}
          {enforcement === 'container' && t('permission.container.what')}
          {enforcement === 'none' && t('runner.what')}
          {enforcement === 'full' && t('runner.fullWhat', { version })}
          {enforcement === 'partial' && t('permission.partial')}
        </p>
        <Fix verdict={verdict} />
        {enforcement !== 'container' && (
          <div className="flex">
            <Again />
          </div>
        )}
        <Problems place="sandbox" />
      </div>
    </div>
  )
}

function HostProblems({ problems }: { problems: HostFacts['problems'] }) {
  const t = useT()
  return (
    <section id="host-problems">
      <div className="hd">
        <div>
          <h2>{t('about.problems')}</h2>
          <p>{t(problems.length === 0 ? 'about.noProblems' : 'about.someProblems')}</p>
        </div>
      </div>
      <div className="stack tight">
        {problems.map((problem) => (
          <Fault key={`${problem.file}:${problem.row}`} problem={problem} />
        ))}
      </div>
    </section>
  )
}
