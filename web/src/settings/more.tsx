import { ChevronDown, ChevronRight } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { RouteOptions } from '../../../server/wire/models.ts'
import type { ProviderView } from '../../../server/wire/views.ts'
import { BodyPart, HeadersPart } from './more-body.tsx'
import { EffortsPart, ModelIdsPart } from './more-models.tsx'
import { SwitchesPart } from './more-switches.tsx'
import { ProxyPart, RetryPart, WaitsPart } from './more-waits.tsx'
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
