import { Search } from 'lucide-react'
import { useId, useMemo, useRef, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import type { Selection } from '../../../server/wire/messages.ts'
import type { ModelsView } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { Absent, Nothing, NotReady } from './absent.tsx'
import { EffortPart } from './effort.tsx'
import { firstOf, listing } from './listing.ts'
import type { Line } from './listing.ts'
import { PickerList, optionId } from './picker-list.tsx'
import { effortsOf, find, withEffort } from './selection.ts'

export { Effort } from './effort.tsx'

interface Props {
  models: ModelsView
  value: Selection | undefined
  /** Where `value` comes from, as a sentence; shown below its name. */
  origin: string
  filledEffort?: string | undefined
  onPick(selection: Selection): void
  onLeave(): void
  children?: ReactNode
}

/** List with search, then effort, then what the caller adds. Arrow keys move, Enter picks, Escape closes (the popover's own). */
export function ModelPicker({ models, value, origin, filledEffort, onPick, onLeave, children }: Props) {
  const t = useT()
  const id = useId()
  const [query, setQuery] = useState('')
  const { lines, keyless } = useMemo(() => listing(models, query), [models, query])
  const [at, setAt] = useState(-1)
  const input = useRef<HTMLInputElement>(null)
  const found = value && find(models, value)
  const isOn = (line: Line) =>
    line.kind === 'choice' && line.provider.id === value?.provider && line.model.id === value.model
  const pick = (line: Line) => {
    const chosen = selectionOf(line, value)
    if (chosen) onPick(chosen)
  }
  const efforts = effortsOf(found)
  return (
    <div
      className="picker"
      onKeyDown={(event) => {
        const from = at >= 0 ? at : lines.findIndex(isOn)
        const next = keyed(event, lines, from)
        if (next === undefined) return
        input.current?.focus()
        if (next === 'type') return
        event.preventDefault()
        if (next !== 'pick') return setAt(next)
        const line = lines[at]
        if (line) pick(line)
      }}
    >
      <div className="pop-search">
        <label className="field">
          <Search size={14} />
          <input
            ref={input}
            value={query}
            placeholder={t('model.find')}
            aria-label={t('model.find')}
            role="combobox"
            aria-expanded
            aria-controls={id}
            aria-autocomplete="list"
            aria-activedescendant={at >= 0 ? optionId(id, at) : undefined}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => {
              setQuery(event.target.value)
              setAt(event.target.value.trim() === '' ? -1 : firstOf(listing(models, event.target.value).lines))
            }}
          />
        </label>
      </div>
      {value && <Absent models={models} value={value} onLeave={onLeave} origin={origin} />}
      <PickerList id={id} lines={lines} at={at} origin={origin} isOn={isOn} onPick={pick}>
        {lines.length === 0 && keyless.length === 0 && <Nothing query={query} onLeave={onLeave} />}
        <NotReady keyless={keyless} searched={query.trim() !== ''} onLeave={onLeave} />
      </PickerList>
      {value && (efforts.length > 0 || value.reasoningEffort !== undefined) && found?.kind !== 'gone' && (
        <EffortPart model={{ efforts }} value={value} filled={filledEffort} onPick={onPick} />
      )}
      {children}
    </div>
  )
}

function selectionOf(line: Line, before: Selection | undefined): Selection | undefined {
  if (line.kind === 'head') return undefined
  const { provider } = line
  if (line.kind === 'choice')
    return withEffort({ provider: provider.id, model: line.model.id, efforts: line.model.efforts }, before)
  const efforts = effortsOf({ kind: 'unlisted', provider })
  return withEffort({ provider: provider.id, model: line.id, efforts }, before)
}

const PAGE = 8

/** What a key means here: another row, a pick, or a letter that belongs into the search. */
function keyed(event: KeyboardEvent, lines: readonly Line[], from: number): number | 'pick' | 'type' | undefined {
  const { key, target } = event
  if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return undefined
  const inSearch = target instanceof HTMLInputElement
  if (key === 'Enter') return inSearch ? 'pick' : undefined
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE, Home: -Infinity, End: Infinity }[key]
  if (by !== undefined) return moved(lines, from, by)
  if (inSearch || key.length !== 1 || key === ' ') return undefined
  return 'type'
}

/** Headings are passed over; the ends hold. */
function moved(lines: readonly Line[], from: number, by: number): number {
  const options = lines.flatMap((line, index) => (line.kind === 'head' ? [] : [index]))
  const place = options.indexOf(from)
  const wanted = place < 0 && Math.abs(by) === 1 ? (by > 0 ? 0 : options.length - 1) : Math.max(place, 0) + by
  return options[Math.min(options.length - 1, Math.max(0, wanted))] ?? -1
}
