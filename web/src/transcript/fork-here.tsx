import { GitFork } from 'lucide-react'
import { useT } from '../i18n/i18n.ts'
import { openOverlay } from '../store/store.ts'
import { IconButton } from '../ui/button.tsx'

/** Opens the fork dialog at this event. */
export function ForkHere({ session, seq }: { session: string; seq: number }) {
  const t = useT()
  return (
    <IconButton look="sm" label={t('fork.here')} onClick={() => openOverlay({ kind: 'fork', session, seq })}>
      <GitFork size={14} />
    </IconButton>
  )
}
