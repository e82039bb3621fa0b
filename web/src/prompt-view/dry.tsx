import { FileText } from 'lucide-react'
import { useT } from '../i18n/i18n.ts'
import { thousands } from '../i18n/format.ts'
import { useApp } from '../store/store.ts'
import type { OpenSession } from '../store/session-view.ts'
import { Catalog } from './catalog.tsx'

/** Before the first request: what the preset gives new sessions, rendered without one. */
export function DryPrompt({ view }: { view: OpenSession }) {
  const t = useT()
  const id = view.state.preset.current
  const preset = useApp((app) => app.global?.presets.find((row) => row.id === id))
  if (!preset || preset.broken !== undefined)
    return (
      <div className="empty">
        <FileText size={20} />
        <h2>{t('pv.noRequests')}</h2>
        <p>{preset?.broken ?? t('pv.noPreset', { preset: id ?? '' })}</p>
      </div>
    )
  return (
    <div className="pv-split dry" data-testid="prompt-dry">
      <div className="pv-text" tabIndex={0} role="region" aria-label={t('pv.text')}>
        <p className="note pv-note">
          <FileText size={14} />
          <span>
            <span className="m">{t('pv.noRequests')}</span> {t('pv.dry', { preset: preset.id, n: preset.generation })}
          </span>
        </p>
        <div className="pv-head">
          <h2>{t('pv.text')}</h2>
          {preset.tokens !== undefined && (
            <span className="t3 t12 num">
              {thousands(preset.tokens)} {t('preset.before')}
            </span>
          )}
        </div>
        {preset.prompt === '' ? (
          <p className="pv-none">{t('pv.noSystem')}</p>
        ) : (
          <pre className="pv-sent">{preset.prompt}</pre>
        )}
        {preset.services.length > 0 && (
          <p className="pv-none">{t('preset.services', { names: preset.services.join(', ') })}</p>
        )}
        <Catalog tools={preset.tools} />
      </div>
    </div>
  )
}
