import { Suspense, lazy, useRef, useState } from 'react'
import type { CommandResults } from '../../../../server/wire/commands.ts'
import type { PresetSource } from '../../../../server/wire/presets.ts'
import type { PresetRow } from '../../../../server/wire/views.ts'
import { presetSource, presetVocabulary } from '../../api.ts'
import { useT } from '../../i18n/i18n.ts'
import { navigate } from '../../router.ts'
import { useMedia } from '../../ui/hooks.ts'
import { Problems } from '../../ui/problems.tsx'
import { Segment } from '../../ui/button.tsx'
import { placeOf } from '../actions.ts'
import { Failed } from '../../ui/failed.tsx'
import { revisionOf, useAnswer } from '../resource.ts'
import type { Loaded } from '../resource.ts'
import { Conflict } from './conflict.tsx'
import { DryPanel } from './dry.tsx'
import { inConflict, isDirty } from './edit-state.ts'
import { Foot } from './foot.tsx'
import { ProblemList } from './problem-list.tsx'
import { useActivate } from './use-activate.ts'
import { useCheck } from './use-check.ts'
import { useEdit } from './use-edit.ts'
import { Versions } from './versions.tsx'

const EditorField = lazy(async () => ({ default: (await import('./field.tsx')).EditorField }))

/** The document of an own preset in the editor, tried while it is written. */
export function EditTab({ preset }: { preset: PresetRow }) {
  const [saves, setSaves] = useState(0)
  const source: Loaded<PresetSource> = useAnswer(preset.id, `${revisionOf(preset)} ${saves}`, () =>
    presetSource(preset.id),
  )
  if (source.kind === 'loading') return <EditBones />
  if (source.kind === 'failed')
    return (
      <div className="pad">
        <Failed error={source.error} again={source.again} />
      </div>
    )
  return <Editing preset={preset} source={source.value} onStale={() => setSaves((count) => count + 1)} />
}

interface Props {
  preset: PresetRow
  source: PresetSource
  /** The document on the server is another one than `source`. */
  onStale(): void
}

function Editing({ preset, source, onStale }: Props) {
  const t = useT()
  const edit = useEdit(source)
  const state = edit.use()
  const checked = useCheck(state.text, preset.id, `${preset.generation} ${preset.broken ?? ''}`)
  const vocabulary = useAnswer('vocabulary', '', presetVocabulary)
  const [versions, setVersions] = useState(false)
  const narrow = useMedia('(max-width: 1180px)')
  const [side, setSide] = useState<'text' | 'dry'>('text')
  const [saved, setSaved] = useState<CommandResults['preset.save']>()
  const activation = useActivate({ preset, state, checked, onStale })
  const foot = useRef<HTMLDivElement>(null)
  const activate = async () => {
    const before = preset.generation
    const done = await activation.activate()
    if (!done) return
    edit.saved(done.text, done.result.digest)
    // A document that declared nothing yet may have been given its id.
    if (done.result.preset !== preset.id)
      return navigate({ place: 'presets', id: done.result.preset, tab: 'edit' }, 'replace')
    setSaved({ ...done.result, generation: done.result.generation === before ? 0 : done.result.generation })
    onStale()
  }
  const faults = checked.check?.diagnostics ?? NONE
  return (
    <div className={`pedit ${narrow ? `narrow ${side}` : ''}`}>
      {narrow && <Sides value={side} onPick={setSide} />}
      <div className="ed">
        <div className="ed-notes">
          <Problems place={placeOf(preset.id)} />
          {inConflict(state) && <Conflict edit={edit} />}
          {saved && !isDirty(state) && <Saved generation={saved.generation} />}
        </div>
        <Suspense fallback={<div className="cm-host" aria-busy="true" />}>
          <EditorField
            preset={preset.id}
            text={state.text}
            label={t('presets.editor', { id: preset.id })}
            diagnostics={faults}
            vocabulary={vocabulary.kind === 'shown' ? vocabulary.value : undefined}
            onChange={edit.change}
            onActivate={() => void activate()}
            onLeave={() => foot.current?.querySelector<HTMLElement>('button')?.focus()}
          />
        </Suspense>
        <ProblemList preset={preset.id} faults={faults} fresh={checked.fresh} />
        <div ref={foot}>
          <Foot
            state={state}
            activation={activation}
            onActivate={() => void activate()}
            onVersions={() => setVersions(true)}
            onDiscard={edit.takeTheirs}
          />
        </div>
      </div>
      <DryPanel checked={checked} generation={preset.generation} />
      {versions && (
        <Versions
          source={source}
          now={state.text}
          onClose={() => setVersions(false)}
          onBring={(text) => {
            edit.change(text)
            setVersions(false)
          }}
        />
      )}
    </div>
  )
}

const NONE: readonly never[] = []

function Sides({ value, onPick }: { value: 'text' | 'dry'; onPick(side: 'text' | 'dry'): void }) {
  const t = useT()
  return (
    <div className="sides">
      <Segment
        label={t('presets.sides')}
        value={value}
        onPick={onPick}
        options={[
          { value: 'text', label: t('presets.text') },
          { value: 'dry', label: t('presets.dryRun') },
        ]}
      />
    </div>
  )
}

function Saved({ generation }: { generation: number }) {
  const t = useT()
  return (
    <p className="note okay" role="status" data-testid="activated">
      <span>{generation === 0 ? t('presets.savedSame') : t('presets.activated', { n: generation })}</span>
    </p>
  )
}

const EditBones = () => (
  <div className="pedit" aria-busy="true">
    <div className="ed">
      <div className="cm-host stack" style={{ padding: 16, gap: 8 }}>
        {[40, 62, 55, 30, 70, 48].map((width) => (
          <div key={width} className="skel" style={{ width: `${width}%` }} />
        ))}
      </div>
    </div>
    <aside className="dry" />
  </div>
)
