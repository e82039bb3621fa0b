import { Layers } from 'lucide-react'
import type { EventData } from '../../../server/wire/events.ts'
import { never } from '../../../server/wire/never.ts'
import { timeOfDay } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import type { T } from '../i18n/i18n.ts'
import { linkTo } from '../router.ts'
import { useApp } from '../store/store.ts'

type About = EventData['agent-preset/notice']

/** What a person should know of the preset of a session that goes on: it is not what it was. */
export function PresetNotice({ about, time }: { about: About; time: number }) {
  const t = useT()
  const known = useApp((app) => app.global?.presets.some((preset) => preset.id === about.agentPreset) ?? false)
  return (
    <div className="row noted" role="note" data-testid="preset-notice" data-kind={about.kind}>
      <Layers size={16} strokeWidth={1.75} />
      <span className="verb">{t('preset')}</span>
      <span className="last" title={about.message}>
        {textOf(t, about)}
      </span>
      <span className="meta">
        {known && (
          <a
            className="lk"
            {...linkTo({
              place: 'presets',
              id: about.agentPreset,
              tab: about.kind === 'changed' ? 'generations' : 'health',
            })}
          >
            {t(about.kind === 'changed' ? 'notice.difference' : 'notice.look')}
          </a>
        )}
        <span className="num">{timeOfDay(time)}</span>
      </span>
    </div>
  )
}

function textOf(t: T, { kind, agentPreset, message, from, to }: About): string {
  switch (kind) {
    case 'changed':
      if (!from || !to) return message
      return t('notice.changed', { preset: agentPreset, from: `G${from.generation}`, to: `G${to.generation}` })
    case 'renamed':
    case 'retired-key':
      return message
    default:
      return never(kind)
  }
}
