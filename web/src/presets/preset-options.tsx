import { Search } from 'lucide-react'
import { useState } from 'react'
import type { PresetRow } from '../../../server/wire/views.ts'
import { tokens } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { Button } from '../ui/button.tsx'
import { presetAbout, presetName } from './display.ts'

interface Props {
  presets: readonly PresetRow[]
  value: string | undefined
  onPick(preset: string): void
}

/** Rows in the page at once; a filter finds the others. */
const SHOWN = 40
/** Fewer are seen at a glance. */
export const FILTER_FROM = 8

/** By id, name, description, tools: all that a card says. */
export function matches(preset: PresetRow, query: string): boolean {
  const words = query.trim().toLowerCase()
  if (words === '') return true
  const texts = [preset.id, preset.name, preset.description, ...preset.tools.map((tool) => tool.name)]
  return texts.some((text) => text?.toLowerCase().includes(words))
}

/** Broken and waiting presets stay in the list with their reason and cannot be picked. */
export function PresetOptions({ presets, value, onPick }: Props) {
  const t = useT()
  const [query, setQuery] = useState('')
  const [limit, setLimit] = useState(SHOWN)
  const found = presets.filter((preset) => matches(preset, query))
  const shown = found.slice(0, limit)
  return (
    <>
      {presets.length >= FILTER_FROM && <PresetFilter query={query} onChange={setQuery} />}
      <div className="opts" role="listbox" aria-label={t('preset')}>
        {shown.map((preset) => (
          <Option key={preset.id} preset={preset} on={preset.id === value} onPick={onPick} />
        ))}
        {found.length === 0 && <p className="t3 t12 opt-none">{t('preset.noMatch', { query })}</p>}
      </div>
      {shown.length < found.length && (
        <div className="pop-part">
          <span className="t3 t12">{t('preset.shown', { shown: shown.length, total: found.length })}</span>
          <Button look="ghost sm right" onClick={() => setLimit(limit + SHOWN)}>
            {t('card.showMore')}
          </Button>
        </div>
      )}
    </>
  )
}

export function PresetFilter({ query, onChange }: { query: string; onChange(query: string): void }) {
  const t = useT()
  return (
    <div className="pop-search">
      <label className="field">
        <Search size={14} />
        <input
          value={query}
          placeholder={t('preset.find')}
          aria-label={t('preset.find')}
          data-testid="preset-filter"
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
    </div>
  )
}

function Option({ preset, on, onPick }: { preset: PresetRow; on: boolean; onPick(id: string): void }) {
  const t = useT()
  const off = preset.broken !== undefined
  const name = presetName(preset, t)
  return (
    <button
      type="button"
      role="option"
      aria-selected={on}
      aria-disabled={off || undefined}
      className={`opt ${on ? 'on' : ''}`}
      onClick={() => off || onPick(preset.id)}
    >
      <span className={`radio ${on ? 'on' : off ? 'gone' : ''}`} />
      <span className="grow">
        <span className="nm trunc">
          {preset.id}
          {name !== preset.id && <span className="t3"> {name}</span>}
        </span>
        <span className={`sub ${off ? (preset.waiting ? 'warn' : 'fail') : ''}`}>
          {preset.broken ?? (presetAbout(preset, t) || t('preset.tools', { n: preset.tools.length }))}
        </span>
      </span>
      {preset.tokens !== undefined && !off && <span className="t3 t12 num">{tokens(preset.tokens)}</span>}
    </button>
  )
}
