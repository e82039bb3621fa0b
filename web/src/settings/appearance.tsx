import { useT } from '../i18n/i18n.ts'
import { setPrefs, usePrefs } from '../store/prefs.ts'
import { Segment } from '../ui/button.tsx'
import { MOD } from '../ui/hooks.ts'

export function Appearance() {
  const t = useT()
  const prefs = usePrefs()
  return (
    <section>
      <div className="hd">
        <div>
          <h2>{t('settings.appearance')}</h2>
          <p>{t('appearance.where')}</p>
        </div>
      </div>
      <dl className="card rows">
        <div className="kv-row">
          <dt>{t('appearance.theme')}</dt>
          <dd>
            <Segment
              label={t('appearance.theme')}
              value={prefs.theme}
              options={(['system', 'light', 'dark'] as const).map((value) => ({ value, label: t(`theme.${value}`) }))}
              onPick={(theme) => setPrefs({ theme })}
            />
          </dd>
        </div>
        <div className="kv-row">
          <dt>{t('appearance.language')}</dt>
          <dd>
            <Segment
              label={t('appearance.language')}
              value={prefs.language}
              options={[
                { value: 'en', label: 'English' },
                { value: 'zh', label: '中文' },
              ]}
              onPick={(language) => setPrefs({ language })}
            />
          </dd>
        </div>
        <div className="kv-row">
          <dt>{t('appearance.enter')}</dt>
          <dd className="flex" style={{ flexWrap: 'wrap' }}>
            <Segment
              label={t('appearance.enter')}
              value={prefs.enterWhileRunning}
              options={[
                { value: 'queue', label: t('appearance.queues') },
                { value: 'steer', label: t('appearance.steers') },
              ]}
              onPick={(enterWhileRunning) => setPrefs({ enterWhileRunning })}
            />
            <span className="t3 t12">{t('appearance.other', { mod: MOD })}</span>
          </dd>
        </div>
      </dl>
    </section>
  )
}
