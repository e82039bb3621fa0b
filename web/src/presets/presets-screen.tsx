import { ArrowLeft, FileUp, Plus, Search } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { PresetRow } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import type { T } from '../i18n/i18n.ts'
import { linkTo } from '../router.ts'
import type { PresetTab } from '../router.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { useMedia, usePhone, useTitle } from '../ui/hooks.ts'
import { Problems } from '../ui/problems.tsx'
import { RailButton } from '../ui/rail-button.tsx'
import { firstOf } from './actions.ts'
import { CopyDialog } from './copy-dialog.tsx'
import { Detail } from './detail.tsx'
import { openPresetDialog, usePresetDialogs } from './dialogs.ts'
import { ImportDialog, importDropped } from './import-dialog.tsx'
import { standingOf } from './marks.tsx'
import { PresetList } from './preset-list.tsx'

interface Props {
  id?: string | undefined
  tab?: PresetTab | undefined
}

export function PresetsScreen({ id, tab }: Props) {
  const t = useT()
  const presets = useApp((app) => app.global?.presets)
  const phone = usePhone()
  const narrow = useMedia('(max-width: 1180px)')
  const [filter, setFilter] = useState('')
  const shown = id === undefined ? (phone ? undefined : firstOf(presets ?? [])) : presets?.find((row) => row.id === id)
  useTitle(id ?? t('presets'))
  const list = !(phone && id !== undefined) && !(narrow && tab === 'edit')
  return (
    <div
      className="main"
      onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={(event) => {
        const file = event.dataTransfer.files[0]
        if (!file || event.defaultPrevented) return
        event.preventDefault()
        void importDropped(file)
      }}
    >
      <Top presets={presets} id={list ? undefined : id} filter={filter} onFilter={setFilter} />
      <div className="top-problems">
        <Problems place="presets" />
      </div>
      <div className={`two presets ${list ? '' : 'alone'} ${shown || id !== undefined ? '' : 'only-list'}`}>
        {!presets && <ListBones />}
        {presets && list && <PresetList presets={presets} shown={shown?.id} filter={filter} />}
        {presets && shown && <Detail preset={shown} tab={tab} />}
        {presets && id !== undefined && !shown && <NotHere id={id} />}
      </div>
      <Dialogs />
    </div>
  )
}

interface TopProps {
  presets: readonly PresetRow[] | undefined
  /** On a small screen: the one preset in view, with the way back. */
  id: string | undefined
  filter: string
  onFilter(text: string): void
}

function Top({ presets, id, filter, onFilter }: TopProps) {
  const t = useT()
  return (
    <header className="head">
      {id === undefined ? (
        <RailButton />
      ) : (
        <a className="ib" aria-label={t('presets.all')} {...linkTo({ place: 'presets' })} data-testid="all-presets">
          <ArrowLeft size={16} />
        </a>
      )}
      <h1 className="trunc">{id ?? t('presets')}</h1>
      {id === undefined && <span className="t3 t12 trunc wide-only">{presets && countsOf(presets, t)}</span>}
      <span className="right flex">
        {id === undefined && (
          <span className="field find">
            <Search size={14} />
            <input
              type="search"
              value={filter}
              aria-label={t('presets.find')}
              placeholder={t('presets.find')}
              data-testid="preset-filter"
              onChange={(event) => onFilter(event.target.value)}
            />
          </span>
        )}
        <Button look="icon-phone" aria-label={t('presets.import')} onClick={() => openPresetDialog({ kind: 'import' })}>
          <FileUp size={14} />
          <span className="w">{t('presets.import')}</span>
        </Button>
        <Button
          look="pri icon-phone"
          aria-label={t('presets.new')}
          data-testid="new-preset"
          onClick={() => openPresetDialog({ kind: 'copy' })}
        >
          <Plus size={14} />
          <span className="w">{t('presets.new')}</span>
        </Button>
      </span>
    </header>
  )
}

function countsOf(presets: readonly PresetRow[], t: T): string {
  const counts = { ready: 0, waiting: 0, broken: 0 }
  for (const preset of presets) counts[standingOf(preset)]++
  const parts = (['ready', 'waiting', 'broken'] as const).filter((key) => counts[key] > 0)
  const text = parts.map((key) => t(`presets.count.${key}`, { n: counts[key] })).join(', ')
  return t('presets.counts', { n: presets.length, parts: text })
}

function Dialogs(): ReactNode {
  const dialog = usePresetDialogs((dialogs) => dialogs.dialog)
  switch (dialog?.kind) {
    case undefined:
      return null
    case 'copy':
      return <CopyDialog from={dialog.from} />
    case 'import':
      return <ImportDialog text={dialog.text} file={dialog.file} />
  }
}

function NotHere({ id }: { id: string }) {
  const t = useT()
  return (
    <main className="empty">
      <h2>{t('preset.notHere', { id })}</h2>
      <p>{t('presets.goneWhy')}</p>
      <div className="flex">
        <a className="btn" {...linkTo({ place: 'presets' })}>
          {t('presets.all')}
        </a>
      </div>
    </main>
  )
}

const ListBones = () => (
  <>
    <div className="plist" aria-busy="true">
      {[0, 1, 2].map((index) => (
        <div key={index} className="skel" style={{ height: 54 }} />
      ))}
    </div>
    <main className="cont" aria-busy="true">
      <div className="in">
        <div className="skel" style={{ height: 28, width: '40%' }} />
        <div className="skel" style={{ height: 168 }} />
      </div>
    </main>
  </>
)
