import { Check, ChevronDown, ChevronRight, CircleX, KeyRound, Plug, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { CommandResults } from '../../../server/wire/commands.ts'
import type { ProviderView } from '../../../server/wire/views.ts'
import { duration } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { run } from '../store/actions.ts'
import { toast } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { ProviderFields } from './provider-form.tsx'

type Probe = CommandResults['provider.test']

const hostOf = (provider: ProviderView): string => {
  try {
    return provider.baseURL === undefined ? '' : new URL(provider.baseURL).host
  } catch {
    return provider.baseURL ?? ''
  }
}

interface Props {
  provider: ProviderView
  open: boolean
  onToggle(): void
}

export function ProviderRow({ provider, open, onToggle }: Props) {
  const t = useT()
  const tone =
    provider.problem !== undefined
      ? 'failed'
      : provider.key === 'missing' || provider.models.length === 0
        ? 'idle'
        : 'works'
  const Chevron = open ? ChevronDown : ChevronRight
  return (
    <div data-testid="provider-row">
      <button type="button" className="pv" aria-expanded={open} onClick={onToggle}>
        <span
          className={`dot ${tone}`}
          role="img"
          aria-label={t(tone === 'idle' && provider.key !== 'missing' ? 'provider.noModels' : `provider.${tone}`)}
        />
        <span className="b trunc">{provider.label}</span>
        <span className="mono t3 trunc">{hostOf(provider)}</span>
        <span className="end">
          {provider.problem !== undefined && <span className="fail trunc">{provider.problem}</span>}
          <span className="num">
            {provider.key === 'missing' ? t('key.missing') : t('provider.models', { n: provider.models.length })}
          </span>
          <Chevron size={14} />
        </span>
      </button>
      {open && <Details provider={provider} />}
    </div>
  )
}

function Details({ provider }: { provider: ProviderView }) {
  const t = useT()
  const [probe, setProbe] = useState<Probe>()
  const [testing, setTesting] = useState(false)
  const place = `provider:${provider.id}`
  const test = async () => {
    setTesting(true)
    const outcome = await run('provider.test', { provider: provider.id }, { place })
    setTesting(false)
    if (outcome.ok) setProbe(outcome.result)
  }
  const remove = () => void run('provider.remove', { provider: provider.id }, { place })
  const builtIn = provider.wire === 'demo' || provider.wire === 'replay'
  return (
    <div className="px">
      <Problems place={place} />
      <div className="stack">
        {builtIn ? (
          <p className="t2">{t(`provider.about.${provider.wire === 'demo' ? 'demo' : 'replay'}`)}</p>
        ) : (
          <ProviderFields provider={provider} />
        )}
        {provider.key !== 'none-needed' && <KeyField provider={provider} />}
        <div className="flex">
          <Button look="pri" off={testing ? t('probe.running') : undefined} onClick={() => void test()}>
            <Plug size={14} />
            {t(testing ? 'probe.running' : 'probe.run')}
          </Button>
          {provider.own && (
            <Button look="ghost danger" onClick={remove}>
              <Trash2 size={14} />
              {t('provider.remove')}
            </Button>
          )}
        </div>
      </div>
      <div className="stack" style={{ gap: 12 }} aria-live="polite">
        {probe ? <ProbeResult probe={probe} /> : <ModelNames provider={provider} />}
      </div>
    </div>
  )
}

function ModelNames({ provider }: { provider: ProviderView }) {
  const t = useT()
  if (provider.models.length === 0) return <p className="t3 t12">{t('provider.noModels')}</p>
  return (
    <>
      <span className="cap">{t('provider.models', { n: provider.models.length })}</span>
      <span className="flex" style={{ flexWrap: 'wrap', gap: 4 }}>
        {provider.models.slice(0, 40).map((model) => (
          <span key={model.id} className="tag mono-s">
            {model.id}
          </span>
        ))}
      </span>
    </>
  )
}

/** What was sent and what came back, word for word; keys are not part of it. */
function ProbeResult({ probe }: { probe: Probe }) {
  const t = useT()
  const { asked, answered } = probe
  return (
    <>
      <div className="flex">
        <span className={`tag ${probe.ok ? 'ok' : 'fail'}`} data-testid="probe">
          {probe.ok ? <Check size={12} /> : <CircleX size={12} />}
          {t(probe.ok ? 'provider.works' : 'probe.failed')}
        </span>
        {answered && <span className="t3 t12 num">{duration(answered.ms)}</span>}
        {probe.code !== undefined && <span className="mono-s t3">{probe.code}</span>}
      </div>
      <p className={probe.ok ? 't2' : ''}>{probe.message}</p>
      <div className="card probe">
        <pre>
          <span className="k">{t('probe.sent')}</span>
          <span>
            {[`${asked.method} ${asked.url}`, asked.model && `model ${asked.model}`].filter(Boolean).join('\n')}
          </span>
        </pre>
        {answered && (
          <pre>
            <span className="k">{t('probe.got')}</span>
            <span>
              {[`${answered.status ?? ''} ${answered.text ?? ''}`.trim(), answered.models?.join(', ')]
                .filter(Boolean)
                .join('\n')}
            </span>
          </pre>
        )}
      </div>
    </>
  )
}

function KeyField({ provider }: { provider: ProviderView }) {
  const t = useT()
  const [replacing, setReplacing] = useState(false)
  const [key, setKey] = useState('')
  const place = `provider:${provider.id}`
  const missing = provider.key === 'missing'
  const save = async () => {
    if (key.trim() === '') return
    const outcome = await run('credential.set', { provider: provider.id, key: key.trim() }, { place })
    if (!outcome.ok) return
    setKey('')
    setReplacing(false)
    toast(t('key.saved'), { tone: 'ok' })
  }
  if (!missing && !replacing)
    return (
      <div>
        <span className="lbl">{t('key')}</span>
        <div className="flex">
          <div className="field grow" style={{ background: 'var(--sunken)' }}>
            <KeyRound size={14} />
            <span className="t2 trunc">{t(provider.key === 'environment' ? 'key.environment' : 'key.stored')}</span>
          </div>
          <Button look="lg" onClick={() => setReplacing(true)}>
            {t('key.replace')}
          </Button>
          {provider.key === 'stored' && (
            <Button
              look="lg ghost danger"
              onClick={() => void run('credential.remove', { provider: provider.id }, { place })}
            >
              {t('key.remove')}
            </Button>
          )}
        </div>
      </div>
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <label>
        <span className="lbl">{t('key')}</span>
        <span className="flex">
          <span className="field grow">
            <KeyRound size={14} />
            <input
              type="password"
              autoComplete="off"
              value={key}
              placeholder={t('key.paste')}
              data-testid="key-input"
              onChange={(event) => setKey(event.target.value)}
            />
          </span>
          <Button look="lg pri" type="submit" off={key.trim() === '' ? t('key.paste') : undefined}>
            {t('save')}
          </Button>
          {replacing && (
            <Button look="lg ghost" onClick={() => setReplacing(false)}>
              {t('cancel')}
            </Button>
          )}
        </span>
      </label>
    </form>
  )
}
