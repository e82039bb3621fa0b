import { ChevronDown, Cpu, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Selection } from '../../../server/wire/messages.ts'
import type { ModelsView } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { Switch } from '../ui/button.tsx'
import { Pop } from '../ui/pop.tsx'
import { ModelPicker } from './model-picker.tsx'
import { effortsOf, find } from './selection.ts'
import type { Effective } from './selection.ts'

/** What became of "also default": the words, and whether they are good news. */
export interface AlsoResult {
  text: string
  tone: 'ok' | 'warn' | 't3'
}

interface Props {
  models: ModelsView
  now: Effective
  look?: string
  lead?: ReactNode
  /** Result of saving the last pick as default, as the server told it. */
  saved?: AlsoResult | undefined
  /** Held by the caller where something else may open it. */
  held?: { open: boolean; onOpen(open: boolean): void }
  onPick(selection: Selection, alsoDefault: boolean): void
  /** Where nothing is saved at the pick, the switch counts after it, too. */
  onAlso?(on: boolean): void
}

/** The model of the next request. Only a gesture here picks one: showing, hiding or changing sessions never does (B11). */
export function ModelChip({ models, now, look = '', lead, saved, held, onPick, onAlso }: Props) {
  const t = useT()
  const [own, setOwn] = useState(false)
  // On for every pick unless it is turned off for this one (L-12).
  const [also, setAlso] = useState(true)
  const open = held?.open ?? own
  const setOpen = (next: boolean) => {
    if (next) setAlso(true)
    if (held) held.onOpen(next)
    else setOwn(next)
  }
  const { selection, source } = now
  const origin = t(`model.source.${source}`)
  return (
    <Pop
      open={open}
      onOpenChange={setOpen}
      title={t('model')}
      trigger={<Trigger models={models} now={now} look={look} lead={lead} />}
      width={420}
    >
      <ModelPicker
        models={models}
        value={selection}
        origin={origin}
        filledEffort={now.filledEffort}
        onPick={(picked) => onPick(picked, also)}
        onLeave={() => setOpen(false)}
      >
        <div className="pop-part">
          <span className="grow">
            <span className="m">{t('model.also')}</span>
            {saved && (
              <span className={`t12 ${saved.tone}`} role="status" style={{ display: 'block' }}>
                {saved.text}
              </span>
            )}
          </span>
          <Switch
            on={also}
            label={t('model.also')}
            onChange={(on) => {
              setAlso(on)
              onAlso?.(on)
            }}
          />
        </div>
      </ModelPicker>
    </Pop>
  )
}

/** The popover makes it its trigger, so whatever it is given besides goes to the button. */
function Trigger({
  models,
  now,
  look,
  lead,
  ...rest
}: { models: ModelsView; now: Effective; look: string; lead: ReactNode } & React.ComponentProps<'button'>) {
  const t = useT()
  const { selection, source } = now
  const found = selection && find(models, selection)
  const why = found?.kind === 'gone' ? found.why : found?.kind === 'unlisted' ? 'unlisted' : undefined
  const gone = found?.kind === 'gone'
  const effort = selection?.reasoningEffort
  return (
    <button
      type="button"
      {...rest}
      className={`chip model ${look} ${gone ? 'gone' : ''}`}
      data-testid="model-chip"
      data-source={source}
      title={t(`model.source.${source}`)}
    >
      {gone ? <TriangleAlert size={14} /> : <Cpu size={14} />}
      {lead}
      <span className="trunc">
        {!selection
          ? t('model.choose')
          : why && gone
            ? t(`model.chipGone.${why}`, { model: selection.model })
            : selection.model}
      </span>
      {effort && <span className="sub">{effort}</span>}
      {selection && !effort && effortsOf(found).length > 0 && <span className="unset">{t('effort.isUnset')}</span>}
      {selection && <span className={`from ${source}`}>{t(`model.inForce.${source}`)}</span>}
      <ChevronDown size={12} />
    </button>
  )
}
