import { ChevronDown, Cpu, Plus } from 'lucide-react'
import { useState } from 'react'
import type { Selection } from '../../../server/wire/messages.ts'
import type { ModelsView } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { Effort, ModelPicker } from '../models/model-picker.tsx'
import { find } from '../models/selection.ts'
import { run } from '../store/actions.ts'
import { toast, useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Pop } from '../ui/pop.tsx'
import { Problems } from '../ui/problems.tsx'
import { ProviderForm } from './provider-form.tsx'
import { ProviderRow } from './provider-row.tsx'

export function ModelSettings() {
  const t = useT()
  const models = useApp((app) => app.global?.models)
  const [adding, setAdding] = useState(false)
  const [open, setOpen] = useState<string>()
  if (!models) return <div className="card" style={{ height: 320 }} aria-busy="true" />
  return (
    <>
      <DefaultModel models={models} />
      <section>
        <div className="hd">
          <div>
            <h2>{t('providers')}</h2>
            <p>{t('providers.writeOnly')}</p>
          </div>
          <span className="right" />
          <Button data-testid="add-provider" onClick={() => setAdding(true)}>
            <Plus size={14} />
            {t('providers.add')}
          </Button>
        </div>
        <div className="card rows" style={{ overflow: 'hidden' }}>
          {adding && (
            <ProviderForm
              onDone={(id) => {
                setAdding(false)
                if (id !== undefined) setOpen(id)
              }}
            />
          )}
          {models.providers.map((provider) => (
            <ProviderRow
              key={provider.id}
              provider={provider}
              open={open === provider.id}
              onToggle={() => setOpen(open === provider.id ? undefined : provider.id)}
            />
          ))}
        </div>
      </section>
    </>
  )
}

function DefaultModel({ models }: { models: ModelsView }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const value = models.default
  const found = value && find(models, value)
  const listed = found?.kind === 'listed' ? found : undefined
  const own = listed?.model.efforts.find((effort) => effort.default)
  const pick = async (selection: Selection) => {
    const outcome = await run('model.default', selection, { place: 'default' })
    if (outcome.ok) toast(t('model.defaultSaved'), { tone: 'ok' })
  }
  const trigger = (
    <button type="button" className="field" style={{ width: '100%' }} data-testid="default-model">
      <Cpu size={14} />
      <span className={value ? 'mono trunc' : 't3'}>{value?.model ?? t('model.choose')}</span>
      <span className="t3 t12 right trunc">{value?.provider}</span>
      <ChevronDown size={12} />
    </button>
  )
  return (
    <section>
      <div className="hd">
        <div>
          <h2>{t('model.default')}</h2>
          <p>{t('model.defaultUse')}</p>
        </div>
      </div>
      <div className="card dm">
        <div>
          <span className="lbl">{t('model')}</span>
          <Pop open={open} onOpenChange={setOpen} title={t('model.default')} trigger={trigger} width={420}>
            <ModelPicker
              models={models}
              value={value}
              origin={t('model.isDefault')}
              onPick={(selection) => void pick(selection)}
              onLeave={() => setOpen(false)}
            />
          </Pop>
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
      </div>
      <div className="after">
        <Problems place="default" />
      </div>
    </section>
  )
}
