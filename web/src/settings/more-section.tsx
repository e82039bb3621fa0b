import { useState } from 'react'
import type { ReactNode } from 'react'
import type { RouteOptions } from '../../../server/wire/models.ts'
import type { ProviderView } from '../../../server/wire/views.ts'
import { run } from '../store/actions.ts'
import { Button } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { currentOptions, mergedOptions } from './options.ts'
import type { OptionChanges } from './options.ts'
import { forgetProbe } from './probes.ts'
import { useText } from './text.ts'

export interface PartProps {
  provider: ProviderView
  options: RouteOptions
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
