import { Copy, Download, Lock, Pencil } from 'lucide-react'
import { presetSource } from '../api.ts'
import { useT } from '../i18n/i18n.ts'
import { linkTo } from '../router.ts'
import type { PresetRow } from '../../../server/wire/views.ts'
import { Button } from '../ui/button.tsx'
import { copyText } from '../ui/problems.tsx'
import { exportPreset } from './actions.ts'
import { openPresetDialog } from './dialogs.ts'
import { Failed } from '../ui/failed.tsx'
import { Bones } from './gives.tsx'
import { revisionOf, useAnswer } from './resource.ts'
import { Trouble } from './trouble.tsx'
import { Yaml } from './yaml.tsx'

/** The document as written. */
export function DocumentTab({ preset }: { preset: PresetRow }) {
  const t = useT()
  const source = useAnswer(preset.id, revisionOf(preset), () => presetSource(preset.id))
  const marks = new Map(preset.stale?.line === undefined ? [] : [[preset.stale.line, 'error' as const]])
  return (
    <div className="in">
      <section>
        <div className="hd">
          <div className="grow">
            <h2 className="mono trunc" title={source.kind === 'shown' ? source.value.file : undefined}>
              {source.kind === 'shown' ? source.value.file.split('/').slice(-2).join('/') : `${preset.id}.yml`}
            </h2>
            <p>{t('preset.documentWhat')}</p>
          </div>
          <span className="flex acts">
            {source.kind === 'shown' && (
              <>
                <Button look="ghost" onClick={() => void copyText(source.value.text)}>
                  {t('copy')}
                </Button>
                <Button look="ghost" onClick={() => void exportPreset(preset.id)}>
                  <Download size={14} />
                  {t('presets.export')}
                </Button>
              </>
            )}
            {preset.own ? (
              <a className="btn" {...linkTo({ place: 'presets', id: preset.id, tab: 'edit' })}>
                <Pencil size={14} />
                {t('presets.edit')}
              </a>
            ) : (
              <Button onClick={() => openPresetDialog({ kind: 'copy', from: preset.id })}>
                <Copy size={14} />
                {t('presets.copyToEdit')}
              </Button>
            )}
          </span>
        </div>
        <div className="stack" style={{ gap: 8 }}>
          {!preset.own && (
            <p className="note">
              <Lock size={14} />
              <span>{t('presets.readOnly')}</span>
            </p>
          )}
          <Trouble preset={preset} />
          {source.kind === 'loading' && <Bones />}
          {source.kind === 'shown' && <Yaml text={source.value.text} marks={marks} />}
          {source.kind === 'failed' && <Failed error={source.error} again={source.again} />}
        </div>
      </section>
    </div>
  )
}
