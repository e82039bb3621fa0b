import { useState } from 'react'
import type { SessionState } from '../../../server/projection/session-state.ts'
import { useT } from '../i18n/i18n.ts'
import { run } from '../store/actions.ts'
import { useApp } from '../store/store.ts'
import { ModelChip } from './model-chip.tsx'
import { effective } from './selection.ts'

/** The chip of a running session: a pick is a command, and what it did to the default is said beside the switch. */
export function SessionModelChip({ state }: { state: SessionState }) {
  const t = useT()
  const models = useApp((app) => app.global?.models)
  const [saved, setSaved] = useState<{ text: string; ok: boolean }>()
  if (!models) return null
  return (
    <ModelChip
      models={models}
      now={effective(state, models)}
      saved={saved}
      onPick={async (selection, alsoDefault) => {
        setSaved(undefined)
        const outcome = await run(
          'model.select',
          { session: state.id, ...selection, alsoDefault },
          { place: `session:${state.id}` },
        )
        if (!outcome.ok || !outcome.result.default) return
        const result = outcome.result.default
        setSaved(
          result.saved
            ? { text: t('saved'), ok: true }
            : { text: t('model.onlyHere', { reason: result.reason }), ok: false },
        )
      }}
    />
  )
}
