import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { ContextView } from '../../../server/wire/presets.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { estimate, isKept } from './blocks.ts'
import type { ContextChange } from './compare.ts'
import { contextWhy, originOf } from './fates.ts'
import { Lines } from './lines.tsx'

/** Contexts go out as messages of their own, after the system text. */
export function ContextList({ contexts, changes }: { contexts: readonly ContextView[]; changes?: ContextChange[] }) {
  const t = useT()
  const gone = (changes ?? []).filter(({ after }) => after === undefined)
  if (contexts.length === 0 && gone.length === 0) return null
  return (
    <section className="pv-cat" aria-label={t('pv.contexts')}>
      <div className="hd2">
        <h2>{t('pv.contexts')}</h2>
        <span className="t3 t12">{t('pv.contextsWhat')}</span>
      </div>
      {contexts.map((context, index) => {
        const change = changes?.find(({ name }) => name === context.name)
        return <ContextRow key={index} context={context} {...(change && { change })} />
      })}
      {gone.map((change) => (
        <div key={change.name} className="pv-tool" data-testid="context-gone">
          <div className="ln2">
            <span className="mono m">{change.name}</span>
            <span className="tag line">{t('pv.fate.gone')}</span>
          </div>
          {change.hunk && <Lines hunk={change.hunk} />}
        </div>
      ))}
    </section>
  )
}

function ContextRow({ context, change }: { context: ContextView; change?: ContextChange }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const Chevron = open ? ChevronDown : ChevronRight
  const moved = change && change.before !== change.after
  return (
    <div className={`pv-tool ${isKept(context) ? '' : 'gone'}`}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Chevron size={14} />
        <span className="mono m nm">{context.name}</span>
        <span className="tag line">{t(`pv.context.${context.fate}`)}</span>
        {moved && (
          <span className="tag acc">
            {change.before ? t('pv.was', { fate: t(`pv.context.${change.before}`) }) : t('pv.fate.new')}
          </span>
        )}
        <span className="t2 trunc">{contextWhy(t, context)}</span>
        <span className="right t3 trunc ow">{originOf(t, context)}</span>
        {isKept(context) && <span className="num t3">{thousands(estimate(context.text ?? ''))}</span>}
      </button>
      {change?.hunk ? (
        <Lines hunk={change.hunk} />
      ) : (
        open && <pre className="body">{context.text ?? t('pv.notEvaluated')}</pre>
      )}
    </div>
  )
}
