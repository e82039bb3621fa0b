import { useState } from 'react'
import type { ModelFactsEdit, Price } from '../../../server/wire/models.ts'
import type { ModelView, ProviderView } from '../../../server/wire/views.ts'
import { thousands } from '../i18n/format.ts'
import { run } from '../store/actions.ts'
import { toast } from '../store/store.ts'
import { Button, Segment } from '../ui/button.tsx'
import { Modal } from '../ui/pop.tsx'
import { Problems } from '../ui/problems.tsx'
import { TextField } from './fields.tsx'
import { numberOf, numberText } from './options.ts'
import { useText } from './text.ts'

type Field = NonNullable<ModelView['edited']>[number]
type Inputs = 'given' | 'text' | 'both'

interface Values {
  contextWindow: string
  maxOutput: string
  inputs: Inputs
  in: string
  cacheRead: string
  cacheWrite: string
  out: string
}

/** What a person wrote, and nothing of the catalog: that is shown where a field is empty. */
function valuesOf(model: ModelView): Values {
  const edited = (field: Field) => model.edited?.includes(field) ?? false
  const price = edited('price') ? model.price : undefined
  return {
    contextWindow: edited('contextWindow') ? numberText(model.contextWindow) : '',
    maxOutput: edited('maxOutput') ? numberText(model.maxOutput) : '',
    inputs: edited('inputs') ? (model.inputs.includes('image') ? 'both' : 'text') : 'given',
    in: numberText(price?.in),
    cacheRead: numberText(price?.cacheRead),
    cacheWrite: numberText(price?.cacheWrite),
    out: numberText(price?.out),
  }
}

const isCount = (text: string): boolean => text.trim() === '' || /^[1-9]\d*$/.test(String(numberOf(text)))
const isMoney = (text: string): boolean => text.trim() === '' || (numberOf(text) ?? -1) >= 0

function priceOf(values: Values): Price | null {
  const [input, cacheRead, cacheWrite, out] = [values.in, values.cacheRead, values.cacheWrite, values.out].map(numberOf)
  if (input === undefined || out === undefined) return null
  return {
    in: input,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    out,
  }
}

function factsOf(values: Values): ModelFactsEdit {
  return {
    contextWindow: numberOf(values.contextWindow) ?? null,
    maxOutput: numberOf(values.maxOutput) ?? null,
    inputs: values.inputs === 'given' ? null : values.inputs === 'both' ? ['text', 'image'] : ['text'],
    price: priceOf(values),
  }
}

interface Props {
  provider: ProviderView
  model: ModelView
  onClose(): void
}

export function FactsDialog({ provider, model, onClose }: Props) {
  const t = useText()
  const [values, setValues] = useState(() => valuesOf(model))
  const set = (changes: Partial<Values>) => setValues({ ...values, ...changes })
  const place = `facts:${provider.id}/${model.id}`
  const half = (values.in.trim() === '') !== (values.out.trim() === '') || (values.in.trim() === '' && hasCache(values))
  const good =
    [values.contextWindow, values.maxOutput].every(isCount) &&
    [values.in, values.cacheRead, values.cacheWrite, values.out].every(isMoney) &&
    !half
  const send = async (facts: ModelFactsEdit | null) => {
    const args = { provider: provider.id, model: model.id, facts }
    const outcome = await run('model.facts', args, { place, retry: () => void send(facts) })
    if (!outcome.ok) return
    toast(t(facts === null ? 'facts.back' : 'saved'), { tone: 'ok' })
    onClose()
  }
  return (
    <Modal title={t('facts.title', { name: model.id })} onClose={onClose}>
      <form
        className="facts"
        onSubmit={(event) => {
          event.preventDefault()
          if (good) void send(factsOf(values))
        }}
      >
        <p className="hint">{t('facts.hint')}</p>
        <Problems place={place} />
        <Capacity model={model} values={values} set={set} />
        <PriceFields model={model} values={values} set={set} half={half} />
        <div className="flex wrap">
          <Button type="submit" look="pri" off={good ? undefined : t('facts.bad')}>
            {t('save')}
          </Button>
          <Button look="ghost" onClick={onClose}>
            {t('cancel')}
          </Button>
          {model.edited && model.edited.length > 0 && (
            <Button look="ghost danger right" onClick={() => void send(null)}>
              {t('facts.takeBack')}
            </Button>
          )}
        </div>
      </form>
    </Modal>
  )
}

const hasCache = (values: Values): boolean => values.cacheRead.trim() !== '' || values.cacheWrite.trim() !== ''

interface PartProps {
  model: ModelView
  values: Values
  set(changes: Partial<Values>): void
}

function Capacity({ model, values, set }: PartProps) {
  const t = useText()
  const given = (field: Field, value: number | undefined) =>
    value === undefined || model.edited?.includes(field) ? t('models.unknown') : thousands(value)
  return (
    <>
      <div className="pair">
        {(['contextWindow', 'maxOutput'] as const).map((field) => (
          <TextField
            key={field}
            label={t(`facts.${field}`)}
            autoFocus={field === 'contextWindow' && model.price !== undefined}
            inputMode="numeric"
            value={values[field]}
            placeholder={given(field, model[field])}
            unit={t('tokens')}
            bad={!isCount(values[field])}
            hint={isCount(values[field]) ? undefined : t('facts.count')}
            onText={(text) => set({ [field]: text })}
          />
        ))}
      </div>
      <div>
        <span className="lbl">{t('models.inputs')}</span>
        <Segment
          label={t('models.inputs')}
          value={values.inputs}
          options={(['given', 'text', 'both'] as const).map((value) => ({ value, label: t(`facts.inputs.${value}`) }))}
          onPick={(inputs) => set({ inputs })}
        />
      </div>
    </>
  )
}

function PriceFields({ model, values, set, half }: PartProps & { half: boolean }) {
  const t = useText()
  const price = model.edited?.includes('price') ? undefined : model.price
  return (
    <fieldset className="plain">
      <legend className="lbl">{t('facts.price')}</legend>
      <div className="pair four">
        {(['in', 'cacheRead', 'cacheWrite', 'out'] as const).map((field) => (
          <TextField
            key={field}
            label={t(`facts.${field}`)}
            // Without a price the dialog was most likely opened to give one.
            autoFocus={field === 'in' && model.price === undefined}
            inputMode="decimal"
            value={values[field]}
            placeholder={price?.[field] === undefined ? '–' : String(price[field])}
            unit="$"
            bad={!isMoney(values[field])}
            onText={(text) => set({ [field]: text })}
          />
        ))}
      </div>
      <p className={`hint ${half ? 'fail' : ''}`} role={half ? 'alert' : undefined}>
        {t(half ? 'facts.half' : 'facts.priceHint')}
      </p>
    </fieldset>
  )
}
