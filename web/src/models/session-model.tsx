import { useState } from 'react'
import type { SessionState } from '../../../server/projection/session-state.ts'
import type { Selection } from '../../../server/wire/messages.ts'
import { useT } from '../i18n/i18n.ts'
import { run } from '../store/actions.ts'
import { useApp } from '../store/store.ts'
import { ModelChip } from './model-chip.tsx'
import type { AlsoResult } from './model-chip.tsx'
import { openPicker, usePickerOpen } from './open.ts'
import { effective } from './selection.ts'

/** The chip of a running session: a pick is a command, and what it did to the default is said beside the switch. */
export function SessionModelChip({ state }: { state: SessionState }) {
  const t = useT()
  const models = useApp((app) => app.global?.models)
  const open = usePickerOpen((picker) => picker.session === state.id)
  const [saved, setSaved] = useState<AlsoResult>()
  if (!models) return null
  const pick = async (selection: Selection, alsoDefault: boolean) => {
    setSaved(alsoDefault ? { text: t('model.alsoSaving'), tone: 't3' } : undefined)
    const args = { session: state.id, ...selection, alsoDefault }
    const outcome = await run('model.select', args, { place: `session:${state.id}` })
    if (!outcome.ok) return setSaved(undefined)
    const result = outcome.result.default
    if (!result) return setSaved({ text: t('model.alsoOff'), tone: 't3' })
    setSaved(
      result.saved
        ? { text: t('model.alsoSaved'), tone: 'ok' }
        : { text: t('model.alsoNotSaved', { reason: result.reason }), tone: 'warn' },
    )
  }
  return (
    <ModelChip
      models={models}
      now={effective(state, models)}
      saved={saved}
      held={{
        open,
        onOpen(next) {
          setSaved(undefined)
          openPicker(next ? state.id : undefined)
        },
      }}
      onPick={(selection, alsoDefault) => void pick(selection, alsoDefault)}
    />
  )
}
