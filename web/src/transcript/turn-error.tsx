import { CircleX, Copy, RotateCcw } from 'lucide-react'
import { waiting } from '../../../server/projection/inbox.ts'
import type { ItemOf } from '../../../server/projection/transcript-items.ts'
import { never } from '../../../server/wire/never.ts'
import { money } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { LimitField, isOwnLimit, limitOf, proposal } from '../models/limit.tsx'
import { openPicker } from '../models/open.ts'
import { effective } from '../models/selection.ts'
import { navigate } from '../router.ts'
import { run } from '../store/actions.ts'
import type { OpenSession } from '../store/session-view.ts'
import { openOverlay, useApp } from '../store/store.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { copyText } from '../ui/problems.tsx'
import { sentenceOf, waysOf } from './failures.ts'
import type { Way } from './failures.ts'

interface Props {
  item: ItemOf<'error'>
  session: string
}

/** What happened, what was kept, and what to do: in plain words, the provider's own ones below. */
export function TurnErrorCard({ item, session }: Props) {
  const t = useT()
  const { code, message, status, requestId } = item.error
  const view = useOpen(session)
  const again = view && againOf(view, item)
  const sentence = sentenceOf(item.error)
  const names = useNames(item, view)
  const facts = [code, status, requestId && t('error.request', { id: requestId })].filter(Boolean).join(', ')
  const held = view && waiting(view.state.inbox, 'next-turn').length > 0
  return (
    <div className="problem" role="alert" data-testid="turn-error" style={{ margin: '4px 0 8px' }}>
      <div className="what">
        <CircleX size={14} />
        <div className="grow">
          <span className="m">{sentence ? t(sentence, names) : message || t('error.turn')}</span>
          {sentence && message && <p>{message}</p>}
          <p>
            {t(again && held ? 'error.keptQueued' : 'error.kept')} <span className="mono-s">{facts}</span>
          </p>
        </div>
      </div>
      <div className="acts">
        {waysOf(item.error).map((way, index) => (
          <WayOut key={way} way={way} look={index === 0 ? 'pri' : ''} item={item} view={view} again={again} />
        ))}
        <span className="right" />
        <IconButton label={t('problem.copy')} onClick={() => void copyText(JSON.stringify(item.error, null, 2))}>
          <Copy size={14} />
        </IconButton>
      </div>
    </div>
  )
}

function useOpen(session: string): OpenSession | undefined {
  const view = useApp((app) => app.sessions[session])
  return view?.kind === 'open' ? view : undefined
}

function useNames(item: ItemOf<'error'>, view: OpenSession | undefined): { provider: string; model: string } {
  const t = useT()
  const models = useApp((app) => app.global?.models)
  const asked = item.selection ?? effective(view?.state, models).selection
  const row = models?.providers.find((provider) => provider.id === asked?.provider)
  return {
    provider: row?.label ?? asked?.provider ?? t('error.someProvider'),
    model: asked?.model ?? t('error.someModel'),
  }
}

interface WayProps extends Omit<Props, 'session'> {
  way: Way
  look: string
  view: OpenSession | undefined
  /** Only there for the failure at the end of a session that can be written to; so are the ways that change something. */
  again: (() => void) | undefined
}

function WayOut({ way, look, item, view, again }: WayProps) {
  const t = useT()
  const names = useNames(item, view)
  const models = useApp((app) => app.global?.models)
  const provider = (item.selection ?? effective(view?.state, models).selection)?.provider
  const settings = () => navigate({ place: 'settings', page: 'models', ...(provider !== undefined && { provider }) })
  switch (way) {
    case 'again':
      return again ? (
        <Button look={look} data-testid="try-again" onClick={again}>
          <RotateCcw size={14} />
          {t('error.again')}
        </Button>
      ) : null
    case 'pick':
      return again && view ? (
        <Button look={look} onClick={() => openPicker(view.state.id)}>
          {t('error.toPick')}
        </Button>
      ) : null
    case 'fork':
      return view && view.state.lastTurn > 1 ? (
        <Button look={look} onClick={() => openOverlay({ kind: 'fork', session: view.state.id })}>
          {t('error.toFork')}
        </Button>
      ) : null
    case 'key':
    case 'provider':
      return (
        <Button look={look} onClick={settings}>
          {t(way === 'key' ? 'error.toKey' : 'error.toProvider', names)}
        </Button>
      )
    case 'limit':
      return view && again ? <Raise view={view} again={again} /> : null
    default:
      return never(way)
  }
}

/** The limit that stopped it: this session's can be raised here, the day's where it is set. */
function Raise({ view, again }: { view: OpenSession; again: () => void }) {
  const t = useT()
  const host = useApp((app) => app.global?.sessionSettings?.budget)
  const spent = view.state.usage.own.cost
  const { value } = limitOf(view.state, host?.session)
  if (!isOwnLimit(view.state))
    return (
      <>
        {host?.day !== undefined && (
          <Button look="pri" onClick={() => navigate({ place: 'settings', page: 'sessions' })}>
            {t('error.toDay')}
          </Button>
        )}
        <Button data-testid="try-again" onClick={again}>
          <RotateCcw size={14} />
          {t('error.again')}
        </Button>
      </>
    )
  return (
    <>
      <LimitField
        state={view.state}
        label={t('limit.raise')}
        initial={proposal(value, spent)}
        look="pri"
        onSaved={again}
      />
      {value !== undefined && (
        <span className="t12 t3">{t('limit.spent', { spent: money(spent, true), limit: money(value, true) })}</span>
      )}
    </>
  )
}

/** Only the failure at the end can be tried again: the prompt that waits for it, else the last one, is sent. */
function againOf(view: OpenSession, { key, seq }: ItemOf<'error'>): (() => void) | undefined {
  const { id, openTurn, inbox } = view.state
  if (view.readOnly || view.writer.kind === 'elsewhere' || openTurn) return undefined
  const { items } = view.transcript
  if (items.findLast((each) => each.kind === 'error')?.key !== key) return undefined
  const last = items.findLast((each) => each.kind === 'user')
  const held = waiting(inbox, 'next-turn')[0]
  if (items.some((each) => each.kind === 'footer' && each.seq > seq + 1)) return undefined
  const place = `session:${id}`
  if (held) return () => void run('queue.send-now', { session: id, message: held.message.id }, { place })
  if (!last) return undefined
  return () => void run('session.prompt', { session: id, text: last.text, mode: 'queue' }, { place })
}
