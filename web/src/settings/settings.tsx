import { Cpu, Info, Contrast, MessageSquare, Shield } from 'lucide-react'
import { linkTo, SETTINGS_PAGES } from '../router.ts'
import type { SettingsPage } from '../router.ts'
import { useTitle } from '../ui/hooks.ts'
import { RailButton } from '../ui/rail-button.tsx'
import { About } from './about.tsx'
import { Appearance } from './appearance.tsx'
import { FindSetting } from './find.tsx'
import { ModelSettings } from './models.tsx'
import { PermissionSettings } from './permissions.tsx'
import { SessionSettings } from './sessions.tsx'
import { useText } from './text.ts'
import '../styles/settings.css'

const ICONS = { models: Cpu, sessions: MessageSquare, permissions: Shield, appearance: Contrast, about: Info }
const PAGES = {
  models: ModelSettings,
  sessions: SessionSettings,
  permissions: PermissionSettings,
  appearance: Appearance,
  about: About,
}

export function SettingsScreen({ page }: { page: SettingsPage }) {
  const t = useText()
  const Page = PAGES[page]
  useTitle(t(`settings.${page}`))
  return (
    <div className="main">
      <header className="head">
        <RailButton />
        <h1>{t('settings')}</h1>
        <span className="t3 t12 wide-only">{t('settings.atOnce')}</span>
        <FindSetting />
      </header>
      <div className="two">
        <nav className="snav" aria-label={t('settings')}>
          {SETTINGS_PAGES.map((name) => {
            const Icon = ICONS[name]
            return (
              <a
                key={name}
                {...linkTo({ place: 'settings', page: name })}
                aria-current={name === page ? 'page' : undefined}
              >
                <Icon size={16} strokeWidth={1.75} />
                {t(`settings.${name}`)}
              </a>
            )
          })}
        </nav>
        <main className="cont">
          <div className="in">
            <Page />
          </div>
        </main>
      </div>
    </div>
  )
}
