import { Copy, Pencil, Plus } from 'lucide-react'
import type { PresetRow } from '../../../server/wire/views.ts'
import type { DryRun } from '../../../server/wire/presets.ts'
import { presetContents } from '../api.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { useNewSession } from '../new-session/state.ts'
import { linkTo, navigate } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { total } from './compare.ts'
import { openPresetDialog } from './dialogs.ts'
import { Marks } from './marks.tsx'
import { NameLine } from './name-line.tsx'
import { Trouble } from './trouble.tsx'
import { useAnswer } from './resource.ts'
import { Contexts, Sections, Services, TokenBar, ToolRows } from './sections.tsx'

/** What an agent of this preset is given with every request. */
export function Gives({ preset }: { preset: PresetRow }) {
  const t = useT()
  const usable = preset.broken === undefined
  // Only a new generation gives something else; what is said of the document meanwhile does not count.
  const revision = `${preset.generation} ${usable}`
  const answer = useAnswer(preset.id, revision, usable ? () => presetContents(preset.id) : undefined)
  const run = answer.kind === 'shown' ? answer.value : undefined
  const error = answer.kind === 'failed' ? answer.error : undefined
  return (
    <div className="in" data-testid="preset-gives">
      <section>
        <div className="pset-top">
          <div className="grow">
            <NameLine preset={preset} />
          </div>
          <span className="flex acts">
            <Edit preset={preset} />
            <Use preset={preset} />
          </span>
        </div>
        <div className="flex marks">
          <span className="tag">G{preset.generation}</span>
          <Marks preset={preset} />
          <span className="tag line">{t(preset.own ? 'presets.yours' : 'presets.builtIn')}</span>
        </div>
      </section>
      <Trouble preset={preset} />
      {error && !run && (
        <p className="note fail" role="alert">
          <span>
            {error.message} <span className="mono-s">{error.code}</span>
          </span>
        </p>
      )}
      {run ? <Run run={run} /> : <Known preset={preset} waiting={usable && answer.kind === 'loading'} />}
    </div>
  )
}

function Edit({ preset }: { preset: PresetRow }) {
  const t = useT()
  if (preset.own)
    return (
      <a className="btn" {...linkTo({ place: 'presets', id: preset.id, tab: 'edit' })}>
        <Pencil size={14} />
        {t('presets.edit')}
      </a>
    )
  return (
    <Button onClick={() => openPresetDialog({ kind: 'copy', from: preset.id })}>
      <Copy size={14} />
      {t('presets.copyToEdit')}
    </Button>
  )
}

function Use({ preset }: { preset: PresetRow }) {
  const t = useT()
  return (
    <Button
      look="pri"
      off={preset.broken?.split('\n')[0]}
      onClick={() => {
        useNewSession.setState({ preset: preset.id })
        navigate({ place: 'new' })
      }}
    >
      <Plus size={14} />
      {t('preset.use')}
    </Button>
  )
}

function Run({ run }: { run: DryRun }) {
  const t = useT()
  return (
    <>
      <section>
        <Head title={t('preset.cost')} end={`${thousands(total(run))} ${t('preset.before')}`} />
        <TokenBar run={run} />
      </section>
      <section>
        <Head title={t('presets.tools')} end={String(run.tools.length)} />
        <div className="card">
          <ToolRows tools={run.tools} />
        </div>
      </section>
      <section>
        <Head title={t('presets.services')} about={t('presets.servicesWhat')} />
        <Services services={run.services} />
      </section>
      <section>
        <Head title={t('preset.prompt')} about={t('presets.promptWhat')} />
        <Sections sections={run.sections} />
      </section>
      {run.contexts.length > 0 && (
        <section>
          <Head title={t('presets.contexts')} about={t('presets.contextsWhat')} />
          <Contexts contexts={run.contexts} />
        </section>
      )}
    </>
  )
}

export function Head({ title, about, end }: { title: string; about?: string; end?: string }) {
  return (
    <div className="hd">
      <div>
        <h2>{title}</h2>
        {about && <p>{about}</p>}
      </div>
      {end && <span className="right num t3 t12">{end}</span>}
    </div>
  )
}

/** Before the answer, and for a preset that never mounted: what the list knows. */
function Known({ preset, waiting }: { preset: PresetRow; waiting: boolean }) {
  const t = useT()
  const known = preset.tools.length > 0 || preset.prompt !== ''
  if (!known && waiting) return <Bones />
  if (!known) return <p className="hint">{t('presets.nothingYet')}</p>
  return (
    <section aria-busy={waiting}>
      <Head
        title={t('presets.tools')}
        end={preset.tokens === undefined ? t('preset.unknown') : `${thousands(preset.tokens)} ${t('preset.before')}`}
      />
      <div className="card">
        <ToolRows tools={preset.tools} />
      </div>
    </section>
  )
}

export const Bones = () => (
  <div className="stack" aria-busy="true">
    {[8, 72, 168].map((height) => (
      <div key={height} className="skel" style={{ height }} />
    ))}
  </div>
)
