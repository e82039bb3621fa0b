import { Copy } from 'lucide-react'
import { useT } from '../i18n/i18n.ts'
import { IconButton } from '../ui/button.tsx'
import { copyText } from '../ui/problems.tsx'
import { ForkHere } from './fork-here.tsx'

/** What can be done with one message. */
export function Acts({ text, session, seq }: { text: string; session: string; seq: number }) {
  const t = useT()
  return (
    <span className="acts">
      <IconButton look="sm" label={t('copy')} onClick={() => void copyText(text)}>
        <Copy size={14} />
      </IconButton>
      <ForkHere session={session} seq={seq} />
    </span>
  )
}
