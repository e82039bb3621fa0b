import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useT } from '../../i18n/i18n.ts'
import { DiffView } from '../../transcript/cards.tsx'
import { Button } from '../../ui/button.tsx'
import { textHunks } from '../compare.ts'
import type { Edit } from './edit-state.ts'

/** The file was changed elsewhere while this text was written: nothing is lost until one of the two is chosen. */
export function Conflict({ edit }: { edit: Edit }) {
  const t = useT()
  const { source, text } = edit.use()
  const [open, setOpen] = useState(false)
  return (
    <div className="problem warnish" role="alert" data-testid="conflict">
      <div className="what">
        <TriangleAlert size={14} />
        <div className="grow">
          <span className="m">{t('presets.conflict')}</span>
          <p>
            {t('presets.conflictWhat')} <span className="mono-s">agent-preset/changed-meanwhile</span>
          </p>
        </div>
      </div>
      {open && <DiffView hunks={textHunks(source.text, text)} />}
      <div className="acts">
        <Button look={open ? '' : 'pri'} aria-expanded={open} onClick={() => setOpen(!open)}>
          {t(open ? 'presets.hideTheirs' : 'presets.showTheirs')}
        </Button>
        <Button onClick={edit.keepMine}>{t('presets.keepMine')}</Button>
        <Button onClick={edit.takeTheirs}>{t('presets.reload')}</Button>
      </div>
    </div>
  )
}
