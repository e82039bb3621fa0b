import { useState } from 'react'
import type { DryRun, PresetCheck } from '../../../../server/wire/presets.ts'
import { thousands } from '../../i18n/format.ts'
import { useT } from '../../i18n/i18n.ts'
import { DiffView } from '../../transcript/cards.tsx'
import { compareRuns, total } from '../compare.ts'
import type { Comparison, Names } from '../compare.ts'
import { Contexts, Sections, Services, TokenBar, ToolRows } from '../sections.tsx'
import type { Checked } from './use-check.ts'

type Tab = 'run' | 'against'

/** What the text in the editor would give an agent, and how that differs from what new sessions get now. */
export function DryPanel({ checked, generation }: { checked: Checked; generation: number }) {
  const t = useT()
  const [tab, setTab] = useState<Tab>('run')
  const { check } = checked
  return (
    <aside className="dry" aria-label={t('presets.dryRun')}>
      <div className="ptabs" role="tablist" aria-label={t('presets.dryRun')}>
        <TabButton on={tab === 'run'} onClick={() => setTab('run')} label={t('presets.dryRun')} />
        <TabButton
          on={tab === 'against'}
          onClick={() => setTab('against')}
          label={t('presets.against', { n: generation })}
        />
        <span className="right">{check && <Verdict checked={checked} />}</span>
      </div>
      <div className={`dry-body ${checked.fresh ? '' : 'old'}`} role="tabpanel" tabIndex={0} data-testid="dry-run">
        {!check && !checked.error && <DryBones />}
        {!check && checked.error && <p className="hint">{checked.error.message}</p>}
        {check && tab === 'run' && <DryView check={check} />}
        {check && tab === 'against' && <Against check={check} generation={generation} />}
      </div>
    </aside>
  )
}

function TabButton({ on, label, onClick }: { on: boolean; label: string; onClick(): void }) {
  return (
    <button type="button" role="tab" aria-selected={on} className="ptab" onClick={onClick}>
      {label}
    </button>
  )
}

function Verdict({ checked: { check, fresh } }: { checked: Checked }) {
  const t = useT()
  if (!fresh) return <span className="tag">{t('presets.checking')}</span>
  if (check?.dry) return <span className="tag ok">{t('presets.mounts')}</span>
  return <span className="tag fail">{t('presets.mountsNot')}</span>
}

function DryView({ check: { dry } }: { check: PresetCheck }) {
  const t = useT()
  if (!dry) return <p className="hint">{t('presets.noDry')}</p>
  const sent = dry.sections.filter(({ text }) => text).length
  return (
    <>
      <Part title={t('presets.tokens')} end={thousands(total(dry))}>
        <TokenBar run={dry} />
      </Part>
      <Part title={t('presets.tools')} end={String(dry.tools.length)}>
        <ToolRows tools={dry.tools} />
      </Part>
      <Part title={t('presets.services')} end={String(dry.services.length)}>
        <Services services={dry.services} />
      </Part>
      <Part title={t('presets.rendered')} end={t('presets.parts', { n: sent })}>
        <Sections sections={dry.sections} />
      </Part>
      {dry.contexts.length > 0 && (
        <Part title={t('presets.contexts')} end={String(dry.contexts.length)}>
          <Contexts contexts={dry.contexts} />
        </Part>
      )}
    </>
  )
}

function Part({ title, end, children }: { title: string; end?: string; children: React.ReactNode }) {
  return (
    <section className="dry-part">
      <h3>
        {title}
        {end !== undefined && <span className="num">{end}</span>}
      </h3>
      {children}
    </section>
  )
}

function Against({ check: { dry, active }, generation }: { check: PresetCheck; generation: number }) {
  const t = useT()
  if (!dry) return <p className="hint">{t('presets.noDry')}</p>
  if (!active) return <p className="hint">{t('presets.noActive')}</p>
  return <Differences found={compareRuns(active, dry)} dry={dry} generation={generation} />
}

function Differences({ found, generation }: { found: Comparison; dry: DryRun; generation: number }) {
  const t = useT()
  const { tokens, tools, services, contexts } = found
  const step = tokens.after - tokens.before
  return (
    <div data-testid="differences">
      <Part title={t('presets.tokens')}>
        <p className="num steps-line">
          <span className="t3">{thousands(tokens.before)}</span> <span className="t3">{t('delta.to')}</span>{' '}
          <span className="m">{thousands(tokens.after)}</span>
          <span className="right t3">{`${step < 0 ? '-' : '+'}${thousands(Math.abs(step))}`}</span>
        </p>
      </Part>
      {found.same && <p className="hint">{t('presets.same', { n: generation })}</p>}
      <NamePart title={t('presets.tools')} names={tools} changed={tools.changed} />
      <NamePart title={t('presets.services')} names={services} />
      <NamePart title={t('presets.contexts')} names={contexts} />
      {found.sections.map((section) => (
        <Part key={section.name} title={section.name} end={t(`presets.${section.kind}`)}>
          <div className="card clip">
            <DiffView hunks={section.hunks} />
          </div>
        </Part>
      ))}
    </div>
  )
}

function NamePart({ title, names, changed = [] }: { title: string; names: Names; changed?: readonly string[] }) {
  const t = useT()
  const rows = [
    ...names.added.map((name) => ({ name, sign: '+', look: 'a', word: t('presets.added') })),
    ...names.removed.map((name) => ({ name, sign: '-', look: 'd', word: t('presets.removed') })),
    ...changed.map((name) => ({ name, sign: '~', look: 'c', word: t('presets.changed') })),
  ]
  if (rows.length === 0) return null
  return (
    <Part title={title}>
      <ul className="moves">
        {rows.map(({ name, sign, look, word }) => (
          <li key={`${sign}${name}`} className={look}>
            <u aria-hidden="true">{sign}</u>
            <span className="mono trunc">{name}</span>
            <span className="right t3 t12">{word}</span>
          </li>
        ))}
      </ul>
    </Part>
  )
}

const DryBones = () => (
  <div className="stack" style={{ padding: 16 }} aria-busy="true">
    {[40, 96, 160].map((height) => (
      <div key={height} className="skel" style={{ height }} />
    ))}
  </div>
)
