import type { ContextView, DryRun, OwnedTool, SectionView } from '../../../server/wire/presets.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import type { Key } from '../i18n/i18n.ts'
import { isSent, total } from './compare.ts'

/** The prompt as it is put together: by order, with the owner of each part; what is not sent stays visible, struck through. */
export function Sections({ sections }: { sections: readonly SectionView[] }) {
  const t = useT()
  if (sections.length === 0) return <p className="hint">{t('presets.noPrompt')}</p>
  return (
    <ol className="parts" data-testid="prompt-parts">
      {[...sections]
        .sort((a, b) => a.order - b.order)
        .map((section, index) => (
          <li key={`${section.name} ${index}`} className={isSent(section) ? '' : 'off'}>
            <PartHead {...section} fate={section.fate === 'shown' ? undefined : `presets.fate.${section.fate}`} />
            {section.text !== undefined && section.text !== '' && <pre tabIndex={0}>{section.text}</pre>}
          </li>
        ))}
    </ol>
  )
}

export function Contexts({ contexts }: { contexts: readonly ContextView[] }) {
  return (
    <ol className="parts">
      {[...contexts]
        .sort((a, b) => a.order - b.order)
        .map((context, index) => (
          <li key={`${context.name} ${index}`} className={context.fate === 'kept' ? '' : 'off'}>
            <PartHead {...context} fate={context.fate === 'kept' ? undefined : `presets.fate.${context.fate}`} />
            {context.text !== undefined && context.text !== '' && <pre tabIndex={0}>{context.text}</pre>}
          </li>
        ))}
    </ol>
  )
}

interface PartProps {
  name: string
  order: number
  owner?: string
  scope: SectionView['scope']
  by?: string
  fate: Key | undefined
}

function PartHead({ name, order, owner, scope, by, fate }: PartProps) {
  const t = useT()
  return (
    <div className="part-head">
      <span className="num t3 ord">{order}</span>
      <span className="mono nm trunc">{name}</span>
      {owner !== undefined && owner !== name && <span className="mono-s t3 trunc">{owner}</span>}
      <span className="right flex">
        {fate && (
          <span className="tag warn">{by === undefined ? t(fate) : t('presets.fateBy', { fate: t(fate), by })}</span>
        )}
        <span className="tag">{t(`presets.scope.${scope}`)}</span>
      </span>
    </div>
  )
}

/** Where the tokens of every request go before anybody types. */
export function TokenBar({ run }: { run: DryRun }) {
  const t = useT()
  const all = Math.max(1, total(run))
  return (
    <div className="tokbar" data-testid="tokens">
      <div className="bar" aria-hidden="true">
        <i style={{ flexGrow: run.tokens.prompt / all }} />
        <i style={{ flexGrow: run.tokens.tools / all }} />
      </div>
      <p className="t3 t12 num flex">
        <span className="k1">{t('presets.tokPrompt', { n: thousands(run.tokens.prompt) })}</span>
        <span className="k2">{t('presets.tokTools', { n: thousands(run.tokens.tools) })}</span>
      </p>
    </div>
  )
}

export function ToolRows({ tools }: { tools: readonly OwnedTool[] }) {
  const t = useT()
  if (tools.length === 0) return <p className="hint">{t('preset.noTools')}</p>
  return (
    <ul className="trows" data-testid="tool-rows">
      {tools.map((tool) => (
        <li key={tool.name}>
          <span className="mono nm">{tool.name}</span>
          <span className="t2 t12 trunc" title={tool.description}>
            {tool.description.split('\n')[0]}
          </span>
          {tool.owner !== undefined && <span className="mono-s t3 trunc own-of">{tool.owner}</span>}
        </li>
      ))}
    </ul>
  )
}

export function Services({ services }: { services: readonly string[] }) {
  const t = useT()
  if (services.length === 0) return <p className="hint">{t('presets.noServices')}</p>
  return (
    <div className="tags">
      {services.map((service) => (
        <span key={service} className="tag mono-s">
          {service}
        </span>
      ))}
    </div>
  )
}
