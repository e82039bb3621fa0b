import { ChevronDown, CircleArrowUp, GitFork, Layers, Lock } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { GenerationRef } from '../../../server/wire/presets.ts'
import type { PresetRow } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import { run } from '../store/actions.ts'
import type { OpenSession } from '../store/session-view.ts'
import { openOverlay, useApp } from '../store/store.ts'
import { useSwitching } from '../store/switching-state.ts'
import { switchPreset } from '../store/switching.ts'
import { Button } from '../ui/button.tsx'
import { Pop } from '../ui/pop.tsx'
import { PresetOptions } from './preset-options.tsx'

/** The generation that the live agent uses, as far as it belongs to the preset shown. */
export const generationOf = ({ composition }: OpenSession, preset: string): GenerationRef | undefined =>
  composition?.preset === preset ? composition : undefined

/** While a session is blank the preset can be switched; afterwards it is locked and says why. */
export function PresetChip({ view }: { view: OpenSession }) {
  const { state } = view
  const asked = useSwitching((switching) => switching.asked[state.id])
  const presets = useApp((app) => app.global?.presets)
  const id = asked ?? state.preset.current
  if (!presets || id === null) return null
  const held = generationOf(view, id)
  const row = presets.find((preset) => preset.id === id)
  const newer = row && held && row.generation > held.generation ? row : undefined
  const facts = { id, held, newer, session: state.id }
  const blank = state.lastTurn === 0 && state.openTurn === null
  return blank ? <Switch {...facts} presets={presets} /> : <Locked {...facts} />
}

interface Facts {
  id: string
  session: string
  held: GenerationRef | undefined
  /** The preset, when new sessions get a newer generation of it than this one holds. */
  newer: PresetRow | undefined
}

function Label({ id, held, newer }: Facts) {
  const t = useT()
  return (
    <>
      <Layers size={14} />
      <span className="trunc">{id}</span>
      {held && (
        <span className="sub num" data-testid="generation">
          G{held.generation}
        </span>
      )}
      {newer && (
        <span className="newer" title={t('generation.newer', { n: newer.generation })}>
          <CircleArrowUp size={12} aria-label={t('generation.newer', { n: newer.generation })} />
        </span>
      )}
    </>
  )
}

function Switch({ presets, ...facts }: Facts & { presets: readonly PresetRow[] }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const { id, session, held, newer } = facts
  const trigger = (
    <button type="button" className="chip" data-testid="preset-chip">
      <Label {...facts} />
      <ChevronDown size={12} />
    </button>
  )
  return (
    <Pop open={open} onOpenChange={setOpen} title={t('preset')} trigger={trigger}>
      <PresetOptions
        presets={presets}
        value={id}
        onPick={(preset) => {
          setOpen(false)
          void switchPreset(session, id, preset)
        }}
      />
      {held && newer && (
        <div className="pop-part">
          <span className="t2 t12 grow">{t('generation.holds', { n: held.generation, newest: newer.generation })}</span>
          <Button
            look="sm"
            onClick={() => {
              setOpen(false)
              void run('preset.move-blank', { preset: id }, { place: `session:${session}` })
            }}
          >
            {t('generation.move', { n: newer.generation })}
          </Button>
        </div>
      )}
    </Pop>
  )
}

/** The reason is a click away, not only a hover: a phone has none. */
function Locked(facts: Facts) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const { id, held, newer, session } = facts
  const trigger = (
    <button
      type="button"
      className="chip"
      data-testid="preset-chip"
      title={t('preset.locked')}
      aria-label={`${id}${held ? ` G${held.generation}` : ''}. ${t('preset.locked')}`}
    >
      <Label {...facts} />
      <Lock size={12} />
    </button>
  )
  const go = (act: () => void) => () => {
    setOpen(false)
    act()
  }
  return (
    <Pop open={open} onOpenChange={setOpen} title={t('preset')} trigger={trigger} width={400}>
      <div className="stack" style={{ padding: 16, gap: 8 }}>
        <p className="m">{t('preset.lockedShort')}</p>
        <p className="t2 t12">{t('preset.lockedWhy')}</p>
        <Generation held={held} newer={newer} />
        <div className="flex" style={{ marginTop: 4, flexWrap: 'wrap' }}>
          <Button look="pri" data-testid="fork-into" onClick={go(() => openOverlay({ kind: 'fork', session }))}>
            <GitFork size={14} />
            {t('fork.into')}
          </Button>
          <Button onClick={go(() => navigate({ place: 'presets', id }))}>{t('preset.look')}</Button>
        </div>
      </div>
    </Pop>
  )
}

function Generation({ held, newer }: Pick<Facts, 'held' | 'newer'>): ReactNode {
  const t = useT()
  if (!held) return <p className="t3 t12">{t('generation.cold')}</p>
  return (
    <p className="t2 t12">
      {newer
        ? t('generation.keepsOld', { n: held.generation, newest: newer.generation })
        : t('generation.keeps', { n: held.generation })}{' '}
      <span className="mono-s t3" title={held.digest}>
        {held.digest.slice(0, 12)}
      </span>
    </p>
  )
}
