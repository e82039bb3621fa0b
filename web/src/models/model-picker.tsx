import { Search } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import type { Selection } from '../../../server/wire/messages.ts'
import type { ModelView, ModelsView } from '../../../server/wire/views.ts'
import { tokens } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import type { T } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import { Button, Segment } from '../ui/button.tsx'
import { choices, find } from './selection.ts'
import type { Choice } from './selection.ts'

interface Props {
  models: ModelsView
  value: Selection | undefined
  /** Where `value` comes from, as a sentence; shown below its name. */
  origin: string
  onPick(selection: Selection): void
  onLeave(): void
  children?: ReactNode
}

/** List with search, then effort, then what the caller adds. Arrow keys move, Enter picks, Escape closes (the popover's own). */
export function ModelPicker({ models, value, origin, onPick, onLeave, children }: Props) {
  const t = useT()
  const [query, setQuery] = useState('')
  const list = useMemo(() => choices(models, query), [models, query])
  const [at, setAt] = useState<number>()
  const box = useRef<HTMLDivElement>(null)
  const found = value && find(models, value)
  const isValue = ({ provider, model }: Choice) => provider.id === value?.provider && model.id === value.model
  const pick = ({ provider, model }: Choice) => onPick(withEffort(provider.id, model, value))
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) {
      event.preventDefault()
      const next = Math.max(0, Math.min(list.length - 1, (at ?? list.findIndex(isValue)) + by))
      setAt(next)
      box.current?.querySelectorAll('[role=option]')[next]?.scrollIntoView({ block: 'nearest' })
    }
    const choice = list[at ?? -1]
    if (event.key === 'Enter' && choice) pick(choice)
  }
  return (
    <>
      <div className="pop-search">
        <label className="field">
          <Search size={14} />
          <input
            value={query}
            placeholder={t('model.find')}
            aria-label={t('model.find')}
            role="combobox"
            aria-expanded
            aria-controls="model-options"
            onChange={(event) => {
              setQuery(event.target.value)
              setAt(0)
            }}
            onKeyDown={onKeyDown}
          />
        </label>
      </div>
      {value && found && found.kind !== 'listed' && (
        <Absent models={models} value={value} onLeave={onLeave} origin={origin} />
      )}
      <div className="opts" role="listbox" id="model-options" aria-label={t('model')} ref={box}>
        {list.map((choice, index) => (
          <Option
            key={`${choice.provider.id}/${choice.model.id}`}
            choice={choice}
            on={isValue(choice)}
            at={index === at}
            origin={origin}
            onPick={() => pick(choice)}
          />
        ))}
        {list.length === 0 && <Nothing query={query} onLeave={onLeave} />}
      </div>
      {value && found?.kind === 'listed' && found.model.efforts.length > 0 && (
        <div className="pop-part">
          <span className="m">{t('effort')}</span>
          <span className="right" />
          <Effort model={found.model} value={value} onPick={onPick} />
        </div>
      )}
      {children}
    </>
  )
}

/** A picked effort stays with a model that offers it, and is dropped by one that does not. */
function withEffort(provider: string, model: ModelView, before: Selection | undefined): Selection {
  const effort = before?.reasoningEffort
  const kept = effort !== undefined && model.efforts.some((candidate) => candidate.id === effort)
  return { provider, model: model.id, ...(kept && { reasoningEffort: effort }) }
}

const UNSET = ''

export function Effort({
  model,
  value,
  onPick,
}: {
  model: ModelView
  value: Selection
  onPick(selection: Selection): void
}) {
  const t = useT()
  const own = model.efforts.find((effort) => effort.default)
  const title = own ? t('effort.unsetDefault', { effort: own.id }) : t('effort.unsetTitle')
  const options = [
    { value: UNSET, label: <span className="unset">{t('effort.unset')}</span>, title },
    ...model.efforts.map((effort) => ({ value: effort.id, label: effort.id })),
  ]
  return (
    <Segment
      label={t('effort')}
      value={value.reasoningEffort ?? UNSET}
      options={options}
      onPick={(effort) => {
        const { provider, model: id } = value
        onPick({ provider, model: id, ...(effort !== UNSET && { reasoningEffort: effort }) })
      }}
    />
  )
}

function Option({
  choice,
  on,
  at,
  origin,
  onPick,
}: {
  choice: Choice
  on: boolean
  at: boolean
  origin: string
  onPick(): void
}) {
  const t = useT()
  const { provider, model } = choice
  const { problem } = provider
  return (
    <button
      type="button"
      role="option"
      aria-selected={on}
      className={`opt ${on ? 'on' : ''} ${at ? 'at' : ''}`}
      onClick={onPick}
    >
      <span className={`radio ${on ? 'on' : ''}`} />
      <span className="grow">
        <span className="nm trunc">{model.id}</span>
        <span className={`sub trunc ${problem === undefined ? '' : 'fail'}`}>
          {[on && origin, provider.label, problem ?? factsOf(t, model)].filter(Boolean).join(' · ')}
        </span>
      </span>
    </button>
  )
}

export function factsOf(t: T, model: ModelView): string {
  const window = model.contextWindow === undefined ? '' : tokens(model.contextWindow)
  const price = model.price ? t('model.price', { in: model.price.in, out: model.price.out }) : ''
  return [window, price].filter(Boolean).join(', ')
}

/** The model in effect where no list offers it. It stands above the list: what is inside an option cannot be pressed. */
function Absent({
  models,
  value,
  origin,
  onLeave,
}: {
  models: ModelsView
  value: Selection
  origin: string
  onLeave(): void
}) {
  const t = useT()
  const found = find(models, value)
  const gone = found.kind === 'gone'
  const why = gone ? (found.problem ?? t(`model.gone.${found.why}`)) : t('model.unlisted')
  return (
    <div className="opt absent" role="status">
      <span className={`radio ${gone ? 'gone' : 'on'}`} />
      <span className="grow">
        <span className="nm trunc">
          {value.provider}/{value.model}
        </span>
        <span className={`sub ${gone ? 'fail' : ''}`}>{[origin, why].filter(Boolean).join(' · ')}</span>
      </span>
      {gone && (
        <Button
          onClick={() => {
            onLeave()
            navigate({ place: 'settings', page: 'models' })
          }}
        >
          {t('model.fix')}
        </Button>
      )}
    </div>
  )
}

function Nothing({ query, onLeave }: { query: string; onLeave(): void }) {
  const t = useT()
  return (
    <div className="empty">
      <p>{query.trim() === '' ? t('model.noneYet') : t('model.noMatch', { query })}</p>
      <Button
        onClick={() => {
          onLeave()
          navigate({ place: 'settings', page: 'models' })
        }}
      >
        {t('problem.models')}
      </Button>
    </div>
  )
}
