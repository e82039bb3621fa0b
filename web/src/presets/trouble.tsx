import { CircleX, Clock, Info, TriangleAlert } from 'lucide-react'
import type { PresetRow } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { linkTo } from '../router.ts'
import { jumpTo } from './dialogs.ts'

/** What is wrong with a preset now, in the host's words, and where to mend it. */
export function Trouble({ preset, all }: { preset: PresetRow; all?: boolean }) {
  const t = useT()
  const { broken, waiting, stale } = preset
  const notices = all ? (preset.notices ?? []) : []
  if (broken === undefined && !stale && notices.length === 0) return null
  return (
    <div className="stack" style={{ gap: 8 }}>
      {broken !== undefined && (
        <div className={`note ${waiting ? 'warn' : 'fail'}`} role="status" data-testid="preset-broken">
          {waiting ? <Clock size={14} /> : <CircleX size={14} />}
          <div className="grow">
            <p className="m">{t(waiting ? 'presets.waitingWhy' : 'presets.brokenWhy')}</p>
            {broken.split('\n').map((line, index) => (
              <p key={index} className="mono-s t2 wrap">
                {line}
              </p>
            ))}
          </div>
        </div>
      )}
      {stale && (
        <div className="note warn" role="status" data-testid="preset-stale">
          <TriangleAlert size={14} />
          <div className="grow">
            <p className="m">{t('presets.staleWhy')}</p>
            <p className="t2 wrap">{stale.message}</p>
            {stale.line !== undefined && <LineLink preset={preset} line={stale.line} column={stale.column ?? 1} />}
          </div>
        </div>
      )}
      {notices.map((notice) => (
        <p key={notice} className="note">
          <Info size={14} />
          <span>{notice}</span>
        </p>
      ))}
    </div>
  )
}

interface LineProps {
  preset: Pick<PresetRow, 'id' | 'own'>
  line: number
  column: number
}

/** Into the editor at the line; a shipped document is only shown. */
export function LineLink({ preset, line, column }: LineProps) {
  const t = useT()
  const link = linkTo({ place: 'presets', id: preset.id, tab: preset.own ? 'edit' : 'document' })
  return (
    <a
      className="at-line"
      {...link}
      onClick={(event) => {
        if (preset.own) jumpTo({ preset: preset.id, line, column })
        link.onClick(event)
      }}
    >
      {t(preset.own ? 'presets.openLine' : 'presets.line', { line, column })}
    </a>
  )
}
