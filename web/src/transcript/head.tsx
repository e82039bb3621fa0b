import { Archive, Cpu, Download, Ellipsis, GitFork, Layers, Link2, Pencil, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { ImeGuard } from '../composer/ime.ts'
import { shortPath } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { effective } from '../models/selection.ts'
import { PresetChip } from '../presets/preset-chip.tsx'
import { archiveSession, deleteSession } from '../rail/session-actions.ts'
import { linkTo } from '../router.ts'
import { run } from '../store/actions.ts'
import { exportSession } from '../store/export.ts'
import { fork } from '../store/fork.ts'
import type { OpenSession } from '../store/session-view.ts'
import { openOverlay, useApp } from '../store/store.ts'
import { IconButton } from '../ui/button.tsx'
import { usePhone } from '../ui/hooks.ts'
import { Menu } from '../ui/pop.tsx'
import { copyText } from '../ui/problems.tsx'
import { RailButton } from '../ui/rail-button.tsx'
import { Gauge } from './gauge.tsx'

export function Head({ id, view, title }: { id: string; view: OpenSession; title: string }) {
  const phone = usePhone()
  const home = useApp((app) => app.global?.host.home)
  const cwd = view.state.cwd
  const [renaming, setRenaming] = useState(false)
  const menu = <SessionMenu id={id} begun={view.state.lastTurn > 0} onRename={() => setRenaming(true)} />
  if (phone)
    return (
      <header className="head">
        <RailButton />
        <div className="grow">
          <Title key={id} id={id} title={title} renaming={renaming} onDone={() => setRenaming(false)} />
          <p className="t12 t3 trunc">
            <span style={{ marginRight: 8 }}>{cwd?.split('/').at(-1)}</span>
            <Gauge view={view} />
          </p>
        </div>
        {menu}
      </header>
    )
  return (
    <header className="head">
      <RailButton />
      <Title key={id} id={id} title={title} renaming={renaming} onDone={() => setRenaming(false)} />
      {cwd && (
        <span className="mono t3 trunc path wide-only" title={cwd}>
          {shortPath(cwd, home)}
        </span>
      )}
      <span className="sep" />
      <PresetChip view={view} />
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

function SessionMenu({ id, begun, onRename }: { id: string; begun: boolean; onRename(): void }) {
  const t = useT()
  const into = {
    label: t('fork.into'),
    icon: <Layers size={14} />,
    run: () => openOverlay({ kind: 'fork', session: id }),
  }
  const archived = useApp((app) => app.rows[id]?.archived ?? false)
  return (
    <Menu
      trigger={
        <IconButton bare label={t('rail.more')}>
          <Ellipsis size={16} />
        </IconButton>
      }
      entries={[
        { label: t('rail.rename'), icon: <Pencil size={14} />, movesFocus: true, run: onRename },
        { label: t('session.fork'), icon: <GitFork size={14} />, run: () => void fork(id) },
        ...(begun ? [into] : []),
        { label: t('session.link'), icon: <Link2 size={14} />, run: () => void copyText(window.location.href) },
        { label: t('session.export'), icon: <Download size={14} />, run: () => exportSession(id) },
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

interface TitleProps {
  id: string
  title: string
  renaming: boolean
  onDone(): void
}

/** The title, or while it is renamed a field in its place. */
function Title({ id, title, renaming, onDone }: TitleProps) {
  const t = useT()
  const input = useRef<HTMLInputElement>(null)
  const [ime] = useState(() => new ImeGuard())
  // The menu that opened this gives the focus back to its button first.
  useEffect(() => {
    if (!renaming) return
    const timer = setTimeout(() => input.current?.select(), 0)
    return () => clearTimeout(timer)
  }, [renaming])
  if (!renaming)
    return (
      <h1 className="trunc" title={title}>
        {title}
      </h1>
    )
  const save = () => {
    const next = input.current?.value.trim() ?? ''
    onDone()
    if (next !== '' && next !== title)
      void run('session.rename', { session: id, title: next }, { place: `session:${id}` })
  }
  return (
    <input
      ref={input}
      className="rename"
      aria-label={t('rail.rename')}
      data-testid="title-field"
      defaultValue={title}
      maxLength={200}
      onCompositionStart={ime.start}
      onCompositionEnd={ime.end}
      onBlur={save}
      onKeyDown={(event) => {
        if (ime.owns(event)) return
        if (event.key === 'Enter') save()
        if (event.key === 'Escape') onDone()
      }}
    />
  )
}

interface TabsProps {
  id: string
  view: OpenSession
  at: 'chat' | 'prompt'
}

/** The views of a session; on a phone the preset stands here, for want of room above. */
export function Tabs({ id, view, at }: TabsProps) {
  const t = useT()
  const phone = usePhone()
  const tabs = [
    { key: 'chat', label: t('tab.chat'), to: { place: 'session', id } },
    { key: 'prompt', label: t('tab.prompt'), to: { place: 'session', id, prompt: {} } },
  ] as const
  return (
    <nav className="tabs" aria-label={t('tabs')}>
      {tabs.map(({ key, label, to }) => (
        <a
          key={key}
          className="tab"
          data-testid={`tab-${key}`}
          aria-current={at === key ? 'page' : undefined}
          {...linkTo(to)}
        >
          {label}
        </a>
      ))}
      {phone && (
        <span className="end">
          <PresetChip view={view} />
        </span>
      )}
    </nav>
  )
}
