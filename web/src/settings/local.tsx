import { RefreshCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { LocalServer } from '../../../server/wire/models.ts'
import type { ProviderView } from '../../../server/wire/views.ts'
import { timeOfDay } from '../i18n/format.ts'
import { run } from '../store/actions.ts'
import { toast, useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { freeId } from './options.ts'
import { useText } from './text.ts'
import type { Text } from './text.ts'

interface Props {
  providers: readonly ProviderView[]
  onOpen(id: string): void
}

const PLACE = 'local'

async function find(): Promise<LocalServer[] | undefined> {
  const outcome = await run('provider.find-local', {}, { place: PLACE })
  return outcome.ok ? outcome.result.servers : undefined
}

/** Model servers of this machine: looked for when the page opens and when asked, never in between. */
export function LocalServers({ providers, onOpen }: Props) {
  const t = useText()
  const online = useApp((app) => app.status.kind === 'open')
  const [found, setFound] = useState<{ servers: LocalServer[]; at: number }>()
  const [looking, setLooking] = useState(true)
  const look = async () => {
    setLooking(true)
    const servers = await find()
    setLooking(false)
    if (servers) setFound({ servers, at: Date.now() })
  }
  useEffect(() => {
    void find().then((servers) => {
      setLooking(false)
      if (servers) setFound({ servers, at: Date.now() })
    })
  }, [])
  const servers = found?.servers ?? []
  const silent = servers.filter(({ state }) => state === 'nothing')
  return (
    <section id="local">
      <div className="hd">
        <div>
          <h2>{t('local')}</h2>
          <p>
            {found
              ? t('local.looked', { n: servers.length, time: timeOfDay(found.at) })
              : t(online ? 'local.looking' : 'local.offline')}
          </p>
        </div>
        <Button
          look="ghost right"
          off={looking ? t('local.looking') : online ? undefined : t('offline')}
          onClick={() => void look()}
        >
          <RefreshCw size={14} />
          {t('local.again')}
        </Button>
      </div>
      <Problems place={PLACE} />
      <div className="card rows" aria-live="polite">
        {!found && <Skeleton />}
        {servers
          .filter(({ state }) => state !== 'nothing')
          .map((server) => (
            <ServerRow key={server.port} server={server} providers={providers} onOpen={onOpen} />
          ))}
        {silent.length > 0 && (
          <div className="pv" data-testid="local-nothing">
            <span className="dot" />
            <span className="t2">{silent.map(({ name }) => name).join(', ')}</span>
            <span className="mono t3">{silent.map(({ port }) => port).join(', ')}</span>
            <span className="end">{t('local.nothing')}</span>
          </div>
        )}
      </div>
    </section>
  )
}

function Skeleton() {
  return (
    <div className="pv" data-testid="local-skeleton">
      <span className="skel" style={{ width: 180 }} />
      <span className="skel right" style={{ width: 120 }} />
    </div>
  )
}

const TONES = { ready: 'works', 'no-model': 'needs-you', 'not-an-api': 'failed', nothing: '' } as const

function saidOf(t: Text, { state, models }: LocalServer): string {
  if (state !== 'ready') return t(state === 'no-model' ? 'local.noModel' : 'local.notAnApi')
  const [first = '', ...others] = models
  return others.length === 0 ? t('local.one', { model: first }) : t('local.many', { model: first, n: others.length })
}

function ServerRow({ server, providers, onOpen }: { server: LocalServer } & Props) {
  const t = useText()
  const [adding, setAdding] = useState(false)
  const place = `local:${server.port}`
  const { name, baseURL } = server
  const same = providers.find((provider) => provider.id === server.provider || provider.baseURL === baseURL)
  const add = async () => {
    setAdding(true)
    const id = freeId(
      name,
      providers.map((provider) => provider.id),
    )
    const args = { id, label: name, wire: 'chat', baseURL, key: 'none', options: { firstByteMs: 0 } } as const
    const outcome = await run('provider.save', args, { place, retry: () => void add() })
    setAdding(false)
    if (outcome.ok) toast(t('provider.added', { name }), { tone: 'ok' })
  }
  return (
    <div data-testid="local-server" data-state={server.state}>
      <div className="pv">
        <span className={`dot ${TONES[server.state]}`} role="img" aria-label={t(`local.state.${server.state}`)} />
        <span className="b">{name}</span>
        <span className="mono t3 trunc">127.0.0.1:{server.port}</span>
        <span className="end pv-end">
          <span className="trunc">{saidOf(t, server)}</span>
          {same ? (
            <Button look="ghost link" onClick={() => onOpen(same.id)}>
              {t('local.added')}
            </Button>
          ) : (
            <Button
              aria-label={t('local.addOf', { name })}
              off={adding ? t('waits') : server.state === 'ready' ? undefined : saidOf(t, server)}
              onClick={() => void add()}
            >
              {t('local.add')}
            </Button>
          )}
        </span>
      </div>
      <div className="in-row">
        <Problems place={place} />
      </div>
    </div>
  )
}
