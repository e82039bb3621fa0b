import { GitFork } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { WireError } from '../../../server/wire/errors.ts'
import type { ForkReport } from '../../../server/wire/presets.ts'
import { useT } from '../i18n/i18n.ts'
import { PresetOptions } from '../presets/preset-options.tsx'
import { navigate } from '../router.ts'
import { run } from '../store/actions.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Failed } from '../ui/failed.tsx'
import { Modal } from '../ui/pop.tsx'
import { Report, ReportSkeleton } from './report.tsx'
import { usePoint } from './point.ts'
import '../styles/fork.css'

interface Props {
  session: string
  seq: number | undefined
  onClose(): void
}

type Check = { kind: 'none' | 'loading' } | { kind: 'shown'; report: ForkReport } | { kind: 'failed'; error: WireError }

/** A session keeps its preset; a fork of it may have another one. What that keeps and loses is said before. */
export function ForkDialog({ session, seq, onClose }: Props) {
  const t = useT()
  const view = useApp((app) => app.sessions[session])
  const presets = useApp((app) => app.global?.presets) ?? []
  const current = view?.kind === 'open' ? view.state.preset.current : null
  const [picked, setPicked] = useState<string>()
  const preset = picked ?? presets.find((row) => row.broken === undefined && row.id !== current)?.id
  const [check, again] = useCheck(session, seq, preset)
  const point = usePoint(session, seq)
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<WireError>()
  const submit = async () => {
    if (preset === undefined || busy) return
    setBusy(true)
    setRefusal(undefined)
    const outcome = await run('session.fork', { session, preset, ...(seq !== undefined && { seq }) }, { place: 'none' })
    setBusy(false)
    if (!outcome.ok) return setRefusal(outcome.error)
    onClose()
    navigate({ place: 'session', id: outcome.result.session })
  }
  const off = preset === undefined ? t('fork.none') : check.kind === 'failed' ? check.error.message : undefined
  return (
    <Modal wide title={t('fork.into')} onClose={onClose}>
      <p className="fork-point t12 t2">{point}</p>
      <div className="fork">
        <div className="fork-list">
          <PresetOptions presets={presets} value={preset} onPick={setPicked} />
        </div>
        <div className="fork-report" aria-live="polite" data-testid="fork-report" data-state={check.kind}>
          {check.kind === 'loading' && <ReportSkeleton />}
          {check.kind === 'shown' && <Report report={check.report} from={current} />}
          {check.kind === 'failed' && <Failed error={check.error} again={again} />}
          {refusal && <Failed error={refusal} again={() => void submit()} />}
        </div>
      </div>
      <div className="dialog-foot">
        <span className="t3 t12 grow">{t('fork.stays')}</span>
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button look="pri" off={off} data-testid="fork-go" onClick={() => void submit()}>
          <GitFork size={14} />
          {preset === undefined ? t('session.fork') : t('fork.go', { preset })}
        </Button>
      </div>
    </Modal>
  )
}

function useCheck(session: string, seq: number | undefined, preset: string | undefined): [Check, () => void] {
  const [attempt, setAttempt] = useState(0)
  const key = `${session} ${seq} ${preset} ${attempt}`
  const [held, setHeld] = useState<{ key: string; check: Check }>({ key: '', check: { kind: 'none' } })
  useEffect(() => {
    if (preset === undefined) return
    let current = true
    const args = { session, preset, ...(seq !== undefined && { seq }) }
    void run('session.fork-check', args, { place: 'none' }).then((outcome) => {
      if (!current) return
      const check: Check = outcome.ok
        ? { kind: 'shown', report: outcome.result }
        : { kind: 'failed', error: outcome.error }
      setHeld({ key, check })
    })
    return () => {
      current = false
    }
  }, [key, session, seq, preset])
  const check: Check = held.key === key ? held.check : preset === undefined ? { kind: 'none' } : { kind: 'loading' }
  return [check, () => setAttempt((count) => count + 1)]
}
