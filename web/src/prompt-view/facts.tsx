import { Copy } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ContextView, RequestRow, RequestView } from '../../../server/wire/presets.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { linkTo } from '../router.ts'
import { IconButton } from '../ui/button.tsx'
import { copyText } from '../ui/problems.tsx'
import { blocksOf, estimate, isKept } from './blocks.ts'
import type { ComparedBlock, Comparison } from './compare.ts'
import { contextWhy, originOf, sectionTag } from './fates.ts'

interface Props {
  request: RequestView
  rows: readonly RequestRow[]
  comparison?: Comparison
}

/** What stands beside the text: every section and context with its owner and fate, the digest, the route. */
export function Facts({ request, rows, comparison }: Props) {
  const t = useT()
  return (
    <aside className="pv-facts" aria-label={t('pv.facts')}>
      {request.origins ? (
        <>
          <Sections request={request} {...(comparison && { comparison })} />
          <Contexts contexts={request.contexts} />
        </>
      ) : (
        <p className="note" style={{ margin: 16 }} data-testid="origins-unknown">
          {t('pv.noOrigins')}
        </p>
      )}
      <Part title={t('pv.digest')}>
        <Digest request={request} rows={rows} />
      </Part>
      <Part title={t('pv.route')}>
        <Route request={request} />
      </Part>
    </aside>
  )
}

function Part({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="pv-part">
      <h2>
        {title}
        {aside !== undefined && <span className="num">{aside}</span>}
      </h2>
      {children}
    </section>
  )
}

function Sections({ request, comparison }: { request: RequestView; comparison?: Comparison }) {
  const t = useT()
  const blocks: readonly ComparedBlock[] =
    comparison?.blocks ?? blocksOf(request).map((block) => ({ ...block, added: 0, removed: 0 }))
  const named = blocks.filter((block) => block.section)
  const sent = named.filter((block) => block.sent).length
  const cost = thousands(estimate(request.system))
  return (
    <section className="pv-part pv-sections">
      <h2>
        {t('pv.sections')}
        <span className="num">{t('pv.sectionsSent', { sent, total: request.sections.length, tokens: cost })}</span>
      </h2>
      <ul>
        {named.map((block) => (
          <SectionLine key={block.key} block={block} />
        ))}
      </ul>
    </section>
  )
}

function SectionLine({ block }: { block: ComparedBlock }) {
  const t = useT()
  const { section, sent, hunk } = block
  if (!section) return null
  const tag = block.key.startsWith('gone.') ? 'pv.fate.gone' : sectionTag(section)
  const show = () => document.getElementById(`block-${block.key}`)?.scrollIntoView({ block: 'start' })
  return (
    <li>
      <button
        type="button"
        className={`pv-sc ${sent ? '' : 'gone'} ${hunk ? 'on' : ''}`}
        data-testid="prompt-section"
        data-fate={section.fate}
        onClick={show}
      >
        <span className="o mono-s">{section.order}</span>
        <span className="grow">
          <span className="flex">
            <span className="mono nm trunc">{section.name}</span>
            {hunk && (
              <span className="flex" style={{ gap: 4 }}>
                {block.added > 0 && <span className="plus">+{block.added}</span>}
                {block.removed > 0 && <span className="minus">-{block.removed}</span>}
              </span>
            )}
            {tag && <span className="tag line">{t(tag)}</span>}
          </span>
          <span className="ow trunc">{originOf(t, section)}</span>
        </span>
        <span className="num t3">{sent ? thousands(estimate(block.text)) : 0}</span>
      </button>
    </li>
  )
}

function Contexts({ contexts }: { contexts: readonly ContextView[] }) {
  const t = useT()
  const kept = contexts.filter(isKept).length
  return (
    <Part title={t('pv.contexts')} aside={t('pv.contextsKept', { kept, total: contexts.length })}>
      {contexts.length === 0 && <p className="pv-none">{t('pv.noContexts')}</p>}
      <ul>
        {contexts.map((context) => (
          <li
            key={`${context.name} ${context.owner} ${context.fate}`}
            className={`pv-sc ${isKept(context) ? '' : 'gone'}`}
            data-testid="prompt-context"
            data-fate={context.fate}
          >
            <span className="o mono-s">{context.order}</span>
            <span className="grow">
              <span className="flex">
                <span className="mono nm trunc">{context.name}</span>
                <span className="tag line">{t(`pv.context.${context.fate}`)}</span>
              </span>
              <span className="ow">{originOf(t, context)}</span>
              {contextWhy(t, context) && <span className="ow">{contextWhy(t, context)}</span>}
            </span>
            <span className="num t3">{isKept(context) ? thousands(estimate(context.text ?? '')) : 0}</span>
          </li>
        ))}
      </ul>
    </Part>
  )
}

function Digest({ request, rows }: { request: RequestView; rows: readonly RequestRow[] }) {
  const t = useT()
  const same = rows.filter((row) => row.digest === request.digest).length
  return (
    <div className="stack" style={{ padding: '4px 16px 16px', gap: 8 }}>
      <div className="pv-well">
        <span className="mono trunc" title={request.digest} data-testid="prompt-digest">
          {request.digest}
        </span>
        <IconButton look="sm right" label={t('copy')} onClick={() => void copyText(request.digest)}>
          <Copy size={14} />
        </IconButton>
      </div>
      <p className="t3 t12">{t('pv.sameDigest', { n: rows.length, same })}</p>
    </div>
  )
}

function Route({ request }: { request: RequestView }) {
  const t = useT()
  const { composition, selection } = request
  const facts: [string, ReactNode][] = [
    [t('pv.provider'), selection.provider],
    [t('model'), selection.model],
    [t('effort'), selection.reasoningEffort ?? <span className="unset">{t('effort.unset')}</span>],
    [
      t('preset'),
      composition ? (
        <a className="pv-link" {...linkTo({ place: 'presets', id: composition.preset })}>
          {composition.preset} G{composition.generation}
        </a>
      ) : (
        t('pv.generationUnknown')
      ),
    ],
  ]
  return (
    <dl className="pv-kv">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
