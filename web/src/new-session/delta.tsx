import { FileDiff, Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { GlobalState, PresetRow } from '../../../server/wire/views.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { DiffView } from '../transcript/cards.tsx'
import { Button } from '../ui/button.tsx'
import { promptHunk } from './prompt-diff.ts'
import { deltaOf, useNewSession } from './state.ts'

/** What the last switch of presets changed, with the way back. */
export function Delta({ global, now }: { global: GlobalState; now: PresetRow | undefined }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const before = useNewSession((state) => state.before)
  const old = global.presets.find((preset) => preset.id === before)
  if (!old || !now || old.id === now.id) return null
  const delta = deltaOf(old, now)
  const signed = (count: number) => `${count < 0 ? '-' : '+'}${thousands(Math.abs(count))}`
  return (
    <div className="delta" role="status">
      <span className="flex">
        <FileDiff size={16} className="t3" />
        <span>
          <span className="m">{old.id}</span> <span className="t3">{t('delta.to')}</span>{' '}
          <span className="m">{now.id}</span>
        </span>
      </span>
      <span className="facts">
        <span title={[...delta.added, ...delta.removed].join(', ')}>
          {t('delta.tools', { added: delta.added.length, removed: delta.removed.length })}
        </span>
        <span>{t('delta.prompt', { lines: signed(delta.lines) })}</span>
        {delta.tokens !== undefined && <span>{t('delta.tokens', { tokens: signed(delta.tokens) })}</span>}
        <span>{t('delta.kept')}</span>
      </span>
      <span className="flex" style={{ gap: 4 }}>
        <Button look="ghost link" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t('delta.diff')}
        </Button>
        <Button look="ghost" onClick={() => useNewSession.setState({ preset: old.id, before: now.id })}>
          <Undo2 size={14} />
          {t('undo')}
        </Button>
      </span>
      {open && <DiffView hunks={[promptHunk(old.prompt, now.prompt)]} />}
    </div>
  )
}
