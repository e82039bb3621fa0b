import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { WireFamily } from '../../../server/wire/messages.ts'
import type { ProviderView } from '../../../server/wire/views.ts'
import { useT } from '../i18n/i18n.ts'
import { run } from '../store/actions.ts'
import { toast } from '../store/store.ts'
import { Button, Switch } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'

const WIRES = ['chat', 'responses', 'messages', 'gemini'] as const satisfies WireFamily[]
const isWire = (wire: string): wire is WireFamily => (WIRES as readonly string[]).includes(wire)

interface Values {
  id: string
  label: string
  wire: WireFamily
  baseURL: string
  keyless: boolean
  models: string
}

const idOf = (label: string): string =>
  label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 64)

/** A new provider: name, wire format, address; its key is asked for once it is there. */
export function ProviderForm({ onDone }: { onDone(id?: string): void }) {
  const t = useT()
  const [values, setValues] = useState<Values>({
    id: '',
    label: '',
    wire: 'chat',
    baseURL: '',
    keyless: false,
    models: '',
  })
  const set = (changes: Partial<Values>) => setValues({ ...values, ...changes })
  const id = values.id || idOf(values.label)
  const save = async () => {
    const { label, wire, baseURL, keyless } = values
    const models = values.models.split(/[\s,]+/).filter(Boolean)
    const outcome = await run(
      'provider.save',
      { id, label: label.trim(), wire, baseURL: baseURL.trim(), keyless, ...(models.length > 0 && { models }) },
      { place: 'provider:new', retry: () => void save() },
    )
    if (outcome.ok) onDone(id)
  }
  const ready = values.label.trim() !== '' && /^https?:\/\/.+/.test(values.baseURL.trim()) && id !== ''
  return (
    <form
      className="px"
      onSubmit={(event) => {
        event.preventDefault()
        if (ready) void save()
      }}
    >
      <Problems place="provider:new" />
      <div className="stack">
        <Labelled label={t('provider.name')}>
          <input
            autoFocus
            value={values.label}
            placeholder="My provider"
            onChange={(event) => set({ label: event.target.value })}
          />
        </Labelled>
        <WireSelect value={values.wire} onPick={(wire) => set({ wire })} />
        <Labelled label={t('provider.url')}>
          <input
            className="mono"
            value={values.baseURL}
            placeholder="https://host/v1"
            spellCheck={false}
            onChange={(event) => set({ baseURL: event.target.value })}
          />
        </Labelled>
      </div>
      <div className="stack">
        <Labelled label={t('provider.modelIds')}>
          <input
            className="mono"
            value={values.models}
            placeholder={t('provider.modelIdsHint')}
            spellCheck={false}
            onChange={(event) => set({ models: event.target.value })}
          />
        </Labelled>
        <div className="flex" style={{ minHeight: 32 }}>
          <Switch on={values.keyless} label={t('provider.keyless')} onChange={(keyless) => set({ keyless })} />
          <span>{t('provider.keyless')}</span>
        </div>
        <div className="flex">
          <Button type="submit" look="pri" off={ready ? undefined : t('provider.incomplete')}>
            {t('providers.add')}
          </Button>
          <Button look="ghost" onClick={() => onDone()}>
            {t('cancel')}
          </Button>
        </div>
      </div>
    </form>
  )
}

function Labelled({ label, children }: { label: string; children: ReactNode }) {
  return (
    <label>
      <span className="lbl">{label}</span>
      <span className="field">{children}</span>
    </label>
  )
}

function WireSelect({ value, onPick }: { value: WireFamily; onPick(wire: WireFamily): void }) {
  const t = useT()
  return (
    <Labelled label={t('provider.wire')}>
      <select value={value} onChange={(event) => isWire(event.target.value) && onPick(event.target.value)}>
        {WIRES.map((wire) => (
          <option key={wire} value={wire}>
            {t(`wire.${wire}`)}
          </option>
        ))}
      </select>
      <ChevronDown size={12} />
    </Labelled>
  )
}

/** Address and wire format of a provider that is there; saved when a field is left. */
export function ProviderFields({ provider }: { provider: ProviderView }) {
  const t = useT()
  const [baseURL, setBaseURL] = useState(provider.baseURL ?? '')
  const [wire, setWire] = useState<WireFamily>(isWire(provider.wire) ? provider.wire : 'chat')
  const changed = baseURL.trim() !== (provider.baseURL ?? '') || wire !== provider.wire
  const save = async () => {
    const outcome = await run(
      'provider.save',
      {
        id: provider.id,
        label: provider.label,
        wire,
        baseURL: baseURL.trim(),
        keyless: provider.key === 'none-needed',
      },
      { place: `provider:${provider.id}` },
    )
    if (outcome.ok) toast(t('saved'), { tone: 'ok' })
  }
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <WireSelect value={wire} onPick={setWire} />
      <Labelled label={t('provider.url')}>
        <input
          className="mono"
          value={baseURL}
          spellCheck={false}
          onChange={(event) => setBaseURL(event.target.value)}
        />
      </Labelled>
      {changed && (
        <div className="flex">
          <Button type="submit" look="pri">
            {t('save')}
          </Button>
          <Button
            look="ghost"
            onClick={() => {
              setBaseURL(provider.baseURL ?? '')
              if (isWire(provider.wire)) setWire(provider.wire)
            }}
          >
            {t('cancel')}
          </Button>
        </div>
      )}
    </form>
  )
}
