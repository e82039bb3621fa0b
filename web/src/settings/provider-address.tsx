import { useState } from 'react'
import type { RefObject } from 'react'
import type { WireFamily } from '../../../server/wire/messages.ts'
import type { ProviderView } from '../../../server/wire/views.ts'
import { run } from '../store/actions.ts'
import { toast } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { SelectField, TextField, useDraft } from './fields.tsx'
import { isAddress } from './options.ts'
import { forgetProbe } from './probes.ts'
import { useText } from './text.ts'

export const WIRES = ['chat', 'responses', 'messages', 'gemini'] as const satisfies WireFamily[]

interface Props {
  provider: ProviderView
  box: RefObject<HTMLFormElement | null>
}

/** Name, wire and address; of a shipped provider the address alone is a person's to change. */
export function AddressPart({ provider, box }: Props) {
  const t = useText()
  const saved = {
    label: provider.settings?.label ?? provider.label,
    wire: provider.settings?.wire ?? 'chat',
    baseURL: provider.settings?.baseURL ?? provider.baseURL ?? '',
  }
  const { value, changed, set, drop } = useDraft(saved)
  const place = `provider:${provider.id}:address`
  const good = isAddress(value.baseURL) && value.label.trim() !== ''
  const save = async () => {
    const own = provider.own && { label: value.label.trim(), wire: value.wire }
    const args = { id: provider.id, baseURL: value.baseURL.trim(), ...own }
    const outcome = await run('provider.save', args, { place, retry: () => void save() })
    if (!outcome.ok) return
    drop()
    forgetProbe(provider.id)
    toast(t('saved'), { tone: 'ok' })
  }
  return (
    <form
      ref={box}
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (changed && good) void save()
      }}
    >
      {provider.own && <TextField label={t('provider.name')} value={value.label} onText={(label) => set({ label })} />}
      {provider.own ? (
        <SelectField
          label={t('provider.wire')}
          value={value.wire}
          options={WIRES.map((wire) => ({ value: wire, label: t(`wire.${wire}`) }))}
          onPick={(wire) => set({ wire })}
        />
      ) : (
        <div>
          <span className="lbl">{t('provider.wire')}</span>
          <div className="field still">
            <span className="t2 trunc">{t(`wire.${value.wire}`)}</span>
            <span className="right t3 t12">{t('provider.fixed')}</span>
          </div>
        </div>
      )}
      <TextField
        label={t('provider.url')}
        className="mono"
        name="baseURL"
        inputMode="url"
        value={value.baseURL}
        bad={value.baseURL.trim() !== '' && !isAddress(value.baseURL)}
        hint={isAddress(value.baseURL) || value.baseURL.trim() === '' ? undefined : t('provider.urlBad')}
        onText={(baseURL) => set({ baseURL })}
      />
      <Problems place={place} />
      {changed && (
        <div className="flex">
          <Button type="submit" look="pri" off={good ? undefined : t('provider.incomplete')}>
            {t('save')}
          </Button>
          <Button look="ghost" onClick={drop}>
            {t('cancel')}
          </Button>
        </div>
      )}
      {provider.changed && !changed && <BackToShipped provider={provider} place={place} />}
    </form>
  )
}

function BackToShipped({ provider, place }: { provider: ProviderView; place: string }) {
  const t = useText()
  const [running, setRunning] = useState(false)
  const reset = async () => {
    setRunning(true)
    const outcome = await run('provider.reset', { provider: provider.id }, { place, retry: () => void reset() })
    setRunning(false)
    if (!outcome.ok) return
    forgetProbe(provider.id)
    toast(t('provider.isReset', { name: provider.label }), { tone: 'ok' })
  }
  return (
    <div className="flex wrap">
      <span className="tag acc">{t('provider.changed')}</span>
      <span className="t3 t12">{t('provider.changedHint')}</span>
      <Button look="sm right" off={running ? t('waits') : undefined} onClick={() => void reset()}>
        {t('provider.reset')}
      </Button>
    </div>
  )
}
