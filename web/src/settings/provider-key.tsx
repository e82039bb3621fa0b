import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import type { RefObject } from 'react'
import type { KeySource } from '../../../server/wire/models.ts'
import type { ProviderView } from '../../../server/wire/views.ts'
import { usePrefs } from '../store/prefs.ts'
import { run } from '../store/actions.ts'
import { toast } from '../store/store.ts'
import { Button, Segment } from '../ui/button.tsx'
import { TextField } from './fields.tsx'
import { forgetProbe } from './probes.ts'
import { useText } from './text.ts'

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
type Kind = 'stored' | 'env' | 'none'

const kindOf = (source: KeySource): Kind => (source === 'stored' || source === 'none' ? source : 'env')
const variableOf = (source: KeySource): string => (source.startsWith('env:') ? source.slice(4) : '')

interface Props {
  provider: ProviderView
  /** Moves when the key is asked for from elsewhere: the field opens and takes the focus. */
  asked: number
  box: RefObject<HTMLDivElement | null>
}

/** Where the key comes from, and the key itself: it goes to the server and never comes back. */
export function KeyPart({ provider, asked, box }: Props) {
  const t = useText()
  const source = provider.settings?.key ?? 'stored'
  const [kind, setKind] = useState<Kind>()
  const shown = kind ?? kindOf(source)
  const place = `provider:${provider.id}`
  const save = async (key: KeySource) => {
    const outcome = await run('provider.save', { id: provider.id, key }, { place, retry: () => void save(key) })
    if (!outcome.ok) return
    forgetProbe(provider.id)
    setKind(undefined)
    toast(t('saved'), { tone: 'ok' })
  }
  return (
    <div ref={box}>
      <div className="flex lbl-row">
        <span className="lbl">{t('key')}</span>
        <span className="right" />
        {provider.settings && (
          <Segment
            label={t('key.source')}
            value={shown}
            options={(['stored', 'env', 'none'] as const).map((value) => ({ value, label: t(`key.source.${value}`) }))}
            onPick={(next) => {
              setKind(next)
              if (next !== 'env' && next !== kindOf(source)) void save(next)
            }}
          />
        )}
      </div>
      {shown === 'stored' && <StoredKey key={asked} provider={provider} asking={asked > 0} />}
      {shown === 'env' && <Variable provider={provider} before={variableOf(source)} onSave={save} />}
      {shown === 'none' && <p className="hint">{t('key.noneSent')}</p>}
    </div>
  )
}

function Variable({
  provider,
  before,
  onSave,
}: {
  provider: ProviderView
  before: string
  onSave(key: KeySource): Promise<void>
}) {
  const t = useText()
  const [name, setName] = useState(before)
  const good = VARIABLE.test(name.trim())
  const missing = before !== '' && name === before && provider.key === 'missing'
  const hint = missing ? t('key.variableMissing', { name: before }) : t('key.variableHint')
  return (
    <form
      className="flex top"
      onSubmit={(event) => {
        event.preventDefault()
        if (good) void onSave(`env:${name.trim()}`)
      }}
    >
      <div className="grow">
        <TextField
          label={t('key.variable')}
          className="mono"
          value={name}
          placeholder="PROVIDER_API_KEY"
          bad={missing || (name !== '' && !good)}
          hint={name !== '' && !good ? t('key.variableBad') : hint}
          onText={setName}
        />
      </div>
      {name.trim() !== before && (
        <Button look="lg pri below-label" type="submit" off={good ? undefined : t('key.variableBad')}>
          {t('save')}
        </Button>
      )}
    </form>
  )
}

function StoredKey({ provider, asking }: { provider: ProviderView; asking: boolean }) {
  const t = useText()
  const zh = usePrefs((prefs) => prefs.language) === 'zh'
  const [replacing, setReplacing] = useState(asking)
  const place = `provider:${provider.id}`
  const there = provider.key === 'stored' || provider.key === 'environment'
  if (!there || replacing)
    return (
      <KeyForm
        provider={provider}
        focus={asking || replacing}
        onLeave={there ? () => setReplacing(false) : undefined}
      />
    )
  const date =
    provider.keyStored === undefined
      ? undefined
      : new Date(provider.keyStored).toLocaleDateString(zh ? 'zh-CN' : 'en-GB', {
          day: 'numeric',
          month: 'short',
          year: 'numeric',
        })
  const remove = async () => {
    const outcome = await run('credential.remove', { provider: provider.id }, { place })
    if (outcome.ok) forgetProbe(provider.id)
  }
  return (
    <div className="flex">
      <div className="field grow still">
        <KeyRound size={14} />
        <span className="t2 trunc">
          {provider.key === 'environment'
            ? t('key.environment')
            : date === undefined
              ? t('key.stored')
              : t('key.storedOn', { date })}
        </span>
      </div>
      <Button look="lg" onClick={() => setReplacing(true)}>
        {t('key.replace')}
      </Button>
      {provider.key === 'stored' && (
        <Button look="lg ghost danger" onClick={() => void remove()}>
          {t('key.remove')}
        </Button>
      )}
    </div>
  )
}

interface FormProps {
  provider: ProviderView
  focus: boolean
  onLeave: (() => void) | undefined
}

function KeyForm({ provider, focus, onLeave }: FormProps) {
  const t = useText()
  const [key, setKey] = useState('')
  const save = async () => {
    if (key.trim() === '') return
    const place = `provider:${provider.id}`
    const outcome = await run('credential.set', { provider: provider.id, key: key.trim() }, { place })
    if (!outcome.ok) return
    setKey('')
    onLeave?.()
    forgetProbe(provider.id)
    toast(t('key.saved'), { tone: 'ok' })
  }
  return (
    <form
      className="flex"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <span className="field grow">
        <KeyRound size={14} />
        <input
          // A person asked for this field by a button: the focus goes along.
          autoFocus={focus}
          type="password"
          autoComplete="off"
          aria-label={t('key')}
          value={key}
          placeholder={t('key.paste')}
          data-testid="key-input"
          onChange={(event) => setKey(event.target.value)}
        />
      </span>
      <Button look="lg pri" type="submit" off={key.trim() === '' ? t('key.paste') : undefined}>
        {t('save')}
      </Button>
      {onLeave && (
        <Button look="lg ghost" onClick={onLeave}>
          {t('cancel')}
        </Button>
      )}
    </form>
  )
}
