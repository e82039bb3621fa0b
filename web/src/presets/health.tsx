import { Check } from 'lucide-react'
import type { PresetRow } from '../../../server/wire/views.ts'
import { presetSource } from '../api.ts'
import { useT } from '../i18n/i18n.ts'
import { useCheck } from './edit/use-check.ts'
import { Failed } from '../ui/failed.tsx'
import { Bones, Head } from './gives.tsx'
import { troubles } from './marks.tsx'
import { revisionOf, useAnswer } from './resource.ts'
import { LineLink, Trouble } from './trouble.tsx'

/** What the host says of the running declaration, and what a trial of the document as written finds. */
export function Health({ preset }: { preset: PresetRow }) {
  const t = useT()
  const version = revisionOf(preset)
  const source = useAnswer(preset.id, version, () => presetSource(preset.id))
  const text = source.kind === 'shown' ? source.value.text : undefined
  const { check, error } = useCheck(text, preset.id, version)
  const faults = check?.diagnostics ?? []
  return (
    <div className="in" data-testid="preset-health">
      <section>
        <Head title={t('presets.now')} about={t('presets.nowWhat')} />
        {troubles(preset) === 0 ? <Fine text={t('presets.healthy')} /> : <Trouble preset={preset} all />}
      </section>
      <section>
        <Head title={t('presets.trial')} about={t('presets.trialWhat')} />
        {source.kind === 'failed' && <Failed error={source.error} again={source.again} />}
        {source.kind !== 'failed' && !check && !error && <Bones />}
        {error && !check && (
          <p className="note fail">
            <span>
              {error.message} <span className="mono-s">{error.code}</span>
            </span>
          </p>
        )}
        {check && faults.length === 0 && <Fine text={t('presets.noFaults')} />}
        {faults.length > 0 && (
          <ul className="card rows">
            {faults.map((fault, index) => (
              <li key={index} className="fault">
                <span className={`tag ${fault.severity === 'error' ? 'fail' : 'warn'}`}>
                  {t(`presets.${fault.severity}`)}
                </span>
                <div className="grow">
                  <p className="wrap">{fault.message}</p>
                  {fault.at !== undefined && <p className="mono-s t3 wrap">{fault.at}</p>}
                </div>
                <LineLink preset={preset} line={fault.line} column={fault.column} />
              </li>
            ))}
          </ul>
        )}
      </section>
    </div>
  )
}

const Fine = ({ text }: { text: string }) => (
  <p className="note">
    <Check size={14} className="ok" />
    <span>{text}</span>
  </p>
)
