import { useState } from 'react'
import type { Budget } from '../../../server/wire/models.ts'
import type { Selection } from '../../../server/wire/messages.ts'
import type { GlobalState } from '../../../server/wire/views.ts'
import { Effort } from '../models/model-picker.tsx'
import { find } from '../models/selection.ts'
import { run } from '../store/actions.ts'
import { toast, useApp } from '../store/store.ts'
import { Button, Segment } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { PickModel } from './default-model.tsx'
import { TextField, useDraft } from './fields.tsx'
import { HostFaults } from './host-faults.tsx'
import { Skeleton } from './models.tsx'
import { numberOf, numberText } from './options.ts'
import { useText } from './text.ts'

export function SessionSettings() {
  const global = useApp((app) => app.global)
  if (!global) return <Skeleton />
  return (
    <>
      <HostFaults rows={['session-controller']} />
      <Budgets budget={global.sessionSettings.budget} />
      <Titles global={global} />
    </>
  )
}

const isLimit = (text: string): boolean => text.trim() === '' || (numberOf(text) ?? 0) > 0

function Budgets({ budget }: { budget: Budget }) {
  const t = useText()
  const { value, changed, set, drop } = useDraft({ session: numberText(budget.session), day: numberText(budget.day) })
  const good = isLimit(value.session) && isLimit(value.day)
  const save = async () => {
    const args = { session: numberOf(value.session) ?? null, day: numberOf(value.day) ?? null }
    const outcome = await run('budget.save', args, { place: 'budget', retry: () => void save() })
    if (!outcome.ok) return
    drop()
    toast(t('saved'), { tone: 'ok' })
  }
  return (
    <section id="budget">
      <div className="hd">
        <div>
          <h2>{t('budget')}</h2>
          <p>{t('budget.about')}</p>
        </div>
      </div>
      <form
        className="card padded stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (changed && good) void save()
        }}
      >
        <div className="pair">
          {(['session', 'day'] as const).map((which) => (
            <TextField
              key={which}
              label={t(`budget.${which}`)}
              inputMode="decimal"
              value={value[which]}
              placeholder={t('budget.none')}
              unit="US $"
              bad={!isLimit(value[which])}
              hint={t(isLimit(value[which]) ? `budget.${which}.about` : 'budget.bad')}
              onText={(text) => set({ [which]: text })}
            />
          ))}
        </div>
        <Problems place="budget" />
        {changed && (
          <div className="flex">
            <Button type="submit" look="pri" off={good ? undefined : t('budget.bad')}>
              {t('save')}
            </Button>
            <Button look="ghost" onClick={drop}>
              {t('cancel')}
            </Button>
          </div>
        )}
      </form>
    </section>
  )
}

type Writer = 'prompt' | 'model'

function Titles({ global }: { global: GlobalState }) {
  const t = useText()
  const { models, sessionSettings } = global
  const value = sessionSettings.titles
  // "By a model" is chosen before the model is: until then nothing is saved.
  const [choosing, setChoosing] = useState(false)
  const writer: Writer = value || choosing ? 'model' : 'prompt'
  const found = value && find(models, value)
  const save = async (selection: Selection | null) => {
    const outcome = await run('titles.save', { selection }, { place: 'titles', retry: () => void save(selection) })
    if (!outcome.ok) return
    setChoosing(false)
    toast(t('saved'), { tone: 'ok' })
  }
  return (
    <section id="titles">
      <div className="hd">
        <div>
          <h2>{t('titles')}</h2>
          <p>{t('titles.about')}</p>
        </div>
      </div>
      <div className="card padded stack">
        <Segment
          label={t('titles')}
          value={writer}
          options={(['prompt', 'model'] as const).map((name) => ({ value: name, label: t(`titles.${name}`) }))}
          onPick={(next) => {
            setChoosing(next === 'model')
            if (next === 'prompt' && value) void save(null)
          }}
        />
        {writer === 'model' && (
          <div className="pair">
            <div>
              <span className="lbl">{t('model')}</span>
              <PickModel
                models={models}
                value={value}
                title={t('titles.by')}
                origin={t('titles.isWriter')}
                testId="titles-model"
                onPick={(selection) => void save(selection)}
              />
            </div>
            {value && found?.kind === 'listed' && found.model.efforts.length > 0 && (
              <div>
                <span className="lbl">{t('effort')}</span>
                <Effort model={found.model} value={value} onPick={(selection) => void save(selection)} />
              </div>
            )}
          </div>
        )}
        <p className="hint">{t(writer === 'model' ? 'titles.model.about' : 'titles.prompt.about')}</p>
        {value && found?.kind === 'gone' && (
          <p className="hint fail" role="alert">
            {t(`default.gone.${found.why}`, { model: value.model, provider: value.provider })} {t('titles.gone')}
          </p>
        )}
        <Problems place="titles" />
      </div>
    </section>
  )
}
