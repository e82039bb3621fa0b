import type { PermissionPreset } from '../../../server/wire/safety.ts'
import { useT } from '../i18n/i18n.ts'
import { presetName, presetWhat } from './look.ts'

interface Props {
  presets: readonly PermissionPreset[]
  value: string | null
  onPick(preset: PermissionPreset): void
}

/** Named choices; one that nothing here can keep stays in the list with its reason. */
export function PermissionOptions({ presets, value, onPick }: Props) {
  const t = useT()
  return (
    <div className="opts" role="listbox" aria-label={t('permission')}>
      {presets.map((preset) => {
        const on = preset.id === value
        const off = preset.unusable !== undefined
        return (
          <button
            key={preset.id}
            type="button"
            role="option"
            aria-selected={on}
            aria-disabled={off || undefined}
            data-testid={`permission-${preset.id}`}
            className={`opt ${on ? 'on' : ''}`}
            onClick={() => off || onPick(preset)}
          >
            <span className={`radio ${on ? 'on' : off ? 'gone' : ''}`} />
            <span className="grow">
              <span className={`m ${preset.choice.sandbox === 'full' ? 'fail' : ''}`}>{presetName(t, preset)}</span>
              {!preset.choice.network && <span className="t3 t12"> {t('permission.noNetwork')}</span>}
              <span className="sub wrap">{presetWhat(t, preset)}</span>
              {off && <span className="sub wrap warn">{preset.unusable}</span>}
            </span>
          </button>
        )
      })}
    </div>
  )
}
