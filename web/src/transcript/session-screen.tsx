import { Archive, Cpu, Ellipsis, GitFork, Link2, Pencil, Trash2 } from 'lucide-react'
import { useEffect } from 'react'
import { inputOf } from '../../../server/projection/usage.ts'
import { Composer } from '../composer/composer.tsx'
import { shortPath, tokens } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { effective } from '../models/selection.ts'
import { PresetChip } from '../presets/preset-chip.tsx'
import { archiveSession, deleteSession } from '../rail/session-actions.ts'
import { navigate } from '../router.ts'
import { openSession, retrySession, run } from '../store/actions.ts'
import type { OpenSession } from '../store/session-view.ts'
import { get, useApp } from '../store/store.ts'
import { Button, IconButton, Tip } from '../ui/button.tsx'
import { usePhone, useTitle } from '../ui/hooks.ts'
import { Menu } from '../ui/pop.tsx'
import { copyText } from '../ui/problems.tsx'
import { RailButton } from '../ui/rail-button.tsx'
import { ReadOnly } from './read-only.tsx'
import { TranscriptView } from './transcript.tsx'

export function SessionScreen({ id }: { id: string }) {
  const t = useT()
  const view = useApp((app) => app.sessions[id])
  const title = useTitleOf(id, view?.kind === 'open' ? view : undefined)
  useEffect(() => openSession(id), [id])
  useTitle(title)
  if (view?.kind === 'failed')
    return (
      <div className="main">
        <header className="head">
          <RailButton />
          <h1>{t('session.missing')}</h1>
        </header>
        <div className="empty">
          <h2>{t('session.missing')}</h2>
          <p>
            {view.error.message} <span className="mono-s">{view.error.code}</span>
          </p>
          <div className="flex">
            <Button look="pri" onClick={() => navigate({ place: 'new' })}>
              {t('rail.new')}
            </Button>
            <Button onClick={() => retrySession(id)}>{t('problem.retry')}</Button>
          </div>
        </div>
      </div>
    )
  if (view?.kind !== 'open') return <Skeleton title={title} />
  return (
    <div className="main">
      <Head id={id} view={view} title={title} />
      <TranscriptView key={id} id={id} view={view} />
      <ReadOnly view={view} />
      <Composer id={id} view={view} />
    </div>
  )
}

function useTitleOf(id: string, view: OpenSession | undefined): string {
  const t = useT()
  const row = useApp((app) => app.rows[id]?.title)
  return view?.state.title?.title || row || t('untitled')
}

function Head({ id, view, title }: { id: string; view: OpenSession; title: string }) {
  const phone = usePhone()
  const home = useApp((app) => app.global?.host.home)
  const cwd = view.state.cwd
  const menu = <SessionMenu id={id} title={title} />
  if (phone)
    return (
      <header className="head">
        <RailButton />
        <div className="grow">
          <h1 className="trunc">{title}</h1>
          <p className="t12 t3 trunc">
            {[cwd?.split('/').at(-1), view.state.preset.current, <GaugeText key="g" view={view} />].map(
              (part, index) => (
                <span key={index} style={{ marginRight: 8 }}>
                  {part}
                </span>
              ),
            )}
          </p>
        </div>
        {menu}
      </header>
    )
  return (
    <header className="head">
      <RailButton />
      <h1 className="trunc" title={title}>
        {title}
      </h1>
      {cwd && (
        <span className="mono t3 trunc path wide-only" title={cwd}>
          {shortPath(cwd, home)}
        </span>
      )}
      <span className="sep" />
      <PresetChip state={view.state} />
      <span className="facts">
        <ModelFact view={view} />
        <Gauge view={view} />
        <span className="sep" />
        {menu}
      </span>
    </header>
  )
}

function ModelFact({ view }: { view: OpenSession }) {
  const t = useT()
  const models = useApp((app) => app.global?.models)
  const { source, selection } = effective(view.state, models)
  return (
    <span className="flex">
      <Cpu size={14} className="t3" />
      <span>{selection?.model ?? t('model.choose')}</span>
      <span className="t3 wide-only">{t(`model.source.${source}`)}</span>
    </span>
  )
}

