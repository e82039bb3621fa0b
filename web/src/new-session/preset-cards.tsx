import { Check, CircleX, Clock, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { KeyboardEvent } from 'react'
import type { PresetRow } from '../../../server/wire/views.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { presetAbout, presetName } from '../presets/display.ts'
import { FILTER_FROM, PresetFilter, matches } from '../presets/preset-options.tsx'
import { Button } from '../ui/button.tsx'
import { usable } from './state.ts'

const SHOWN_TOOLS = 4
/** Cards in the page at once: with two hundred presets one filters. */
const SHOWN = 24
/** Characters of the prompt on a card; two lines hold fewer. */
const EXCERPT = 200

interface Props {
  presets: readonly PresetRow[]
  value: string | undefined
  onPick(id: string): void
}

/** What a preset is made of and costs, before it is picked. */
export function PresetCards({ presets, value, onPick }: Props) {
  const t = useT()
  const [query, setQuery] = useState('')
  const [limit, setLimit] = useState(SHOWN)
  const found = presets.filter((preset) => matches(preset, query))
  const shown = found.filter((preset, index) => index < limit || preset.id === value)
  const dearest = Math.max(1, ...presets.map((preset) => preset.tokens ?? 0))
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (by === undefined) return
    const cards = Array.from(event.currentTarget.querySelectorAll<HTMLElement>('[role=radio]'))
    const next = cards[cards.indexOf(document.activeElement as HTMLElement) + by]
    event.preventDefault()
    next?.focus()
  }
  return (
    <>
      {presets.length > FILTER_FROM && <PresetFilter query={query} onChange={setQuery} />}
      <div className="pgrid" role="radiogroup" aria-label={t('presets')} onKeyDown={onKeyDown}>
        {shown.map((preset) => (
          <PresetCard key={preset.id} preset={preset} on={preset.id === value} dearest={dearest} onPick={onPick} />
        ))}
      </div>
      {found.length === 0 && <p className="t3 t12 opt-none">{t('preset.noMatch', { query })}</p>}
      {shown.length < found.length && (
        <div className="flex t3 t12" style={{ marginTop: 12 }}>
          {t('preset.shown', { shown: shown.length, total: found.length })}
          <Button look="ghost" onClick={() => setLimit(limit + SHOWN * 2)}>
            {t('card.showMore')}
          </Button>
        </div>
      )}
    </>
  )
}

interface CardProps {
  preset: PresetRow
  on: boolean
  dearest: number
  onPick(id: string): void
}

function PresetCard({ preset, on, dearest, onPick }: CardProps) {
  const t = useT()
  const off = !usable(preset)
  const more = preset.tools.length - SHOWN_TOOLS
  return (
    <button
      type="button"
      role="radio"
      aria-checked={on}
      aria-disabled={off || undefined}
      className="pc"
      data-testid="preset-card"
      onClick={() => off || onPick(preset.id)}
    >
      <span className="flex">
        <span className="b trunc">{presetName(preset, t)}</span>
        <span className="tag">G{preset.generation}</span>
        {preset.own && <span className="tag line">{t('preset.yours')}</span>}
        {preset.isDefault && <span className="tag line">{t('preset.default')}</span>}
        <span className="right">{on ? <Picked /> : off && <State preset={preset} />}</span>
      </span>
      <span className="d">{presetAbout(preset, t)}</span>
      {off ? (
        <span className="why">{preset.broken}</span>
      ) : (
        <span className="tools">
          {preset.tools.slice(0, SHOWN_TOOLS).map((tool) => (
            <span key={tool.name} className="tag mono-s">
              {tool.name}
            </span>
          ))}
          {more > 0 && <span className="cap">{t('preset.more', { n: more })}</span>}
          {preset.tools.length === 0 && <span className="cap">{t('preset.noTools')}</span>}
        </span>
      )}
      {!off && <Inside preset={preset} />}
      <Worries preset={preset} />
      <Cost tokens={preset.tokens} dearest={dearest} />
    </button>
  )
}

/** How the prompt begins, and what lives inside the preset only. */
function Inside({ preset }: { preset: PresetRow }) {
  const t = useT()
  const begins = preset.prompt.slice(0, EXCERPT).replaceAll(/\s+/g, ' ').trim()
  return (
    <>
      {begins !== '' && <span className="says mono-s">{begins}</span>}
      {preset.services.length > 0 && (
        <span className="cap">{t('preset.services', { names: preset.services.join(', ') })}</span>
      )}
    </>
  )
}

/** What is wrong with the document while its last good generation still works. */
function Worries({ preset: { stale, notices = [] } }: { preset: PresetRow }) {
  const t = useT()
  return (
    <>
      {stale && (
        <span className="worry">
          <TriangleAlert size={12} />
          <span>
            {stale.line === undefined ? t('preset.stale') : t('preset.staleAt', { line: stale.line })} {stale.message}
          </span>
        </span>
      )}
      {notices.map((notice) => (
        <span key={notice} className="worry">
          <TriangleAlert size={12} />
          <span>{notice}</span>
        </span>
      ))}
    </>
  )
}

const Picked = () => (
  <span className="check">
    <Check size={12} />
  </span>
)

function State({ preset }: { preset: PresetRow }) {
  const t = useT()
  if (preset.waiting)
    return (
      <span className="tag warn">
        <Clock size={12} />
        {t('preset.waiting')}
      </span>
    )
  return (
    <span className="tag fail">
      <CircleX size={12} />
      {t('preset.broken')}
    </span>
  )
}

export function Cost({ tokens, dearest }: { tokens: number | undefined; dearest: number }) {
  const t = useT()
  return (
    <span className="cost">
      <span className="track">
        <i style={{ width: `${tokens === undefined ? 0 : Math.max(3, (tokens / dearest) * 100)}%` }} />
      </span>
      <span className="num m">{tokens === undefined ? t('preset.unknown') : thousands(tokens)}</span>
      <span className="t3 trunc">{t(tokens === undefined ? 'preset.untilLoads' : 'preset.before')}</span>
    </span>
  )
}
