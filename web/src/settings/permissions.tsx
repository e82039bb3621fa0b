import { X } from 'lucide-react'
import { useState } from 'react'
import type { PermissionPreset, PolicyChoice, SafetyView } from '../../../server/wire/safety.ts'
import { duration } from '../i18n/format.ts'
import { PermissionOptions } from '../safety/permission-options.tsx'
import { presetName } from '../safety/look.ts'
import { run } from '../store/actions.ts'
import { setPrefs, usePrefs } from '../store/prefs.ts'
import { toast, useApp } from '../store/store.ts'
import { Button, IconButton, Segment, Switch } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { TextField } from './fields.tsx'
import { HostFaults } from './host-faults.tsx'
import { Skeleton } from './models.tsx'
import { Heading } from './heading.tsx'
import { Rules } from './permission-rules.tsx'
import { useText } from './text.ts'

export function PermissionSettings() {
  const safety = useApp((app) => app.global?.safety)
  if (!safety) return <Skeleton />
  return (
    <>
      <HostFaults rows={['policy', 'sandbox']} />
      <Default safety={safety} />
      <Own presets={safety.presets.filter(({ own }) => own)} />
      <Rules safety={safety} />
      <Waiting waitMs={safety.waitMs} />
    </>
  )
}

function Default({ safety }: { safety: SafetyView }) {
  const t = useText()
  const save = async (preset: string) => {
    const outcome = await run('permission.default', { preset }, { place: 'permission.default' })
    if (outcome.ok) toast(t('saved'), { tone: 'ok' })
  }
  return (
    <section id="permission-default">
      <Heading title={t('perm.default')} about={t('perm.default.about')} />
      <div className="card">
        <PermissionOptions presets={safety.presets} value={safety.default} onPick={({ id }) => void save(id)} />
      </div>
      <Problems place="permission.default" />
    </section>
  )
}

const FRESH: PolicyChoice = {
  sandbox: 'workspace-write',
  network: true,
  onAsk: 'prompt',
  edits: 'auto',
  commands: 'auto',
}

const idOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)

function Own({ presets }: { presets: readonly PermissionPreset[] }) {
  const t = useText()
  const [edited, setEdited] = useState<PermissionPreset | 'new'>()
  const remove = (preset: PermissionPreset) =>
    void run('permission.remove', { preset: preset.id }, { place: 'permission.own' })
  return (
    <section id="permission-own">
      <Heading title={t('perm.own')} about={t('perm.own.about')} />
      {presets.length > 0 && (
        <div className="card rows">
          {presets.map((preset) => (
            <div key={preset.id} className="kv-row" data-testid={`own-${preset.id}`}>
              <span className="grow m trunc">{presetName(t, preset)}</span>
              <Button look="ghost sm" onClick={() => setEdited(preset)}>
                {t('perm.edit')}
              </Button>
              <IconButton label={t('perm.remove', { name: preset.name })} onClick={() => remove(preset)}>
                <X size={14} />
              </IconButton>
            </div>
          ))}
        </div>
      )}
      <Problems place="permission.own" />
      {edited === undefined ? (
        <div>
          <Button data-testid="own-new" onClick={() => setEdited('new')}>
            {t('perm.new')}
          </Button>
        </div>
      ) : (
        <PresetForm
          key={edited === 'new' ? '' : edited.id}
          preset={edited === 'new' ? undefined : edited}
          onDone={() => setEdited(undefined)}
        />
      )}
    </section>
  )
}

function PresetForm({ preset, onDone }: { preset: PermissionPreset | undefined; onDone(): void }) {
  const t = useText()
  const [name, setName] = useState(preset?.name ?? '')
  const [choice, setChoice] = useState(preset?.choice ?? FRESH)
  const id = preset?.id ?? idOf(name)
  const off = id === '' ? t('perm.nameNeeded') : undefined
  const change = (part: Partial<PolicyChoice>) => setChoice({ ...choice, ...part })
  const save = async () => {
    const args = { id, name: name.trim(), choice }
    const outcome = await run('permission.save', args, { place: 'permission.own', retry: () => void save() })
    if (outcome.ok) onDone()
  }
  const pick = <K extends 'sandbox' | 'onAsk' | 'edits' | 'commands'>(key: K, values: readonly PolicyChoice[K][]) => (
    <div className="flex between">
      <span>{t(`perm.${key}`)}</span>
      <Segment
        label={t(`perm.${key}`)}
        value={choice[key]}
        options={values.map((value) => ({
          value,
          label: t(`perm.${key}.${value}` as 'perm.edits.auto'),
        }))}
        onPick={(value) => change({ [key]: value })}
      />
    </div>
  )
  return (
    <form
      className="card padded stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (off === undefined) void save()
      }}
    >
      <TextField label={t('perm.name')} value={name} autoFocus maxLength={100} onText={setName} />
      {pick('sandbox', ['read-only', 'workspace-write', 'full'])}
      {pick('edits', ['auto', 'ask'])}
      {pick('commands', ['auto', 'ask'])}
      {pick('onAsk', ['prompt', 'deny', 'allow'])}
      <div className="flex between">
        <span>{t('perm.network')}</span>
        <Switch label={t('perm.network')} on={choice.network} onChange={(network) => change({ network })} />
      </div>
      <div className="flex">
        <Button type="submit" look="pri" off={off}>
          {t('save')}
        </Button>
        <Button look="ghost" onClick={onDone}>
          {t('cancel')}
        </Button>
      </div>
    </form>
  )
}

const WAITS = [60_000, 600_000, 3_600_000, null] as const

function Waiting({ waitMs }: { waitMs: number | null }) {
  const t = useText()
  const notify = usePrefs((prefs) => prefs.notifyAsks)
  const values = WAITS.includes(waitMs as null) ? WAITS : [...WAITS, waitMs]
  const save = (value: string) =>
    void run('permission.wait', { waitMs: value === 'ever' ? null : Number(value) }, { place: 'permission.wait' })
  const want = async (on: boolean) => {
    if (on && (typeof Notification === 'undefined' || (await Notification.requestPermission()) !== 'granted'))
      return toast(t('perm.notify.refused'), { tone: 'warn' })
    return setPrefs({ notifyAsks: on })
  }
  return (
    <section id="permission-wait">
      <Heading title={t('perm.wait')} about={t('perm.wait.about')} />
      <div className="card padded stack">
        <Segment
          label={t('perm.wait')}
          value={waitMs === null ? 'ever' : String(waitMs)}
          options={values.map((value) => ({
            value: value === null ? 'ever' : String(value),
            label: value === null ? t('perm.wait.ever') : duration(value),
          }))}
          onPick={save}
        />
        <Problems place="permission.wait" />
        <div className="flex between">
          <span>{t('perm.notify')}</span>
          <Switch label={t('perm.notify')} on={notify} onChange={(on) => void want(on)} />
        </div>
      </div>
    </section>
  )
}
