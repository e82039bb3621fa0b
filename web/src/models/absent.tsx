import type { Selection } from '../../../server/wire/messages.ts'
import type { ModelsView } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import type { Route } from '../router.ts'
import { Button } from '../ui/button.tsx'
import type { Listing } from './listing.ts'
import { find } from './selection.ts'

const settingsOf = (provider: string | undefined, model?: string): Route => ({
  place: 'settings',
  page: 'models',
  ...(provider !== undefined && { provider }),
  ...(model !== undefined && { model }),
})

interface AbsentProps {
  models: ModelsView
  value: Selection
  origin: string
  onLeave(): void
}

/** The model in effect where no list offers it. It stands above the list: what is inside an option cannot be pressed. */
export function Absent({ models, value, origin, onLeave }: AbsentProps) {
  const t = useT()
  const found = find(models, value)
  if (found.kind === 'listed') return null
  const why = found.kind === 'gone' ? found.why : 'unlisted'
  const provider = found.provider?.label ?? value.provider
  const problem = found.kind === 'gone' ? (found.problem ?? '') : ''
  const fix = () => {
    onLeave()
    navigate(settingsOf(found.provider?.id, why === 'unlisted' ? value.model : undefined))
  }
  return (
    <div className="opt absent" role="status">
      <span className={`radio ${why === 'unlisted' ? 'on' : 'gone'}`} />
      <span className="grow">
        <span className="nm">
          <span className="trunc">
            {value.provider}/{value.model}
          </span>
        </span>
        <span className="sub">{t('model.inEffect', { origin })}</span>
        <span className={`sub ${why === 'unlisted' ? '' : 'fail'}`}>
          {t(`model.why.${why}`, { provider, problem })}
        </span>
      </span>
      <Button onClick={fix}>{t(`model.fix.${why}`)}</Button>
    </div>
  )
}

interface NotReadyProps {
  keyless: Listing['keyless']
  /** Without a query all of them are one line. */
  searched: boolean
  onLeave(): void
}

/** What would be there with a key. */
export function NotReady({ keyless, searched, onLeave }: NotReadyProps) {
  const t = useT()
  if (keyless.length === 0) return null
  const go = (route: Route) => () => {
    onLeave()
    navigate(route)
  }
  if (!searched)
    return (
      <div className="opt absent quiet">
        <span className="grow sub trunc" title={keyless.map(({ provider }) => provider.label).join(', ')}>
          {t('model.keyless', { n: keyless.length })}
        </span>
        <Button look="ghost sm" onClick={go(settingsOf(undefined))}>
          {t('model.settings')}
        </Button>
      </div>
    )
  return keyless.slice(0, 3).map(({ provider, matches }) => (
    <div key={provider.id} className="opt absent quiet">
      <span className="grow sub trunc">
        {provider.label} · {t('model.hasIt', { n: matches })}
      </span>
      <Button look="ghost sm" onClick={go(settingsOf(provider.id))}>
        {t('model.fix.key')}
      </Button>
    </div>
  ))
}

export function Nothing({ query, onLeave }: { query: string; onLeave(): void }) {
  const t = useT()
  return (
    <div className="empty">
      <p>{query.trim() === '' ? t('model.noneYet') : t('model.noMatch', { query })}</p>
      <Button
        onClick={() => {
          onLeave()
          navigate(settingsOf(undefined))
        }}
      >
        {t('model.settings')}
      </Button>
    </div>
  )
}
