import { useT } from '../i18n/i18n.ts'
import type { UsagePlace } from '../router.ts'
import { useTitle } from '../ui/hooks.ts'
import { RailButton } from '../ui/rail-button.tsx'

export function UsageScreen({ shown: _ }: { shown: UsagePlace }) {
  const t = useT()
  useTitle(t('usage'))
  return (
    <div className="main">
      <header className="head">
        <RailButton />
        <h1>{t('usage')}</h1>
      </header>
    </div>
  )
}
