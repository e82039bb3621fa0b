import { ShieldOff } from 'lucide-react'
import type { HostFacts } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { useApp } from '../store/store.ts'
import { Fault } from './host-faults.tsx'

export function About() {
  const t = useT()
  const host = useApp((app) => app.global?.host)
  if (!host) return <div className="card" style={{ height: 220 }} aria-busy="true" />
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
        <div className={`note ${host.confinement === 'container' ? '' : 'warn'}`}>
          <ShieldOff size={14} />
          <span>
            <span className="m">{t(`confinement.${host.confinement}`)}.</span>{' '}
            {t(`confinement.${host.confinement}.why`)}
          </span>
        </div>
      </section>
      <HostProblems problems={host.problems} />
    </>
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
