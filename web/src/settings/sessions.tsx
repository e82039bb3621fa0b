import { useT } from '../i18n/i18n.ts'

export function SessionSettings() {
  const t = useT()
  return <h2>{t('settings.sessions')}</h2>
}
