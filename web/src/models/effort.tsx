import type { Selection } from '../../../server/wire/messages.ts'
import type { ModelView } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { Segment } from '../ui/button.tsx'

const UNSET = ''

interface EffortProps {
  model: Pick<ModelView, 'efforts'>
  value: Selection
  onPick(selection: Selection): void
}

/** Unset is a choice of its own and looks it: nothing is sent, which is not the same as sending the provider's default. */
export function Effort({ model, value, onPick }: EffortProps) {
  const t = useT()
  const own = model.efforts.find((effort) => effort.default)
  const title = own ? t('effort.unsetDefault', { effort: own.id }) : t('effort.unsetTitle')
  const asked = value.reasoningEffort
  const listed = model.efforts.map((effort) => effort.id)
  // One that the model does not offer any more is still what the next request would ask for.
  const ids = asked === undefined || listed.includes(asked) ? listed : [...listed, asked]
  const options = [
    { value: UNSET, label: <span className="unset">{t('effort.unset')}</span>, title },
    ...ids.map((id) => ({ value: id, label: id })),
  ]
  return (
    <Segment
      label={t('effort')}
      value={asked ?? UNSET}
      options={options}
      onPick={(effort) => {
        const { provider, model: id } = value
        onPick({ provider, model: id, ...(effort !== UNSET && { reasoningEffort: effort }) })
      }}
    />
  )
}

interface PartProps extends EffortProps {
  /** What the last request got where nothing was asked for. */
  filled?: string | undefined
}

export function EffortPart({ model, value, filled, onPick }: PartProps) {
  const t = useT()
  const today = filled ?? model.efforts.find((effort) => effort.default)?.id
  const unset = value.reasoningEffort === undefined
  const words = !unset ? t('effort.sent') : today ? t('effort.decidesToday', { effort: today }) : t('effort.decides')
  return (
    <div className="pop-part">
      <span className="grow effort-words">
        <span className="m">{t('effort')}</span>
        <span className="t12 t3" data-testid="effort-words">
          {words}
        </span>
      </span>
      <Effort model={model} value={value} onPick={onPick} />
    </div>
  )
}
