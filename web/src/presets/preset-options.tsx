import type { PresetRow } from '../../../server/wire/views.ts'
import { tokens } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { presetAbout } from './display.ts'

interface Props {
  presets: readonly PresetRow[]
  value: string | undefined
  onPick(preset: string): void
}

/** Broken and waiting presets stay in the list with their reason and cannot be picked. */
export function PresetOptions({ presets, value, onPick }: Props) {
  const t = useT()
  return (
    <div className="opts" role="listbox" aria-label={t('preset')}>
      {presets.map((preset) => {
        const on = preset.id === value
        const off = preset.broken !== undefined
        return (
          <button
            key={preset.id}
            type="button"
            role="option"
            aria-selected={on}
            aria-disabled={off || undefined}
            className={`opt ${on ? 'on' : ''}`}
            onClick={() => off || onPick(preset.id)}
          >
            <span className={`radio ${on ? 'on' : off ? 'gone' : ''}`} />
            <span className="grow">
              <span className="nm trunc">{preset.id}</span>
              <span className={`sub ${off ? (preset.waiting ? 'warn' : 'fail') : ''}`}>
                {preset.broken ?? (presetAbout(preset, t) || t('preset.tools', { n: preset.tools.length }))}
              </span>
            </span>
            {preset.tokens !== undefined && !off && <span className="t3 t12 num">{tokens(preset.tokens)}</span>}
          </button>
        )
      })}
    </div>
  )
}
