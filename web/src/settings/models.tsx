import { Plus } from 'lucide-react'
import { useEffect, useState } from 'react'
import { navigate, useRoute } from '../router.ts'
import { useApp } from '../store/store.ts'
import { Button } from '../ui/button.tsx'
import { AddProvider } from './add-provider.tsx'
import { DefaultModel } from './default-model.tsx'
import { HostFaults } from './host-faults.tsx'
import { LocalServers } from './local.tsx'
import type { Cure } from './probes.ts'
import { ProviderRow } from './provider-row.tsx'
import type { Wish } from './provider-row.tsx'
import { useRequests } from './requests.ts'
import { useText } from './text.ts'

/** The row that is open is part of the address: links lead to it, and reload returns to it. */
const openRow = (provider: string | undefined): void =>
  navigate({ place: 'settings', page: 'models', ...(provider !== undefined && { provider }) }, 'replace')

export function ModelSettings() {
  const t = useText()
  const models = useApp((app) => app.global?.models)
  const route = useRoute()
  const [adding, setAdding] = useState(false)
  const [wish, setWish] = useState<Wish & { provider: string }>()
  const requests = useRequests()
  const { provider: open, model } = route.place === 'settings' ? route : {}
  if (!models) return <Skeleton />
  const { providers } = models
  const cure = (provider: string, what: Cure) => {
    if (open !== provider) openRow(provider)
    setWish((before) => ({ provider, cure: what, n: (before?.n ?? 0) + 1 }))
  }
  const goTo = (provider: string) => {
    openRow(provider)
    document.querySelector(`[data-provider="${CSS.escape(provider)}"]`)?.scrollIntoView({ block: 'start' })
  }
  const unknown = open !== undefined && !providers.some(({ id }) => id === open)
  return (
    <>
      <HostFaults rows={['providers', 'agent-default-model', 'llm']} />
      <DefaultModel models={models} onFix={(provider, gone) => (gone ? setAdding(true) : cure(provider, 'key'))} />
      <section id="providers">
        <div className="hd">
          <div>
            <h2>{t('providers')}</h2>
            <p>{t('providers.writeOnly')}</p>
          </div>
          <span className="right" />
          <Button data-testid="add-provider" aria-expanded={adding} onClick={() => setAdding(true)}>
            <Plus size={14} />
            {t('providers.add')}
          </Button>
        </div>
        {unknown && (
          <p className="note warn" role="status">
            {t('providers.unknown', { id: open })}
          </p>
        )}
        <div className="card rows clip">
          {adding && (
            <Added
              taken={providers.map(({ id }) => id)}
              onDone={(id) => {
                setAdding(false)
                if (id !== undefined) openRow(id)
              }}
            />
          )}
          {providers.map((provider) => (
            <ProviderRow
              key={provider.id}
              provider={provider}
              requests={requests?.get(provider.id)}
              open={open === provider.id}
              wish={wish?.provider === provider.id ? wish : undefined}
              model={open === provider.id ? model : undefined}
              onToggle={() => {
                setWish(undefined)
                openRow(open === provider.id ? undefined : provider.id)
              }}
              onCure={(what) => cure(provider.id, what)}
            />
          ))}
        </div>
      </section>
      <LocalServers providers={providers} onOpen={goTo} />
    </>
  )
}

/** Brought into view: it may open below what the window shows. */
function Added(props: Parameters<typeof AddProvider>[0]) {
  useEffect(() => {
    document.querySelector('.add-provider')?.scrollIntoView({ block: 'nearest' })
  }, [])
  return <AddProvider {...props} />
}

export function Skeleton() {
  return (
    <div aria-busy="true" className="stack">
      {[96, 240, 132].map((height) => (
        <div key={height}>
          <div className="skel" style={{ width: 160, marginBottom: 8 }} />
          <div className="card skel-card" style={{ height }} />
        </div>
      ))}
    </div>
  )
}
