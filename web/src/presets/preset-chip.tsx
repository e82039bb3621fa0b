import { ChevronDown, Layers, Lock } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { SessionState } from '../../../server/projection/session-state.ts'
import { useT } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import { run } from '../store/actions.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Pop } from '../ui/pop.tsx'
import { PresetOptions } from './preset-options.tsx'

/** While a session is blank the preset can be switched; afterwards it is locked and says why. */
export function PresetChip({ state }: { state: SessionState }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const presets = useApp((app) => app.global?.presets)
  const id = state.preset.current
  if (!presets || id === null) return null
  const label = (
    <>
      <Layers size={14} />
      <span className="trunc">{id}</span>
    </>
  )
  const blank = state.lastTurn === 0 && state.openTurn === null
  if (!blank) return <Locked id={id} label={label} />
  const trigger = (
    <button type="button" className="chip" data-testid="preset-chip">
      {label}
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
          if (preset !== id) void run('preset.select', { session: state.id, preset }, { place: `session:${state.id}` })
        }}
      />
    </Pop>
  )
}

/** The reason is a click away, not only a hover: a phone has none. */
function Locked({ id, label }: { id: string; label: ReactNode }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const trigger = (
    <button
      type="button"
      className="chip"
      data-testid="preset-chip"
      title={t('preset.locked')}
      aria-label={`${id}. ${t('preset.locked')}`}
    >
      {label}
      <Lock size={12} />
    </button>
  )
  return (
    <Pop open={open} onOpenChange={setOpen} title={t('preset')} trigger={trigger} width={320}>
      <div className="stack" style={{ padding: 16, gap: 8 }}>
        <p className="m">{t('preset.lockedShort')}</p>
        <p className="t2 t12">{t('preset.lockedWhy')}</p>
        <div className="flex" style={{ marginTop: 4 }}>
          <Button
            onClick={() => {
              setOpen(false)
              navigate({ place: 'presets', id })
            }}
          >
            {t('preset.look')}
          </Button>
          <Button
            look="ghost"
            onClick={() => {
              setOpen(false)
              navigate({ place: 'new' })
            }}
          >
            {t('rail.new')}
          </Button>
        </div>
      </div>
    </Pop>
  )
}
