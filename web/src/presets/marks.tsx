import { CircleX, Clock, Info, TriangleAlert } from 'lucide-react'
import type { PresetRow } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'

export type Standing = 'ready' | 'waiting' | 'broken'

export const standingOf = ({ broken, waiting }: PresetRow): Standing =>
  broken === undefined ? 'ready' : waiting ? 'waiting' : 'broken'

/** State as shape and word; a ready preset is quiet. */
export function Marks({ preset, quiet }: { preset: PresetRow; quiet?: boolean }) {
  const t = useT()
  const standing = standingOf(preset)
  const notices = preset.notices?.length ?? 0
  return (
    <>
      {standing === 'waiting' && (
        <span className="tag warn">
          <Clock size={12} />
          {t('preset.waiting')}
        </span>
      )}
      {standing === 'broken' && (
        <span className="tag fail">
          <CircleX size={12} />
          {t('preset.broken')}
        </span>
      )}
      {preset.stale && (
        <span className="tag warn" title={t('presets.staleWhy')}>
          <TriangleAlert size={12} />
          {t('presets.stale')}
        </span>
      )}
      {notices > 0 && (
        <span className="tag line" title={preset.notices?.join('\n')}>
          <Info size={12} />
          <span className={quiet ? 'sr' : ''}>{t('presets.notices', { n: notices })}</span>
        </span>
      )}
      {preset.isDefault && <span className="tag line">{t('preset.default')}</span>}
    </>
  )
}

/** How many things the health page has to say. */
export const troubles = (preset: PresetRow): number =>
  (preset.broken === undefined ? 0 : 1) + (preset.stale ? 1 : 0) + (preset.notices?.length ?? 0)
