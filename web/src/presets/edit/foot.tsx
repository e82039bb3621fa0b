import { History } from 'lucide-react'
import { timeOfDay } from '../../i18n/format.ts'
import { useT } from '../../i18n/i18n.ts'
import { Button } from '../../ui/button.tsx'
import { MOD } from '../../ui/hooks.ts'
import type { Activation } from './use-activate.ts'
import { isDirty } from './edit-state.ts'
import type { EditState } from './edit-state.ts'

interface Props {
  state: EditState
  activation: Activation
  onActivate(): void
  onVersions(): void
  onDiscard(): void
}

export function Foot({ state, activation, onActivate, onVersions, onDiscard }: Props) {
  const t = useT()
  const { errors, warnings, off } = activation
  return (
    <div className="efoot">
      {errors > 0 && <span className="tag fail">{t('presets.errors', { n: errors })}</span>}
      {warnings > 0 && <span className="tag warn">{t('presets.warnings', { n: warnings })}</span>}
      <span className="t3 t12 num trunc" role="status" data-testid="draft-state">
        <DraftState state={state} />
      </span>
      <span className="right flex">
        {isDirty(state) && (
          <Button look="ghost" onClick={onDiscard}>
            {t('presets.discard')}
          </Button>
        )}
        <Button onClick={onVersions}>
          <History size={14} />
          {t('presets.versions')}
        </Button>
        <Button
          look="pri"
          data-testid="activate"
          off={off}
          title={off ?? `${MOD}+S`}
          aria-keyshortcuts="Control+S Meta+S"
          onClick={onActivate}
        >
          {t('presets.activate')}
        </Button>
      </span>
    </div>
  )
}

function DraftState({ state }: { state: EditState }) {
  const t = useT()
  if (!isDirty(state)) return t('presets.unchanged')
  if (state.kept === 'lost') return t('presets.draftLost')
  return state.kept === undefined
    ? t('presets.edited')
    : t('presets.keptAt', { time: timeOfDay(state.kept).slice(0, 5) })
}
