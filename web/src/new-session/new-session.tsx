import { ArrowUp, ChevronDown, Folder, FolderPlus, Layers } from 'lucide-react'
import { useState } from 'react'
import { textTokens } from '../../../server/wire/tokens.ts'
import type { GlobalState, WorkspaceRow } from '../../../server/wire/views.ts'
import { TextBox } from '../composer/text-box.tsx'
import { shortPath, tokens } from '../i18n/format.ts'
import { t as translate, useT } from '../i18n/i18n.ts'
import type { T } from '../i18n/i18n.ts'
import { ModelChip } from '../models/model-chip.tsx'
import type { AlsoResult } from '../models/model-chip.tsx'
import { PresetOptions } from '../presets/preset-options.tsx'
import { NoRunner } from '../safety/no-runner.tsx'
import { PermissionPick } from '../safety/permission-chip.tsx'
import { linkTo, navigate } from '../router.ts'
import { run } from '../store/actions.ts'
import { draftOf, setDraft, useDraft } from '../store/drafts-state.ts'
import { get, openOverlay, toast, useApp } from '../store/store.ts'
import { IconButton } from '../ui/button.tsx'
import { useTitle } from '../ui/hooks.ts'
import { Pop } from '../ui/pop.tsx'
import { Problems } from '../ui/problems.tsx'
import { RailButton } from '../ui/rail-button.tsx'
import { Delta } from './delta.tsx'
import { FirstRun } from './first-run.tsx'
import { PresetCards } from './preset-cards.tsx'
import { presetOf, useNewSession, workspaceOf } from './state.ts'

export function NewSessionScreen({ workspace }: { workspace?: string | undefined }) {
  const t = useT()
  const global = useApp((app) => app.global)
  const listed = useApp((app) => app.rowsPage !== undefined)
  const any = useApp((app) => Object.keys(app.rows).length > 0)
  useTitle(t('rail.new'))
  return (
    <div className="main">
      <header className="head">
        <RailButton />
        <h1>{t('rail.new')}</h1>
        <span className="t3 t12 trunc wide-only">{t('new.nothingSent')}</span>
      </header>
      {!global || !listed ? (
        <StartSkeleton />
      ) : global.workspaces.length === 0 && !any ? (
        <FirstRun global={global} />
      ) : (
        <Start global={global} asked={workspace} />
      )}
    </div>
  )
}

function useChosen(global: GlobalState, asked: string | undefined) {
  const picked = useNewSession()
  const last = useApp((app) => Object.values(app.rows).sort((a, b) => b.updated - a.updated)[0]?.cwd)
  const workspace = workspaceOf(global, picked.workspace ?? asked, last)
  const preset = presetOf(global, picked.preset)
  const selection = picked.selection ?? global.models.default
  return { picked, workspace, preset, selection }
}

function Start({ global, asked }: { global: GlobalState; asked: string | undefined }) {
  const t = useT()
  const text = useDraft('new')
  const { picked, workspace, preset, selection } = useChosen(global, asked)
  const demo = global.models.providers.find((provider) => provider.id === selection?.provider)?.wire === 'demo'
  const submit = () => {
    // The demo brings a folder of its own; for any other model a folder is chosen first, and the text waits.
    if (!workspace && !demo && text.trim() !== '') openOverlay({ kind: 'folder', onAdded: pickWorkspace })
    else void create(workspace?.id, preset?.id)
  }
  const manage = linkTo({ place: 'presets' })
  return (
    <div className="page">
      <div className="start">
        <h2 className="big">{workspace ? t('new.title', { name: workspace.name }) : t('new.titleNone')}</h2>
        <div className="chips">
          <WorkspaceChip global={global} value={workspace} />
          <PresetPick global={global} value={preset?.id} />
          <ModelChip
            models={global.models}
            now={selection ? { source: picked.selection ? 'picked' : 'default', selection } : { source: 'none' }}
            look="out"
            lead={<span className="k">{t('model')}</span>}
            saved={picked.selection && alsoText(translate, picked.alsoDefault)}
            onPick={(next, alsoDefault) => useNewSession.setState({ selection: next, alsoDefault })}
            onAlso={(alsoDefault) => useNewSession.setState({ alsoDefault })}
          />
          <PermissionPick safety={global.safety} />
        </div>
        <NoRunner safety={global.safety} />
        <div className="comp">
          <TextBox
            autoFocus
            value={text}
            label={t('composer.label')}
            placeholder={t('new.placeholder')}
            onChange={(next) => setDraft('new', next)}
            onEnter={submit}
          />
          <div className="tools">
            <span className="end">
              {preset?.tokens !== undefined && (
                <span className="num">
                  {t('new.first', { n: tokens(preset.tokens + Math.ceil(textTokens(text))) })}
                </span>
              )}
              <IconButton
                label={t('send')}
                keys="Enter"
                look="send"
                data-testid="send"
                aria-disabled={text.trim() === ''}
                onClick={submit}
              >
                <ArrowUp size={16} />
              </IconButton>
            </span>
          </div>
        </div>
        <div className="under">
          <Problems place="new" />
          <Delta global={global} now={preset} />
        </div>
        <div className="sect">
          <h3 className="m">{t('presets')}</h3>
          <span className="t3 t12 trunc">{t('presets.what')}</span>
          <a className="btn ghost right" {...manage}>
            {t('presets.manage')}
          </a>
        </div>
        <PresetCards presets={global.presets} value={preset?.id} onPick={pickPreset} />
      </div>
    </div>
  )
}

