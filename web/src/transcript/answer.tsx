import { memo } from 'react'
import type { ItemOf } from '../../../server/projection/transcript-items.ts'
import { useT } from '../i18n/i18n.ts'
import { useLiveText } from '../store/live.ts'
import { Acts } from './acts.tsx'
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
      {item && <Acts text={item.text} session={session} seq={item.seq} />}
    </div>
  )
})
