import { ChevronDown, Cpu, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Selection } from '../../../server/wire/messages.ts'
import type { ModelsView } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { setPrefs, usePrefs } from '../store/prefs.ts'
import { Switch } from '../ui/button.tsx'
import { Pop } from '../ui/pop.tsx'
import { ModelPicker } from './model-picker.tsx'
import { find } from './selection.ts'
import type { Effective } from './selection.ts'

interface Props {
  models: ModelsView
  now: Effective
  look?: string
  lead?: ReactNode
  /** Result of saving the last pick as default, as the server told it. */
  saved?: { text: string; ok: boolean } | undefined
  onPick(selection: Selection, alsoDefault: boolean): void
}

/** The model of the next request. Only a gesture here picks one: showing, hiding or changing sessions never does (B11). */
export function ModelChip({ models, now, look = '', lead, saved, onPick }: Props) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const also = usePrefs((prefs) => prefs.alsoDefault)
  const { selection, source } = now
  const found = selection && find(models, selection)
  const gone = found?.kind === 'gone'
  const hasEfforts = found?.kind === 'listed' && found.model.efforts.length > 0
  const trigger = (
    <button
      type="button"
      className={`chip ${look} ${gone ? 'gone' : ''}`}
      data-testid="model-chip"
      title={t(`model.source.${source}`)}
    >
      {gone ? <TriangleAlert size={14} /> : <Cpu size={14} />}
      {lead}
      <span className="trunc">
        {selection ? (gone ? t('model.isGone', { model: selection.model }) : selection.model) : t('model.choose')}
      </span>
      {selection?.reasoningEffort && <span className="sub">{selection.reasoningEffort}</span>}
      {selection && !selection.reasoningEffort && hasEfforts && <span className="unset">{t('effort.isUnset')}</span>}
      <ChevronDown size={12} />
    </button>
  )
  return (
    <Pop open={open} onOpenChange={setOpen} title={t('model')} trigger={trigger} width={400}>
      <ModelPicker
        models={models}
        value={selection}
        origin={t(`model.source.${source}`)}
        onPick={(picked) => onPick(picked, also)}
        onLeave={() => setOpen(false)}
      >
        <div className="pop-part">
          <span className="grow">
            <span className="m">{t('model.also')}</span>
            {saved && (
              <span className={`t12 ${saved.ok ? 'ok' : 'warn'}`} role="status" style={{ display: 'block' }}>
                {saved.text}
              </span>
            )}
          </span>
          <Switch on={also} label={t('model.also')} onChange={(on) => setPrefs({ alsoDefault: on })} />
        </div>
      </ModelPicker>
    </Pop>
  )
}