/** Nothing is saved before there is a session: a pick can be thought better of. */
const alsoText = (t: T, also: boolean): AlsoResult => ({
  text: t(also ? 'model.alsoLater' : 'model.alsoOff'),
  tone: 't3',
})

const pickWorkspace = (workspace: string): void => useNewSession.setState({ workspace })

function pickPreset(id: string): void {
  const { global } = get()
  const before = global && presetOf(global, useNewSession.getState().preset)?.id
  if (before === id) return
  useNewSession.setState({ preset: id, ...(before !== undefined && { before }) })
}

/** One command makes the session and says the first words; the text is kept until it is accepted. */
export async function create(workspace: string | undefined, preset: string | undefined): Promise<void> {
  const prompt = draftOf('new')
  if (prompt.trim() === '') return
  const { selection, alsoDefault, permission } = useNewSession.getState()
  const outcome = await run(
    'session.create',
    {
      prompt,
      ...(workspace !== undefined && { workspace }),
      ...(preset !== undefined && { preset }),
      ...(permission !== undefined && { permission }),
      ...(selection && { selection: { ...selection, alsoDefault } }),
    },
    { place: 'new', retry: () => void create(workspace, preset) },
  )
  if (!outcome.ok) return
  setDraft('new', '')
  useNewSession.setState({ alsoDefault: true, ...kept(workspace, preset) }, true)
  const saved = outcome.result.default
  if (saved?.saved) toast(translate('model.defaultSaved'), { tone: 'ok' })
  if (saved && !saved.saved) toast(translate('model.alsoNotSaved', { reason: saved.reason }), { tone: 'warn' })
  navigate({ place: 'session', id: outcome.result.session })
}

/** Folder and preset are likely the same next time; a model picked for one session is not. */
const kept = (workspace: string | undefined, preset: string | undefined) => ({
  ...(workspace !== undefined && { workspace }),
  ...(preset !== undefined && { preset }),
})

function WorkspaceChip({ global, value }: { global: GlobalState; value: WorkspaceRow | undefined }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const { home } = global.host
  const trigger = (
    <button type="button" className="chip out" data-testid="workspace-chip">
      <Folder size={14} />
      <span className="trunc">{value ? shortPath(value.path, home) : t('workspace.choose')}</span>
      <ChevronDown size={12} />
    </button>
  )
  const pick = (id: string) => {
    setOpen(false)
    pickWorkspace(id)
  }
  return (
    <Pop open={open} onOpenChange={setOpen} title={t('workspace')} trigger={trigger}>
      <div className="opts" role="listbox" aria-label={t('workspace')}>
        {global.workspaces.map((workspace) => {
          const off = workspace.problem !== undefined
          const on = workspace.id === value?.id
          return (
            <button
              key={workspace.id}
              type="button"
              role="option"
              aria-selected={on}
              aria-disabled={off || undefined}
              className={`opt ${on ? 'on' : ''}`}
              onClick={() => off || pick(workspace.id)}
            >
              <span className={`radio ${on ? 'on' : off ? 'gone' : ''}`} />
              <span className="grow">
                <span className="m trunc">{workspace.name}</span>
                <span className={`sub mono-s trunc ${off ? 'warn' : ''}`}>
                  {workspace.problem ? t(`workspace.${workspace.problem}`) : shortPath(workspace.path, home)}
                </span>
              </span>
            </button>
          )
        })}
      </div>
      <button
        type="button"
        className="opt pop-part"
        onClick={() => {
          setOpen(false)
          openOverlay({ kind: 'folder', onAdded: pick })
        }}
      >
        <FolderPlus size={16} className="t3" />
        {t('workspace.other')}
      </button>
    </Pop>
  )
}

function PresetPick({ global, value }: { global: GlobalState; value: string | undefined }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const row = global.presets.find((preset) => preset.id === value)
  const trigger = (
    <button type="button" className="chip out" data-testid="preset-chip">
      <Layers size={14} />
      <span className="k">{t('preset')}</span>
      <span className="trunc">{value ?? t('preset.none')}</span>
      {row && <span className="sub">G{row.generation}</span>}
      <ChevronDown size={12} />
    </button>
  )
  return (
    <Pop open={open} onOpenChange={setOpen} title={t('preset')} trigger={trigger}>
      <PresetOptions
        presets={global.presets}
        value={value}
        onPick={(id) => {
          setOpen(false)
          pickPreset(id)
        }}
      />
    </Pop>
  )
}

function StartSkeleton() {
  return (
    <div className="page" aria-busy="true">
      <div className="start">
        <div className="skel" style={{ width: '46%', height: 32, marginBottom: 28 }} />
        <div className="flex" style={{ marginBottom: 8 }}>
          {[120, 150, 190].map((width) => (
            <div key={width} className="skel" style={{ width, height: 28 }} />
          ))}
        </div>
        <div className="comp" style={{ height: 122 }} />
      </div>
    </div>
  )
}