function measure(view: OpenSession): { used: number; window: number | undefined } | undefined {
  const { last } = view.state.usage
  if (!last) return undefined
  const used = inputOf(last) + (last.outputTokens ?? 0)
  const listed = get().global?.models.providers.find((provider) => provider.id === view.state.lastHeader?.provider)
  const model = listed?.models.find((candidate) => candidate.id === view.state.lastHeader?.model)
  return { used, window: view.state.lastHeader?.contextWindow ?? model?.contextWindow }
}

function Gauge({ view }: { view: OpenSession }) {
  const t = useT()
  const size = measure(view)
  if (!size) return null
  const share = size.window === undefined ? undefined : Math.min(1, size.used / size.window)
  const label =
    size.window === undefined
      ? t('gauge.unknown', { used: tokens(size.used) })
      : t('gauge', { used: tokens(size.used), window: tokens(size.window) })
  return (
    <Tip text={label}>
      <span
        className={`gauge ${share !== undefined && share > 0.85 ? 'full' : ''}`}
        tabIndex={0}
        role="note"
        aria-label={label}
      >
        {share !== undefined && (
          <span className="bar">
            <i style={{ width: `${Math.max(2, share * 100)}%` }} />
          </span>
        )}
        <span>
          {tokens(size.used)}
          {size.window !== undefined && <span className="t3 wide-only"> / {tokens(size.window)}</span>}
        </span>
      </span>
    </Tip>
  )
}

function GaugeText({ view }: { view: OpenSession }) {
  const size = measure(view)
  if (!size) return null
  return (
    <span className="num">
      {size.window === undefined ? tokens(size.used) : `${tokens(size.used)} / ${tokens(size.window)}`}
    </span>
  )
}

function SessionMenu({ id, title }: { id: string; title: string }) {
  const t = useT()
  const archived = useApp((app) => app.rows[id]?.archived ?? false)
  const rename = () => {
    const next = window.prompt(t('rail.rename'), title)?.trim()
    if (next && next !== title) void run('session.rename', { session: id, title: next }, { place: `session:${id}` })
  }
  return (
    <Menu
      trigger={
        <IconButton bare label={t('rail.more')}>
          <Ellipsis size={16} />
        </IconButton>
      }
      entries={[
        { label: t('rail.rename'), icon: <Pencil size={14} />, run: rename },
        { label: t('session.fork'), icon: <GitFork size={14} />, run: () => void fork(id) },
        { label: t('session.link'), icon: <Link2 size={14} />, run: () => void copyText(window.location.href) },
        {
          label: t(archived ? 'rail.unarchive' : 'rail.archive'),
          icon: <Archive size={14} />,
          run: () => void archiveSession(id, !archived),
        },
        null,
        { label: t('rail.delete'), icon: <Trash2 size={14} />, danger: true, run: () => void deleteSession(id) },
      ]}
    />
  )
}

async function fork(id: string): Promise<void> {
  const outcome = await run('session.fork', { session: id }, { place: `session:${id}` })
  if (outcome.ok) navigate({ place: 'session', id: outcome.result.session })
}

function Skeleton({ title }: { title: string }) {
  return (
    <div className="main" aria-busy="true">
      <header className="head">
        <RailButton />
        <h1 className="trunc">{title}</h1>
      </header>
      <div className="scroll">
        <div className="read stack">
          <div style={{ background: 'var(--hover)', height: 38, borderRadius: 8 }} />
          <div className="skel" style={{ width: '38%' }} />
          <div className="skel" style={{ width: '61%' }} />
          <div className="card stack" style={{ padding: 16, gap: 10 }}>
            <div className="skel" style={{ width: '90%' }} />
            <div className="skel" style={{ width: '64%' }} />
            <div className="skel" style={{ width: '78%' }} />
          </div>
          <div className="skel" style={{ width: '86%' }} />
        </div>
      </div>
      <div className="base">
        <div className="comp" style={{ height: 92 }} />
      </div>
    </div>
  )
}
