import { Search } from 'lucide-react'
import { useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import type { ModelsView } from '../../../server/wire/views.ts'
import { navigate } from '../router.ts'
import type { SettingsPage } from '../router.ts'
import { useApp } from '../store/store.ts'
import { hostOf } from './options.ts'
import { useText } from './text.ts'
import type { Text } from './text.ts'

interface Setting {
  label: string
  /** The page and what it is about, for the eye and for the search. */
  under: string
  page: SettingsPage
  /** The section that is brought into view. */
  anchor?: string
  provider?: string
}

/** Of a provider's row: each leads to the list, where a row is chosen. */
const OF_PROVIDER = [
  'key',
  'provider.url',
  'provider.wire',
  'probe.run',
  'retry',
  'waiting',
  'proxy',
  'headers',
  'body',
  'ids',
  'efforts',
  'odd',
  'facts.price',
] as const

function settingsOf(t: Text, models: ModelsView | undefined): Setting[] {
  const on = (page: SettingsPage) => t(`settings.${page}`)
  const providers = (models?.providers ?? []).map((provider) => ({
    label: provider.label,
    under: `${t('providers')} ${hostOf(provider)}`,
    page: 'models' as const,
    provider: provider.id,
  }))
  return [
    { label: t('model.default'), under: on('models'), page: 'models', anchor: 'default-model' },
    { label: t('providers.add'), under: on('models'), page: 'models', anchor: 'providers' },
    { label: t('local'), under: on('models'), page: 'models', anchor: 'local' },
    ...providers,
    ...OF_PROVIDER.map((key) => ({
      label: t(key),
      under: `${on('models')}, ${t('providers')}`,
      page: 'models' as const,
      anchor: 'providers',
    })),
    { label: t('budget'), under: on('sessions'), page: 'sessions', anchor: 'budget' },
    { label: t('titles'), under: on('sessions'), page: 'sessions', anchor: 'titles' },
    { label: t('perm.default'), under: on('permissions'), page: 'permissions', anchor: 'permission-default' },
    { label: t('perm.own'), under: on('permissions'), page: 'permissions', anchor: 'permission-own' },
    { label: t('perm.rules'), under: on('permissions'), page: 'permissions', anchor: 'permission-rules' },
    { label: t('perm.wait'), under: on('permissions'), page: 'permissions', anchor: 'permission-wait' },
    { label: t('appearance.theme'), under: on('appearance'), page: 'appearance' },
    { label: t('appearance.language'), under: on('appearance'), page: 'appearance' },
    { label: t('appearance.enter'), under: on('appearance'), page: 'appearance' },
    { label: t('about.data'), under: on('about'), page: 'about' },
    { label: t('about.confinement'), under: on('about'), page: 'about', anchor: 'confinement' },
    { label: t('about.problems'), under: on('about'), page: 'about', anchor: 'host-problems' },
  ]
}

const MOST = 9

/** Goes to a setting by its name; arrow keys move, Enter goes, Escape closes. */
export function FindSetting() {
  const t = useText()
  const models = useApp((app) => app.global?.models)
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  const wanted = query.trim().toLowerCase()
  const hits =
    wanted === ''
      ? []
      : settingsOf(t, models).filter((setting) => `${setting.label} ${setting.under}`.toLowerCase().includes(wanted))
  const shown = hits.slice(0, MOST)
  const go = (setting: Setting) => {
    setQuery('')
    input.current?.blur()
    const { page, anchor, provider } = setting
    navigate({ place: 'settings', page, ...(provider !== undefined && { provider }) })
    const target = provider === undefined ? `#${anchor ?? ''}` : `[data-provider="${CSS.escape(provider)}"]`
    // The page of the setting stands after the next frame.
    if (target !== '#') requestAnimationFrame(() => document.querySelector(target)?.scrollIntoView({ block: 'start' }))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) {
      event.preventDefault()
      setAt(Math.max(0, Math.min(shown.length - 1, at + by)))
    }
    if (event.key === 'Escape') setQuery('')
    const hit = shown[at]
    if (event.key === 'Enter' && hit) go(hit)
  }
  return (
    <div className="find-setting">
      <label className="field">
        <Search size={14} />
        <input
          ref={input}
          value={query}
          placeholder={t('find')}
          aria-label={t('find')}
          role="combobox"
          aria-expanded={wanted !== ''}
          aria-controls="found-settings"
          autoComplete="off"
          onChange={(event) => {
            setQuery(event.target.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
          onBlur={(event) => {
            if (!event.relatedTarget?.closest('.find-setting')) setQuery('')
          }}
        />
      </label>
      {wanted !== '' && (
        <div className="found" id="found-settings" role="listbox" aria-label={t('find')}>
          {shown.map((setting, index) => (
            <button
              key={`${setting.label} ${setting.under}`}
              type="button"
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              className={`opt ${index === at ? 'at' : ''}`}
              onClick={() => go(setting)}
            >
              <span className="grow">
                <span className="m">{setting.label}</span>
                <span className="sub trunc">{setting.under}</span>
              </span>
            </button>
          ))}
          {shown.length === 0 && <p className="hint">{t('find.none', { query })}</p>}
        </div>
      )}
    </div>
  )
}
