import { Copy } from 'lucide-react'
import { memo } from 'react'
import type { ItemOf } from '../../../server/projection/transcript-items.ts'
import { useT } from '../i18n/i18n.ts'
import { useLiveText } from '../store/live.ts'
import { IconButton } from '../ui/button.tsx'
import { copyText } from '../ui/problems.tsx'
import { ForkHere } from './fork-here.tsx'
import { Markdown } from './markdown.tsx'

interface Props {
  id: string
  session: string
  /** Absent while the text still comes. One component shows both, so that the logged text keeps the elements of the live one. */
  item?: ItemOf<'text'> | undefined
}

export const AnswerView = memo(function AnswerView({ id, session, item }: Props) {
  const t = useT()
  const coming = useLiveText(session, id)
  return (
    <div className="prose-row">
      <Markdown text={item?.text ?? coming} grows={!item} id={`${session}|${id}`} />
      {item?.interrupted && <span className="tag warn">{t('cutOff')}</span>}
      {item && (
        <span className="acts">
          <IconButton look="sm" label={t('copy')} onClick={() => void copyText(item.text)}>
            <Copy size={14} />
          </IconButton>
          <ForkHere session={session} seq={item.seq} />
        </span>
      )}
    </div>
  )
})
