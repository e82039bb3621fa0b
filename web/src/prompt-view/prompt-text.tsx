import { PencilLine, Strikethrough } from 'lucide-react'
import { memo, useMemo, useState } from 'react'
import type { RequestView } from '../../../server/wire/presets.ts'
import { thousands } from '../i18n/format.ts'
import { useT } from '../i18n/i18n.ts'
import { DiffView } from '../transcript/cards.tsx'
import type { Hunk } from '../transcript/diff-lines.ts'
import { Segment } from '../ui/button.tsx'
import { blocksOf, estimate } from './blocks.ts'
import { Catalog } from './catalog.tsx'
import type { ComparedBlock, Comparison } from './compare.ts'
import { ContextList } from './context-list.tsx'
import { Lines } from './lines.tsx'
import { originOf, sectionTag, sectionWhy } from './fates.ts'

interface Props {
  request: RequestView
  comparison?: Comparison
}

type Form = 'sections' | 'sent'

export function PromptText({ request, comparison }: Props) {
  const t = useT()
  const [form, setForm] = useState<Form>('sections')
  return (
    <div className="pv-text" tabIndex={0} role="region" aria-label={t('pv.text')}>
      <div className="pv-head">
        <h2>{t('pv.text')}</h2>
        <span className="t3 t12 num">
          {t('pv.textCost', { chars: thousands(request.system.length), tokens: thousands(estimate(request.system)) })}
        </span>
        <span className="right" />
        <Segment<Form>
          label={t('pv.form')}
          value={form}
          options={[
            { value: 'sections', label: t('pv.bySection') },
            { value: 'sent', label: t('pv.asSent') },
          ]}
          onPick={setForm}
        />
      </div>
      {form === 'sections' ? (
        <Blocks request={request} {...(comparison && { comparison })} />
      ) : (
        <AsSent system={request.system} {...(comparison && { hunk: comparison.system })} />
      )}
      <ContextList contexts={request.contexts} {...(comparison && { changes: comparison.contexts })} />
      <Catalog tools={request.tools} {...(comparison && { changes: comparison.tools })} />
    </div>
  )
}

function AsSent({ system, hunk }: { system: string; hunk?: Hunk }) {
  const t = useT()
  if (system === '') return <p className="pv-none">{t('pv.noSystem')}</p>
  if (hunk) return <DiffView hunks={[hunk]} />
  return (
    <pre className="pv-sent" data-testid="prompt-sent">
      {system}
    </pre>
  )
}

function Blocks({ request, comparison }: Props) {
  const t = useT()
  const blocks: readonly ComparedBlock[] = useMemo(
    () => comparison?.blocks ?? blocksOf(request).map((block) => ({ ...block, added: 0, removed: 0 })),
    [request, comparison],
  )
  if (blocks.length === 0) return <p className="pv-none">{t('pv.noSystem')}</p>
  return blocks.map((block) => <BlockRow key={block.key} block={block} origins={request.origins} />)
}

const BlockRow = memo(function BlockRow({ block, origins }: { block: ComparedBlock; origins: boolean }) {
  const t = useT()
  const { section, sent, hunk } = block
  const gone = block.key.startsWith('gone.')
  const tag = section && !gone ? sectionTag(section) : undefined
  const why = section && !gone ? sectionWhy(t, section) : undefined
  return (
    <div
      className={`pv-blk ${sent || gone ? '' : 'gone'} ${hunk ? 'on' : ''}`}
      id={`block-${block.key}`}
      data-testid="prompt-block"
      data-sent={sent}
    >
      <div className="lb">
        {section ? (
          <>
            <b>{section.name}</b>
            <span>
              {section.order}, {originOf(t, section)}
            </span>
            {tag && <span className="tag line">{t(tag)}</span>}
            {gone && <span className="tag line">{t('pv.fate.gone')}</span>}
          </>
        ) : (
          <span>{t(origins ? 'pv.unaccounted' : 'pv.originsUnknown')}</span>
        )}
      </div>
      <div className="tx">
        {hunk ? <Lines hunk={hunk} /> : block.text !== '' && <pre>{block.text}</pre>}
        {why && (
          <p className="why">
            {sent ? <PencilLine size={14} aria-hidden /> : <Strikethrough size={14} aria-hidden />}
            {why}
          </p>
        )}
      </div>
    </div>
  )
})
