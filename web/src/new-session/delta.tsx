import { FileDiff, Undo2, X } from 'lucide-react'
import { useState } from 'react'
import type { GlobalState, PresetRow } from '../../../server/wire/views.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import type { OpenSession } from '../store/session-view.ts'
import { useApp } from '../store/store.ts'
import { forgetSwitch, useSwitching } from '../store/switching-state.ts'
import { switchPreset } from '../store/switching.ts'
import { DiffView } from '../transcript/cards.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { promptHunk } from './prompt-diff.ts'
import { deltaOf, useNewSession } from './state.ts'

/** What the last switch of presets changed, with the way back. */
export function Delta({ global, now }: { global: GlobalState; now: PresetRow | undefined }) {
  const before = useNewSession((state) => state.before)
  const old = global.presets.find((preset) => preset.id === before)
  if (!old || !now || old.id === now.id) return null
  return <Changes old={old} now={now} onUndo={() => useNewSession.setState({ preset: old.id, before: now.id })} />
}

/** The same in a session that is there already and still blank. */
export function SwitchDelta({ view }: { view: OpenSession }) {
  const { id, lastTurn, openTurn, preset } = view.state
  const last = useSwitching((switching) => switching.last[id])
  const shown = useSwitching((switching) => switching.asked[id]) ?? preset.current
  const presets = useApp((app) => app.global?.presets)
  const row = (wanted: string | undefined) => presets?.find((candidate) => candidate.id === wanted)
  const [old, now] = [row(last?.from), row(last?.to)]
  // Another tab may have switched since, and the first turn ends the choice.
  if (!old || !now || now.id !== shown || lastTurn > 0 || openTurn) return null
  return (
    <div className="base switched">
      <Changes
        old={old}
        now={now}
        onUndo={() => void switchPreset(id, now.id, old.id)}
        onClose={() => forgetSwitch(id)}
      />
    </div>
  )
}

interface ChangesProps {
  old: PresetRow
  now: PresetRow
  onUndo(): void
  onClose?(): void
}

function Changes({ old, now, onUndo, onClose }: ChangesProps) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const delta = deltaOf(old, now)
  const signed = (count: number) => `${count < 0 ? '-' : '+'}${thousands(Math.abs(count))}`
  const { added, removed, changed, services } = delta
  const moved = services.added.length + services.removed.length
  return (
    <div className="delta" role="status" data-testid="preset-delta">
      <span className="flex">
        <FileDiff size={16} className="t3" />
        <span>
          <span className="m">{old.id}</span> <span className="t3">{t('delta.to')}</span>{' '}
          <span className="m">{now.id}</span>
        </span>
      </span>
      <span className="facts">
        <span title={[...added, ...removed].join(', ')}>
          {t('delta.tools', { added: added.length, removed: removed.length })}
        </span>
        {changed.length > 0 && <span title={changed.join(', ')}>{t('delta.changed', { n: changed.length })}</span>}
        <span>{t('delta.prompt', { lines: signed(delta.lines) })}</span>
        {moved > 0 && (
          <span title={[...services.added, ...services.removed].join(', ')}>
            {t('delta.services', { added: services.added.length, removed: services.removed.length })}
          </span>
        )}
        {delta.tokens !== undefined && <span>{t('delta.tokens', { tokens: signed(delta.tokens) })}</span>}
        <span>{t('delta.kept')}</span>
      </span>
      <span className="flex" style={{ gap: 4 }}>
        <Button look="ghost link" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t('delta.diff')}
        </Button>
        <Button look="ghost" onClick={onUndo}>
          <Undo2 size={14} />
          {t('undo')}
        </Button>
        {onClose && (
          <IconButton label={t('close')} onClick={onClose}>
            <X size={14} />
          </IconButton>
        )}
      </span>
      {open && <DiffView hunks={[promptHunk(old.prompt, now.prompt)]} />}
    </div>
  )
}
