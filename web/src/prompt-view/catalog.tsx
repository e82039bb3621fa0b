import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { OwnedTool } from '../../../server/wire/presets.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { estimate, signature } from './blocks.ts'
import type { ToolChange } from './compare.ts'
import { Lines } from './lines.tsx'

const costOf = ({ name, description, parameters }: OwnedTool): number =>
  estimate(name + description + JSON.stringify(parameters))

/** The exact catalog; a schema is in the page once it is opened. */
export function Catalog({ tools, changes }: { tools: readonly OwnedTool[]; changes?: ToolChange[] }) {
  const t = useT()
  const gone = (changes ?? []).filter(({ kind }) => kind === 'removed')
  const cost = tools.reduce((sum, tool) => sum + costOf(tool), 0)
  return (
    <section className="pv-cat" aria-label={t('pv.catalog')}>
      <div className="hd2">
        <h2>{t('pv.catalog')}</h2>
        <span className="t3 t12 num">{t('pv.catalogCost', { n: tools.length, tokens: thousands(cost) })}</span>
        {changes?.length === 0 && <span className="right t3 t12">{t('pv.catalogSame')}</span>}
      </div>
      {tools.map((tool) => {
        const change = changes?.find(({ name, kind }) => name === tool.name && kind !== 'removed')
        return <ToolRow key={tool.name} tool={tool} {...(change && { change })} />
      })}
      {gone.map((change) => (
        <div key={change.name} className="pv-tool gone" data-testid="prompt-tool">
          <div className="ln2">
            <span className="mono m nm">{change.name}</span>
            <span className="tag line">{t('pv.fate.gone')}</span>
          </div>
        </div>
      ))}
    </section>
  )
}

function ToolRow({ tool, change }: { tool: OwnedTool; change?: ToolChange }) {
  const t = useT()
  const [open, setOpen] = useState(change?.kind === 'changed')
  const Chevron = open ? ChevronDown : ChevronRight
  return (
    <div className="pv-tool" data-testid="prompt-tool">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Chevron size={14} />
        <span className="mono m nm">{tool.name}</span>
        {change && <span className="tag acc">{t(change.kind === 'added' ? 'pv.fate.new' : 'pv.fate.changed')}</span>}
        <span className="t2 trunc sig">{signature(tool.parameters)}</span>
        <span className="right t3 trunc ow">{tool.owner}</span>
        <span className="num t3">{thousands(costOf(tool))}</span>
      </button>
      {open &&
        (change?.kind === 'changed' && change.hunk ? (
          <Lines hunk={change.hunk} />
        ) : (
          <div className="body">
            <p>{tool.description}</p>
            <pre tabIndex={0}>{JSON.stringify(tool.parameters, null, 2)}</pre>
          </div>
        ))}
    </div>
  )
}
