import { ShieldOff } from 'lucide-react'
import { useState } from 'react'
import type { SafetyView, SandboxVerdict } from '../../../server/wire/safety.ts'
import { useT } from '../i18n/i18n.ts'
import { useNewSession } from '../new-session/state.ts'
import { run } from '../store/actions.ts'
import { toast } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { usePicked } from './permission-chip.tsx'

/** Where nothing can keep what is chosen, there are two ways on, and none is taken silently. */
export function NoRunner({ safety }: { safety: SafetyView }) {
  const t = useT()
  const [how, setHow] = useState(false)
  const picked = usePicked(safety)
  if (picked?.unusable === undefined || safety.verdict.enforcement === 'container') return null
  return (
    <div className="note warn runner" data-testid="no-runner">
      <ShieldOff size={14} />
      <div className="grow stack" style={{ gap: 8 }}>
        <p>
          <span className="m">{t('runner.none')}.</span> {t('runner.what')}
        </p>
        {how && <Fix verdict={safety.verdict} />}
        <div className="flex" style={{ flexWrap: 'wrap' }}>
          {how ? <Again /> : <Button onClick={() => setHow(true)}>{t('runner.how')}</Button>}
          <Button look="danger" data-testid="run-bare" onClick={() => useNewSession.setState({ permission: 'full' })}>
            {t('runner.bare')}
          </Button>
        </div>
        <Problems place="sandbox" />
      </div>
    </div>
  )
}

export function Again() {
  const t = useT()
  const [busy, setBusy] = useState(false)
  const probe = async () => {
    setBusy(true)
    const outcome = await run('sandbox.probe', {}, { place: 'sandbox', retry: () => void probe() })
    setBusy(false)
    if (outcome.ok && outcome.result.enforcement !== 'none') toast(t('runner.works'), { tone: 'ok' })
  }
  return (
    <Button data-testid="probe" aria-busy={busy} onClick={() => void (busy || probe())}>
      {t('runner.again')}
    </Button>
  )
}

/** What was tried, and what would help; both are for copying. */
export function Fix({ verdict }: { verdict: SandboxVerdict }) {
  return (
    <>
      <ul className="findings mono-s">
        {verdict.findings.map((finding) => (
          <li key={finding}>{finding}</li>
        ))}
      </ul>
      {verdict.fix.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </>
  )
}
