import { CircleX } from 'lucide-react'
import type { WireError } from '../../../server/wire/errors.ts'
import { useT } from '../i18n/i18n.ts'
import { Button } from './button.tsx'

/** Something could not be loaded: what and why stay until it is tried again. */
export function Failed({ error, again }: { error: WireError; again(): void }) {
  const t = useT()
  return (
    <div className="note fail" role="alert">
      <CircleX size={14} />
      <span className="grow">
        {error.message} <span className="mono-s">{error.code}</span>
      </span>
      <Button look="sm" onClick={again}>
        {t('problem.retry')}
      </Button>
    </div>
  )
}
