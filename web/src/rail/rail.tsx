import {
  ChartColumn,
  ChevronRight,
  CircleHelp,
  Folder,
  Layers,
  PanelLeft,
  Plus,
  Search,
  SlidersHorizontal,
  Contrast,
  X,
} from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { useT } from '../i18n/i18n.ts'
import { shortPath } from '../i18n/format.ts'
import { linkTo, navigate, useRoute } from '../router.ts'
import { moreRows } from '../store/actions.ts'
import { setPrefs, usePrefs } from '../store/prefs.ts'
import { openOverlay, useApp } from '../store/store.ts'
import { Brand } from '../ui/brand.tsx'
import { Button, IconButton, Keys } from '../ui/button.tsx'
import { MOD, useNow, usePhone } from '../ui/hooks.ts'
import { groupRows } from './grouping.ts'
import type { Group } from './grouping.ts'
import { Hits } from './hits.tsx'
import { SessionLine } from './session-line.tsx'

export function Rail() {
  const t = useT()
  const phone = usePhone()
  const [query, setQuery] = useState('')
  const home = linkTo({ place: 'home' })
  return (
    <nav className="rail" aria-label={t('rail.label')}>
      <div className="rail-top">
        <a className="brand" {...home} aria-label="core-web">
          <Brand />
        </a>
        <span className="right" />
        {phone ? (
          <IconButton bare label={t('close')} onClick={() => openOverlay(undefined)}>
            <X size={18} />
          </IconButton>
        ) : (
          <IconButton label={t('rail.collapse')} keys="[" onClick={() => setPrefs({ railCollapsed: true })}>
            <PanelLeft size={16} />
          </IconButton>
        )}
      </div>
      <div className="rail-acts">
        <Button
          data-testid="new-session"
          onClick={() => {
            openOverlay(undefined)
            navigate({ place: 'new' })
          }}
        >
          <Plus size={16} className="t2" />
          {t('rail.new')}
          <span className="right">
            <kbd>N</kbd>
          </span>
        </Button>
        <SearchField query={query} onQuery={setQuery} />
      </div>
      {query.trim() === '' ? <List /> : <Hits query={query.trim()} />}
      <Foot />
    </nav>
  )
}

function SearchField({ query, onQuery }: { query: string; onQuery(query: string): void }) {
  const t = useT()
  const input = useRef<HTMLInputElement>(null)
  return (
    <label className="field">
      <Search size={14} />
      <input
        ref={input}
        type="search"
        value={query}
        aria-label={t('rail.search')}
        placeholder={t('rail.search')}
        onChange={(event) => onQuery(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onQuery('')
          if (event.key === 'ArrowDown') focusLine(event, 1)
        }}
      />
      {query === '' ? <Keys keys={[MOD, 'K']} /> : null}
    </label>
  )
}

/** Up and down move through the lines, wherever the focus is in the rail. */
function focusLine(event: KeyboardEvent, by: number): void {
  const rail = (event.target as HTMLElement).closest('.rail')
  const lines = Array.from(rail?.querySelectorAll<HTMLElement>('[data-rail]') ?? [])
  const at = lines.indexOf(document.activeElement as HTMLElement)
  const next = lines[at < 0 ? 0 : at + by]
  if (!next) return
  event.preventDefault()
  next.focus()
}

function List() {
  const t = useT()
  const rows = useApp((app) => app.rows)
  const page = useApp((app) => app.rowsPage)
  const workspaces = useApp((app) => app.global?.workspaces)
  const now = useNow(30_000)
  const [archive, setArchive] = useState(false)
  const all = useMemo(() => Object.values(rows), [rows])
  const groups = useMemo(() => groupRows(all, workspaces ?? [], { archived: archive }), [all, workspaces, archive])
  const archived = useMemo(() => all.filter((row) => row.archived).length, [all])
  if (!page || !workspaces) return <Skeleton />
  return (
    <div
      className="rail-list"
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown') focusLine(event, 1)
        if (event.key === 'ArrowUp') focusLine(event, -1)
      }}
    >
      {archive && (
        <Button look="ghost sm" onClick={() => setArchive(false)}>
          {t('rail.back')}
        </Button>
      )}
      {groups.map((group) => (
        <GroupView key={group.path} group={group} now={now} />
      ))}
      {groups.length === 0 && (
        <p className="t3 t12" style={{ padding: '8px' }}>
          {t(archive ? 'rail.noArchived' : 'rail.none')}
        </p>
      )}
      {page.next !== undefined && <More />}
      {!archive && archived > 0 && (
        <Button look="ghost sm" style={{ justifyContent: 'flex-start' }} onClick={() => setArchive(true)}>
          {t('rail.showArchived', { n: archived })}
        </Button>
      )}
    </div>
  )
}

