import { ArrowDown, ArrowUp, Copy, Download, Ellipsis, Star, StarOff, Trash2 } from 'lucide-react'
import type { PresetRow } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import type { Key, T } from '../i18n/i18n.ts'
import { linkTo } from '../router.ts'
import type { PresetTab } from '../router.ts'
import { IconButton } from '../ui/button.tsx'
import { Menu } from '../ui/pop.tsx'
import type { MenuEntry } from '../ui/pop.tsx'
import { Problems } from '../ui/problems.tsx'
import { deletePreset, exportPreset, makeDefault, placeOf, stepPreset } from './actions.ts'
import { openPresetDialog } from './dialogs.ts'
import { DocumentTab } from './document.tsx'
import { useHasDraft } from './edit/draft.ts'
import { EditTab } from './edit/edit.tsx'
import { Generations } from './generations.tsx'
import { Gives } from './gives.tsx'
import { Health } from './health.tsx'
import { troubles } from './marks.tsx'

const TABS: readonly { tab: PresetTab | undefined; label: Key; ownOnly?: true }[] = [
  { tab: undefined, label: 'presets.gives' },
  { tab: 'document', label: 'preset.document' },
  { tab: 'edit', label: 'presets.edit', ownOnly: true },
  { tab: 'generations', label: 'presets.generations' },
  { tab: 'health', label: 'presets.health' },
]

export function Detail({ preset, tab }: { preset: PresetRow; tab: PresetTab | undefined }) {
  const t = useT()
  const draft = useHasDraft(preset.id)
  const shown = tab === 'edit' && !preset.own ? 'document' : tab
  return (
    <main className="pdetail">
      <div className="ptabs">
        <nav aria-label={t('presets.views')}>
          {TABS.filter(({ ownOnly }) => preset.own || !ownOnly).map(({ tab: each, label }) => (
            <a
              key={label}
              className="ptab"
              aria-current={each === shown ? 'page' : undefined}
              {...linkTo(
                each === undefined
                  ? { place: 'presets', id: preset.id }
                  : { place: 'presets', id: preset.id, tab: each },
              )}
            >
              {t(label)}
              {each === 'health' && <Count preset={preset} />}
              {each === 'edit' && draft && <span className="count">{t('presets.draft')}</span>}
            </a>
          ))}
        </nav>
        <span className="right flex">
          <span className="mono-s t3 trunc wide-only">{preset.id}.yml</span>
          <More preset={preset} />
        </span>
      </div>
      {shown === 'edit' ? (
        <EditTab key={preset.id} preset={preset} />
      ) : (
        <div className="cont">
          <Problems place={placeOf(preset.id)} />
          <Page preset={preset} tab={shown} />
        </div>
      )}
    </main>
  )
}

function Page({ preset, tab }: { preset: PresetRow; tab: Exclude<PresetTab, 'edit'> | undefined }) {
  switch (tab) {
    case undefined:
      return <Gives preset={preset} />
    case 'document':
      return <DocumentTab preset={preset} />
    case 'generations':
      return <Generations preset={preset} />
    case 'health':
      return <Health preset={preset} />
  }
}

function Count({ preset }: { preset: PresetRow }) {
  const count = troubles(preset)
  if (count === 0) return null
  return <span className={`count ${preset.broken === undefined || preset.waiting ? '' : 'fail'}`}>{count}</span>
}

function More({ preset }: { preset: PresetRow }) {
  const t = useT()
  const trigger = (
    <IconButton bare label={t('presets.more')} data-testid="preset-more">
      <Ellipsis size={16} />
    </IconButton>
  )
  return <Menu trigger={trigger} entries={entriesOf(preset, t)} />
}

function entriesOf(preset: PresetRow, t: T): (MenuEntry | null)[] {
  const { id, own } = preset
  const back = { label: t('presets.resetDefault'), icon: <StarOff size={14} />, run: () => void makeDefault(null) }
  const make = { label: t('presets.makeDefault'), icon: <Star size={14} />, run: () => void makeDefault(id) }
  return [
    { label: t('presets.copy'), icon: <Copy size={14} />, run: () => openPresetDialog({ kind: 'copy', from: id }) },
    { label: t('presets.export'), icon: <Download size={14} />, run: () => void exportPreset(id) },
    preset.isDefault ? back : make,
    ...(own
      ? [
          null,
          { label: t('presets.moveUp'), icon: <ArrowUp size={14} />, run: () => stepPreset(id, -1) },
          { label: t('presets.moveDown'), icon: <ArrowDown size={14} />, run: () => stepPreset(id, 1) },
          null,
          { label: t('presets.delete'), icon: <Trash2 size={14} />, danger: true, run: () => void deletePreset(id) },
        ]
      : []),
  ]
}
