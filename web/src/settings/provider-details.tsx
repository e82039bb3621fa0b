import { Plug, RefreshCw, Trash2, TriangleAlert } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { ProviderView } from '../../../server/wire/views.ts'
import { run } from '../store/actions.ts'
import { toast, useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { Labelled } from './fields.tsx'
import { ModelTable } from './model-table.tsx'
import { More } from './more.tsx'
import { ProbeResult } from './probe.tsx'
import { testConnection, useTested } from './probes.ts'
import type { Cure } from './probes.ts'
import { AddressPart } from './provider-address.tsx'
import { KeyPart } from './provider-key.tsx'
import type { Wish } from './provider-row.tsx'
import { useText } from './text.ts'

interface Props {
  provider: ProviderView
  wish: Wish | undefined
  model: string | undefined
  onCure(cure: Cure): void
}

export function ProviderDetails({ provider, wish, model, onCure }: Props) {
  const t = useText()
  const tested = useTested(provider.id)
  const [testModel, setTestModel] = useState('')
  const { address, key, tests, asked } = useCure(wish, () => void testConnection(provider.id, testModel))
  const place = `provider:${provider.id}`
  const builtIn = provider.settings === undefined && !provider.own
  return (
    <div className="px pv-details">
      {provider.problem !== undefined && (
        <div className="note fail whole" role="alert">
          <TriangleAlert size={14} />
          <span>{provider.problem}</span>
        </div>
      )}
      <Problems place={place} />
      <div className="stack">
        {builtIn ? (
          <p className="t2">{t(`provider.about.${provider.wire === 'demo' ? 'demo' : 'replay'}`)}</p>
        ) : (
          <AddressPart provider={provider} box={address} />
        )}
        {(provider.settings || provider.key !== 'none-needed') && (
          <KeyPart provider={provider} asked={asked} box={key} />
        )}
        <TestPart provider={provider} model={testModel} onModel={setTestModel} box={tests} />
      </div>
      <div className="stack" aria-live="polite">
        {tested?.last ? (
          <ProbeResult probe={tested.last} running={tested.state === 'running'} onCure={onCure} />
        ) : (
          <p className="hint">{t(tested ? 'probe.running' : 'probe.none')}</p>
        )}
      </div>
      <div className="whole stack">
        <ModelTable provider={provider} opened={model} />
        {provider.settings && <More provider={provider} wish={wish} />}
        {provider.own && <Remove provider={provider} />}
      </div>
    </div>
  )
}

/** Leads to the field that cures a problem. */
function useCure(wish: Wish | undefined, again: () => void) {
  const address = useRef<HTMLFormElement>(null)
  const key = useRef<HTMLDivElement>(null)
  const tests = useRef<HTMLFormElement>(null)
  const repeat = useRef(again)
  useEffect(() => {
    repeat.current = again
  })
  useEffect(() => {
    const cure = wish?.cure
    if (cure === 'address') address.current?.querySelector<HTMLElement>('[name=baseURL]')?.focus()
    if (cure === 'model') tests.current?.querySelector('input')?.focus()
    if (cure === 'again') repeat.current()
  }, [wish])
  return { address, key, tests, asked: wish?.cure === 'key' ? wish.n : 0 }
}

interface TestProps {
  provider: ProviderView
  model: string
  onModel(model: string): void
  box: React.RefObject<HTMLFormElement | null>
}

function TestPart({ provider, model, onModel, box }: TestProps) {
  const t = useText()
  const running = useTested(provider.id)?.state === 'running'
  const online = useApp((app) => app.status.kind === 'open')
  const [refreshing, setRefreshing] = useState(false)
  const place = `provider:${provider.id}`
  const refresh = async () => {
    setRefreshing(true)
    const outcome = await run('provider.refresh', { provider: provider.id }, { place, retry: () => void refresh() })
    setRefreshing(false)
    if (outcome.ok) toast(t('provider.refreshed', { n: outcome.result.provider.models.length }), { tone: 'ok' })
  }
  const offline = online ? undefined : t('offline')
  const list = `test-models-${provider.id}`
  return (
    <form
      ref={box}
      className="stack tight"
      onSubmit={(event) => {
        event.preventDefault()
        if (!running && online) void testConnection(provider.id, model.trim())
      }}
    >
      <Labelled label={t('probe.model')}>
        <input
          className="mono"
          list={list}
          value={model}
          placeholder={provider.models[0]?.id ?? t('probe.modelFirst')}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onModel(event.target.value)}
        />
      </Labelled>
      <datalist id={list}>
        {provider.models.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <div className="flex wrap">
        <Button type="submit" look="pri" off={running ? t('probe.running') : offline}>
          <Plug size={14} />
          {t(running ? 'probe.running' : 'probe.run')}
        </Button>
        {provider.settings && (
          <Button off={refreshing ? t('waits') : offline} onClick={() => void refresh()}>
            <RefreshCw size={14} />
            {t('provider.refresh')}
          </Button>
        )}
      </div>
    </form>
  )
}

function Remove({ provider }: { provider: ProviderView }) {
  const t = useText()
  const [sure, setSure] = useState(false)
  const place = `provider:${provider.id}:remove`
  const remove = () => void run('provider.remove', { provider: provider.id }, { place })
  return (
    <div>
      <Problems place={place} />
      <div className="flex wrap">
        <Button look="ghost danger" onClick={() => (sure ? remove() : setSure(true))}>
          <Trash2 size={14} />
          {t(sure ? 'provider.removeSure' : 'provider.remove')}
        </Button>
        {sure && (
          <>
            <Button look="ghost" onClick={() => setSure(false)}>
              {t('cancel')}
            </Button>
            <span className="hint">{t('provider.removeHint')}</span>
          </>
        )}
      </div>
    </div>
  )
}
