import { ChevronDown, Shield, ShieldOff, X } from 'lucide-react'
import { useState } from 'react'
import type { ComponentProps } from 'react'
import type { PermissionPreset, Rule, SafetyView } from '../../../server/wire/safety.ts'
import { useT } from '../i18n/i18n.ts'
import { linkTo } from '../router.ts'
import { useNewSession } from '../new-session/state.ts'
import { run } from '../store/actions.ts'
import type { OpenSession } from '../store/session-view.ts'
import { useApp } from '../store/store.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Pop } from '../ui/pop.tsx'
import { lookOf, pinnedChoice, presetName } from './look.ts'
import type { Look } from './look.ts'
import { PermissionOptions } from './permission-options.tsx'

function Trigger({ look, out, ...rest }: ComponentProps<'button'> & { look: Look; out?: boolean }) {
  const t = useT()
  const Icon = look.bare ? ShieldOff : Shield
  return (
    <button
      type="button"
      {...rest}
      className={`chip perm ${out ? 'out' : ''} ${look.bare ? 'bare' : ''}`}
      data-testid="permission-chip"
      title={look.what}
      aria-label={`${t('permission')}: ${look.name}`}
    >
      <Icon size={14} />
      <span className="trunc label">{look.name}</span>
      <ChevronDown size={12} />
    </button>
  )
}

/** What the session is held to, always said where one types. */
export function PermissionChip({ view }: { view: OpenSession }) {
  const t = useT()
  const safety = useApp((app) => app.global?.safety)
  const [open, setOpen] = useState(false)
  const [asked, setAsked] = useState<PermissionPreset>()
  if (!safety) return null
  const { id, policy, lastTurn } = view.state
  const now = pinnedChoice(policy)
  const look = lookOf(t, safety, policy.preset, now)
  const show = (next: boolean) => {
    setOpen(next)
    if (!next) setAsked(undefined)
  }
  const choose = (preset: PermissionPreset) => {
    show(false)
    void run(
      'permission.select',
      { session: id, preset: preset.id },
      { place: `session:${id}`, retry: () => choose(preset) },
    )
  }
  const pick = (preset: PermissionPreset) => {
    if (preset.id === policy.preset) return show(false)
    const sameShell = now?.sandbox === preset.choice.sandbox && now.network === preset.choice.network
    if (lastTurn === 0 || sameShell) choose(preset)
    else setAsked(preset)
  }
  return (
    <Pop open={open} onOpenChange={show} title={t('permission')} trigger={<Trigger look={look} />} width={380}>
      {asked ? (
        <Sure preset={asked} onYes={() => choose(asked)} onNo={() => setAsked(undefined)} />
      ) : (
        <>
          {now === undefined && <p className="pop-part t2 t12">{look.what}</p>}
          <PermissionOptions presets={safety.presets} value={policy.preset} onPick={pick} />
          <SessionRules session={id} rules={policy.rules} />
          <Manage />
        </>
      )}
    </Pop>
  )
}

function Sure({ preset, onYes, onNo }: { preset: PermissionPreset; onYes(): void; onNo(): void }) {
  const t = useT()
  return (
    <div
      className="stack"
      style={{ padding: 16, gap: 8 }}
      role="alertdialog"
      aria-label={t('permission.switchTitle', { name: presetName(t, preset) })}
    >
      <p className="m">{t('permission.switchTitle', { name: presetName(t, preset) })}</p>
      <p className="t2 t12">{t('permission.switchWhat')}</p>
      <div className="flex" style={{ marginTop: 4 }}>
        <Button look="pri" autoFocus data-testid="permission-sure" onClick={onYes}>
          {t('permission.switch')}
        </Button>
        <Button look="ghost" onClick={onNo}>
          {t('cancel')}
        </Button>
      </div>
    </div>
  )
}

export const ruleText = ({ tool, match }: Pick<Rule, 'tool' | 'match'>): string =>
  match ? `${tool} ${match.text}${match.kind === 'prefix' ? ' …' : ''}` : tool

function SessionRules({ session, rules }: { session: string; rules: readonly Rule[] }) {
  const t = useT()
  if (rules.length === 0) return null
  return (
    <div className="pop-part col" data-testid="session-rules">
      <span className="t3 t12">{t('permission.rules')}</span>
      {rules.map((rule) => (
        <div key={rule.id} className="flex rule">
          <span className="tag">{t(`rule.${rule.effect}`)}</span>
          <span className="mono-s trunc grow" title={ruleText(rule)}>
            {ruleText(rule)}
          </span>
          <IconButton
            label={t('rule.remove')}
            onClick={() => void run('rule.remove', { session, rule: rule.id }, { place: `session:${session}` })}
          >
            <X size={14} />
          </IconButton>
        </div>
      ))}
    </div>
  )
}

function Manage() {
  const t = useT()
  return (
    <div className="pop-part">
      <a className="btn ghost sm" {...linkTo({ place: 'settings', page: 'permissions' })}>
        {t('permission.manage')}
      </a>
    </div>
  )
}

/** What the session that is not there yet will be held to. */
export function PermissionPick({ safety }: { safety: SafetyView }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const value = usePicked(safety)
  const look = lookOf(t, safety, value?.id ?? null, value?.choice)
  return (
    <Pop open={open} onOpenChange={setOpen} title={t('permission')} trigger={<Trigger look={look} out />} width={380}>
      <PermissionOptions
        presets={safety.presets}
        value={value?.id ?? null}
        onPick={({ id }) => {
          setOpen(false)
          useNewSession.setState({ permission: id })
        }}
      />
      <Manage />
    </Pop>
  )
}

/** The preset picked for the next session, else the default one. */
export function usePicked(safety: SafetyView): PermissionPreset | undefined {
  const picked = useNewSession((state) => state.permission)
  const find = (wanted: string | undefined) => safety.presets.find(({ id }) => id === wanted)
  return find(picked) ?? find(safety.default)
}
