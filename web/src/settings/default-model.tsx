import { ChevronDown, Cpu, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { Selection } from '../../../server/wire/messages.ts'
import type { ModelsView } from '../../../server/wire/views.ts'
import { Effort, ModelPicker } from '../models/model-picker.tsx'
import { find } from '../models/selection.ts'
import { run } from '../store/actions.ts'
import { toast } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Pop } from '../ui/pop.tsx'
import { Problems } from '../ui/problems.tsx'
import { useText } from './text.ts'

interface PickProps {
  models: ModelsView
  value: Selection | undefined
  title: string
  origin: string
  testId: string
  onPick(selection: Selection): void
}

/** A model with its effort, as one field; one that is gone stays named. */
export function PickModel({ models, value, title, origin, testId, onPick }: PickProps) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const found = value && find(models, value)
  const gone = found?.kind === 'gone'
  const trigger = (
    <button
      type="button"
      className={`field ${gone ? 'bad' : ''}`}
      style={{ width: '100%' }}
      data-testid={testId}
      aria-label={[title, value?.model ?? t('model.choose')].join(': ')}
    >
      {gone ? <TriangleAlert size={14} /> : <Cpu size={14} />}
      <span className={value ? 'mono trunc' : 't3'}>{value?.model ?? t('model.choose')}</span>
      <span className="t3 t12 right trunc">{value?.provider}</span>
      <ChevronDown size={12} />
    </button>
  )
  return (
    <Pop open={open} onOpenChange={setOpen} title={title} trigger={trigger} width={420}>
      <ModelPicker models={models} value={value} origin={origin} onPick={onPick} onLeave={() => setOpen(false)} />
    </Pop>
  )
}

interface Props {
  models: ModelsView
  onFix(provider: string, add: boolean): void
}

export function DefaultModel({ models, onFix }: Props) {
  const t = useText()
  const value = models.default
  const found = value && find(models, value)
  const listed = found?.kind === 'listed' ? found : undefined
  const own = listed?.model.efforts.find((effort) => effort.default)
  const pick = async (selection: Selection) => {
    const outcome = await run('model.default', selection, { place: 'default' })
    if (outcome.ok) toast(t('model.defaultSaved'), { tone: 'ok' })
  }
  return (
    <section id="default-model">
      <div className="hd">
        <div>
          <h2>{t('model.default')}</h2>
          <p>{t('model.defaultUse')}</p>
        </div>
      </div>
      <div className="card dm">
        <div>
          <span className="lbl">{t('model')}</span>
          <PickModel
            models={models}
            value={value}
            title={t('model.default')}
            origin={t('model.isDefault')}
            testId="default-model"
            onPick={(selection) => void pick(selection)}
          />
        </div>
        {value && listed && listed.model.efforts.length > 0 && (
          <>
            <div>
              <span className="lbl">{t('effort')}</span>
              <Effort model={listed.model} value={value} onPick={(selection) => void pick(selection)} />
            </div>
            <p className="t3 t12">{own ? t('effort.unsetDefault', { effort: own.id }) : t('effort.unsetTitle')}</p>
          </>
        )}
        {!value && <p className="t3 t12 dm-none">{t('default.none')}</p>}
      </div>
      <div className="after">
        {value && found?.kind === 'gone' && (
          <div className="note fail" role="alert" data-testid="default-gone">
            <TriangleAlert size={14} />
            <span className="grow">
              {t(`default.gone.${found.why}`, { model: value.model, provider: value.provider })}
              {found.problem !== undefined && ` ${found.problem}`}
            </span>
            <Button look="sm" onClick={() => onFix(value.provider, found.why === 'provider')}>
              {t(`default.fix.${found.why}`)}
            </Button>
          </div>
        )}
        <Problems place="default" />
      </div>
    </section>
  )
}
