import { useState } from 'react'
import type { CommandResults } from '../../../../server/wire/commands.ts'
import type { PresetRow } from '../../../../server/wire/views.ts'
import { useT } from '../../i18n/i18n.ts'
import { run } from '../../store/actions.ts'
import { addProblem, clearProblems, useApp } from '../../store/store.ts'
import { placeOf } from '../actions.ts'
import type { Checked } from './use-check.ts'
import { inConflict, isDirty } from './edit-state.ts'
import type { EditState } from './edit-state.ts'

export interface Activation {
  /** Why the text cannot be activated now. */
  off: string | undefined
  errors: number
  warnings: number
  /** Undefined when nothing was saved. */
  activate(): Promise<{ text: string; result: CommandResults['preset.save'] } | undefined>
}

interface Options {
  preset: PresetRow
  state: EditState
  checked: Checked
  onStale(): void
}

/** Saving makes the text the declaration of new sessions; a text with errors, or on a document that moved, is not saved. */
export function useActivate({ preset, state, checked, onStale }: Options): Activation {
  const t = useT()
  const [saving, setSaving] = useState(false)
  const open = useApp((app) => app.status.kind === 'open')
  const faults = checked.check?.diagnostics ?? []
  const errors = faults.filter(({ severity }) => severity === 'error').length
  const off = (): string | undefined => {
    if (saving) return t('presets.saving')
    if (!isDirty(state)) return t('presets.unchanged')
    if (inConflict(state)) return t('presets.settleFirst')
    if (!open) return t('presets.offline')
    if (!checked.fresh) return checked.error?.message ?? t('presets.checking')
    return errors > 0 ? t('presets.fixFirst', { n: errors }) : undefined
  }
  const activate = async () => {
    if (off() !== undefined) return undefined
    setSaving(true)
    const { text, base } = state
    const outcome = await run('preset.save', { preset: preset.id, text, base }, { place: 'none' })
    setSaving(false)
    if (outcome.ok) {
      clearProblems(placeOf(preset.id), 'preset.save')
      return { text, result: outcome.result }
    }
    // The document as it is now brings up what to do about it.
    if (outcome.error.code === 'agent-preset/changed-meanwhile') onStale()
    else addProblem({ place: placeOf(preset.id), command: 'preset.save', error: outcome.error })
    return undefined
  }
  return { off: off(), errors, warnings: faults.length - errors, activate }
}
