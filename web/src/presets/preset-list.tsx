import { ArrowDown, ArrowUp } from 'lucide-react'
import { useState } from 'react'
import type { DragEvent, KeyboardEvent } from 'react'
import type { PresetRow } from '../../../server/wire/views.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import type { T } from '../i18n/i18n.ts'
import { linkTo } from '../router.ts'
import { IconButton } from '../ui/button.tsx'
import { movePreset, stepPreset } from './actions.ts'
import { presetName } from './display.ts'
import { useHasDraft } from './edit/draft.ts'
import { Marks } from './marks.tsx'

interface Props {
  presets: readonly PresetRow[]
  shown: string | undefined
  filter: string
}

/** Shipped ones and one's own, each in the order of the roster. */
export function PresetList({ presets, shown, filter }: Props) {
  const t = useT()
  const found = presets.filter((preset) => matches(preset, filter, t))
  const own = found.filter((preset) => preset.own)
  const shipped = found.filter((preset) => !preset.own)
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by === undefined || event.altKey) return
    const lines = Array.from(event.currentTarget.querySelectorAll<HTMLElement>('a.pl'))
    const next = lines[lines.indexOf(document.activeElement as HTMLElement) + by]
    event.preventDefault()
    next?.focus()
  }
  return (
    <nav className="plist" aria-label={t('presets')} onKeyDown={onKeyDown}>
      {shipped.length > 0 && <h2 className="cap">{t('presets.shipped')}</h2>}
      <ul>
        {shipped.map((preset) => (
          <li key={preset.id}>
            <Line preset={preset} on={preset.id === shown} />
          </li>
        ))}
      </ul>
      <h2 className="cap">{t('presets.own')}</h2>
      <Own presets={own} shown={shown} fixed={filter !== ''} />
      {own.length === 0 && <p className="hint">{t(filter === '' ? 'presets.noOwn' : 'presets.noMatch')}</p>}
    </nav>
  )
}

function matches(preset: PresetRow, filter: string, t: T): boolean {
  const words = filter.trim().toLowerCase()
  if (words === '') return true
  const texts = [preset.id, presetName(preset, t), preset.description ?? '', ...preset.services]
  return [...texts, ...preset.tools.map((tool) => tool.name)].some((text) => text.toLowerCase().includes(words))
}

/** One's own can be put in another order: by the buttons, with Alt and an arrow, or by dragging. */
function Own({ presets, shown, fixed }: { presets: readonly PresetRow[]; shown: string | undefined; fixed: boolean }) {
  const [dragged, setDragged] = useState<string>()
  const [over, setOver] = useState<string>()
  const end = () => {
    setDragged(undefined)
    setOver(undefined)
  }
  const drop = (to: number) => {
    if (dragged !== undefined) void movePreset(dragged, to)
    end()
  }
  return (
    <ul>
      {presets.map((preset, index) => (
        <li
          key={preset.id}
          className={`own ${over === preset.id && dragged !== preset.id ? 'over' : ''} ${dragged === preset.id ? 'dragged' : ''}`}
          draggable={!fixed}
          onDragStart={(event: DragEvent) => {
            event.dataTransfer.setData('text/plain', preset.id)
            event.dataTransfer.effectAllowed = 'move'
            setDragged(preset.id)
          }}
          onDragOver={(event) => {
            if (dragged === undefined) return
            event.preventDefault()
            setOver(preset.id)
          }}
          onDrop={(event) => {
            event.preventDefault()
            drop(index)
          }}
          onDragEnd={end}
          onKeyDown={(event) => {
            const by = { ArrowUp: -1, ArrowDown: 1 }[event.key]
            if (!event.altKey || fixed || by === undefined) return
            event.preventDefault()
            stepPreset(preset.id, by as -1 | 1)
          }}
        >
          <Line preset={preset} on={preset.id === shown} />
          {!fixed && <Steps id={preset.id} first={index === 0} last={index === presets.length - 1} />}
        </li>
      ))}
    </ul>
  )
}

function Steps({ id, first, last }: { id: string; first: boolean; last: boolean }) {
  const t = useT()
  if (first && last) return null
  return (
    <span className="steps">
      {!first && (
        <IconButton look="sm" label={t('presets.up', { id })} keys="Alt ↑" onClick={() => stepPreset(id, -1)}>
          <ArrowUp size={14} />
        </IconButton>
      )}
      {!last && (
        <IconButton look="sm" label={t('presets.down', { id })} keys="Alt ↓" onClick={() => stepPreset(id, 1)}>
          <ArrowDown size={14} />
        </IconButton>
      )}
    </span>
  )
}

function Line({ preset, on }: { preset: PresetRow; on: boolean }) {
  const t = useT()
  const name = presetName(preset, t)
  const draft = useHasDraft(preset.id)
  return (
    <a
      className="pl"
      data-testid="preset-line"
      {...linkTo({ place: 'presets', id: preset.id })}
      draggable={false}
      aria-current={on ? 'page' : undefined}
    >
      <span className="flex">
        <span className="b trunc">{name}</span>
        <span className="tag">G{preset.generation}</span>
        <span className="right flex marks">
          {preset.own && draft && <span className="tag">{t('presets.draft')}</span>}
          <Marks preset={preset} quiet />
        </span>
      </span>
      <span className="flex facts">
        <span className="trunc">{factsOf(preset, name, t)}</span>
        <span className="right num">
          {preset.tokens === undefined ? t('preset.unknown') : t('presets.tok', { n: thousands(preset.tokens) })}
        </span>
      </span>
    </a>
  )
}

function factsOf(preset: PresetRow, name: string, t: T): string {
  if (preset.broken !== undefined) return preset.broken.split('\n')[0] ?? ''
  const lines = preset.prompt === '' ? 0 : preset.prompt.split('\n').length
  const facts = [t('preset.tools', { n: preset.tools.length }), t('presets.lines', { n: lines })]
  return [...(name === preset.id ? [] : [preset.id]), ...facts].join(', ')
}