/** Loads the next page when it comes into view: older sessions arrive by scrolling. */
function More() {
  const t = useT()
  const mark = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && void moreRows(),
    )
    if (mark.current) observer.observe(mark.current)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={mark} className="t3 t12" style={{ padding: 8 }}>
      {t('rail.loadingMore')}
    </div>
  )
}

function GroupView({ group, now }: { group: Group; now: number }) {
  const t = useT()
  const route = useRoute()
  const home = useApp((app) => app.global?.host.home)
  const [shut, setShut] = useState(false)
  const { workspace } = group
  return (
    <section>
      <div className="ws-head" title={shortPath(group.path, home)}>
        <button
          type="button"
          className="flex grow"
          data-rail
          aria-expanded={!shut}
          onClick={() => setShut(!shut)}
          style={{ height: '100%' }}
        >
          {shut ? <ChevronRight size={14} className="t3" /> : <Folder size={14} />}
          <span className="trunc">{group.name || t('rail.noFolder')}</span>
          {workspace?.problem && <span className="warn t12">{t(`workspace.${workspace.problem}`)}</span>}
        </button>
        <span className="n t3 num">{group.rows.length}</span>
        {workspace && !workspace.problem && (
          <IconButton
            look="sm"
            label={t('rail.newIn', { name: group.name })}
            onClick={() => {
              openOverlay(undefined)
              navigate({ place: 'new', workspace: workspace.id })
            }}
          >
            <Plus size={14} />
          </IconButton>
        )}
      </div>
      {!shut && (
        <ul>
          {group.rows.map((row) => (
            <SessionLine key={row.id} row={row} on={route.place === 'session' && route.id === row.id} now={now} />
          ))}
          {group.rows.length === 0 && (
            <li className="t3 t12" style={{ padding: '4px 8px 4px 32px' }}>
              {t('rail.noneHere')}
            </li>
          )}
        </ul>
      )}
    </section>
  )
}

function Skeleton() {
  return (
    <div className="rail-list" aria-hidden="true">
      {[64, 148, 120, 164, 90].map((width, index) => (
        <div key={index} className="flex" style={{ height: 24, padding: '0 8px' }}>
          <div className="skel" style={{ width }} />
        </div>
      ))}
    </div>
  )
}

function Foot() {
  const t = useT()
  const route = useRoute()
  const theme = usePrefs((prefs) => prefs.theme)
  const go = (to: Parameters<typeof navigate>[0]) => () => {
    openOverlay(undefined)
    navigate(to)
  }
  const flip = () => {
    const dark = theme === 'dark' || (theme === 'system' && window.matchMedia('(prefers-color-scheme: dark)').matches)
    setPrefs({ theme: dark ? 'light' : 'dark' })
  }
  return (
    <div className="rail-foot">
      <IconButton label={t('presets')} look={route.place === 'presets' ? 'on' : ''} onClick={go({ place: 'presets' })}>
        <Layers size={16} />
      </IconButton>
      <IconButton label={t('usage')} look={route.place === 'usage' ? 'on' : ''} onClick={go({ place: 'usage' })}>
        <ChartColumn size={16} />
      </IconButton>
      <IconButton
        label={t('settings')}
        look={route.place === 'settings' ? 'on' : ''}
        onClick={go({ place: 'settings', page: 'models' })}
      >
        <SlidersHorizontal size={16} />
      </IconButton>
      <IconButton label={t('shortcuts')} keys="?" onClick={() => openOverlay({ kind: 'shortcuts' })}>
        <CircleHelp size={16} />
      </IconButton>
      <span className="right" />
      <IconButton label={t('theme.flip')} onClick={flip}>
        <Contrast size={16} />
      </IconButton>
    </div>
  )
}
