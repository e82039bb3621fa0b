import { ChevronDown, ChevronRight } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import type { RouteOptions } from '../../../server/wire/models.ts'
import type { ProviderView } from '../../../server/wire/views.ts'
import { run } from '../store/actions.ts'
import { Button } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { BodyPart, HeadersPart } from './more-body.tsx'
import { EffortsPart, ModelIdsPart } from './more-models.tsx'
import { SwitchesPart } from './more-switches.tsx'
import { ProxyPart, RetryPart, WaitsPart } from './more-waits.tsx'
import { currentOptions, mergedOptions } from './options.ts'
import type { OptionChanges } from './options.ts'
import { forgetProbe } from './probes.ts'
import type { Wish } from './provider-row.tsx'
import { useText } from './text.ts'

/** What is set of a route beyond its address, facts of models aside: those stand in the table. */
const COUNTED = [
  'retry',
  'firstByteMs',
  'idleMs',
  'proxy',
  'headers',
  'extraBody',
  'models',
  'efforts',
  'discover',
  'includeUsage',
  'dropForeignChunks',
  'malformedArguments',
  'inlineThink',
  'sendBack',
] as const satisfies (keyof RouteOptions)[]

export interface PartProps {
  provider: ProviderView
  options: RouteOptions
}

export function More({ provider, wish }: { provider: ProviderView; wish: Wish | undefined }) {
  const t = useText()
  const wanted = wish?.cure === 'waits' || wish?.cure === 'body' ? wish : undefined
  const [open, setOpen] = useState(wanted !== undefined)
  const [met, setMet] = useState(wanted?.n)
  const box = useRef<HTMLDivElement>(null)
  if (wanted && wanted.n !== met) {
    setMet(wanted.n)
    setOpen(true)
  }
  useEffect(() => {
    if (wanted) box.current?.querySelector<HTMLElement>(`[data-part=${wanted.cure}] :is(input, textarea)`)?.focus()
  }, [wanted])
  const options = provider.settings?.options ?? {}
  const set = COUNTED.filter((name) => options[name] !== undefined).length
  const Chevron = open ? ChevronDown : ChevronRight
  return (
    <div ref={box}>
      <button
        type="button"
        className="more-head"
        aria-expanded={open}
        data-testid="more"
        onClick={() => setOpen(!open)}
      >
        <Chevron size={14} />
        <span className="m">{t('more')}</span>
        <span className="t3 t12">{t('more.what')}</span>
        {set > 0 && <span className="tag acc">{t('more.set', { n: set })}</span>}
      </button>
      {open && (
        <div className="card rows more">
          <RetryPart provider={provider} options={options} />
          <WaitsPart provider={provider} options={options} />
          <ProxyPart provider={provider} options={options} />
          <HeadersPart provider={provider} options={options} />
          <BodyPart provider={provider} options={options} />
          <ModelIdsPart provider={provider} options={options} />
          <EffortsPart provider={provider} options={options} />
          <SwitchesPart provider={provider} options={options} />
        </div>
      )}
    </div>
  )
}

interface SectionProps {
  provider: ProviderView
  /** Part of the place where a refusal is shown. */
  name: string
  title: string
  about: ReactNode
  changed: boolean
  /** Why it cannot be saved as it stands. */
  off: string | undefined
  changes(): OptionChanges | undefined
  onSaved(): void
  children: ReactNode
}

/** One group of options, saved by itself with its own result; what was typed stays until the host has taken it. */
export function Section({ provider, name, title, about, changed, off, changes, onSaved, children }: SectionProps) {
  const t = useText()
  const [saved, setSaved] = useState(false)
  const place = `provider:${provider.id}:${name}`
  const save = async () => {
    const fields = changes()
    if (fields === undefined) return
    const options = mergedOptions(currentOptions(provider.id), fields)
    const outcome = await run('provider.save', { id: provider.id, options }, { place, retry: () => void save() })
    setSaved(outcome.ok)
    if (!outcome.ok) return
    forgetProbe(provider.id)
    onSaved()
  }
  return (
    <form
      className="part"
      aria-label={title}
      data-part={name}
      onSubmit={(event) => {
        event.preventDefault()
        if (changed && off === undefined) void save()
      }}
    >
      <div className="part-what">
        <h4 className="m">{title}</h4>
        <p className="hint">{about}</p>
      </div>
      <div className="part-body stack tight">
        {children}
        <Problems place={place} />
        {changed && (
          <div className="flex">
            <Button type="submit" look="sm pri" off={off}>
              {t('save')}
            </Button>
            <Button look="sm ghost" onClick={onSaved}>
              {t('cancel')}
            </Button>
          </div>
        )}
        {saved && !changed && (
          <p className="hint ok" role="status">
            {t('saved')}
          </p>
        )}
      </div>
    </form>
  )
}
