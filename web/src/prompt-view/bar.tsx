import { ChevronDown, ChevronLeft, ChevronRight, Copy, GitCompareArrows, X } from 'lucide-react'
import { useState } from 'react'
import type { RequestRow, RequestView } from '../../../server/wire/presets.ts'
import { useT } from '../i18n/i18n.ts'
import { navigate } from '../router.ts'
import type { RequestPlace } from '../router.ts'
import { useApp } from '../store/store.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Pop } from '../ui/pop.tsx'
import { copyText } from '../ui/problems.tsx'
import type { Comparison } from './compare.ts'
import { ComparePicker, RequestList } from './request-list.tsx'

interface Props {
  id: string
  rows: readonly RequestRow[]
  row: RequestRow
  against: RequestPlace | undefined
  request?: RequestView
  comparison?: Comparison
}

/** Which request is shown, and what it is compared with. */
export function Bar({ id, rows, row, against, request, comparison }: Props) {
  const t = useT()
  const index = rows.indexOf(row)
  const go = (to: RequestRow | undefined) => {
    if (to) show(id, to, against)
  }
  return (
    <div className="pv-bar">
      <span className="flex" style={{ gap: 0 }}>
        <IconButton label={t('pv.previous')} aria-disabled={index === 0} onClick={() => go(rows[index - 1])}>
          <ChevronLeft size={14} />
        </IconButton>
        <Picker id={id} rows={rows} row={row} against={against} />
        <IconButton label={t('pv.next')} aria-disabled={index === rows.length - 1} onClick={() => go(rows[index + 1])}>
          <ChevronRight size={14} />
        </IconButton>
      </span>
      <span className="pv-model t2 t12 trunc">{`${row.provider}/${row.model}`}</span>
      <span className="pv-acts">
        {comparison && <Differences comparison={comparison} />}
        <Compare id={id} rows={rows} row={row} against={against} />
        {request && (
          <Button look="ghost" aria-label={t('pv.copy')} onClick={() => void copyText(request.system)}>
            <Copy size={14} />
            <span className="pv-label">{t('pv.copy')}</span>
          </Button>
        )}
      </span>
    </div>
  )
}

const show = (id: string, { turn, step }: { turn: number; step: number }, against: RequestPlace | undefined): void =>
  navigate({ place: 'session', id, prompt: { turn, step, ...(against && { against }) } })

function Picker({ id, rows, row, against }: Pick<Props, 'id' | 'rows' | 'row' | 'against'>) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const trigger = (
    <button type="button" className="chip out" data-testid="request-chip">
      {t('pv.request', { turn: row.turn, step: row.step })}
      <span className="sub pv-wide">{t('pv.requestOf', { n: rows.indexOf(row) + 1, total: rows.length })}</span>
      <ChevronDown size={12} />
    </button>
  )
  return (
    <Pop open={open} onOpenChange={setOpen} title={t('pv.requests')} trigger={trigger} width={440}>
      <RequestList
        rows={rows}
        value={row}
        onPick={(to) => {
          setOpen(false)
          show(id, to, against)
        }}
      />
    </Pop>
  )
}

function Differences({ comparison }: { comparison: Comparison }) {
  const t = useT()
  const { added, removed, sameUpTo, tools, contexts } = comparison
  const same = added + removed + tools.length + contexts.length === 0
  return (
    <span className="flex t12" style={{ gap: 6 }} role="status" data-testid="prompt-difference">
      {same ? (
        <span className="t3">{t('pv.identical')}</span>
      ) : (
        <>
          <span className="plus">+{added}</span>
          <span className="minus">-{removed}</span>
          <span className="t3 pv-wide">
            {[
              t('pv.lines'),
              tools.length > 0 && t('pv.toolsDiffer', { n: tools.length }),
              contexts.length > 0 && t('pv.contextsDiffer', { n: contexts.length }),
              added + removed > 0 && sameUpTo > 0 && t('pv.prefix', { n: sameUpTo }),
            ]
              .filter(Boolean)
              .join(', ')}
          </span>
        </>
      )}
    </span>
  )
}

function Compare({ id, rows, row, against }: Pick<Props, 'id' | 'rows' | 'row' | 'against'>) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const title = useApp((app) => (against?.session ? app.rows[against.session]?.title || t('untitled') : undefined))
  const label = against && t('pv.request', { turn: against.turn, step: against.step })
  const trigger = (
    <button type="button" className="chip out" data-testid="compare-chip">
      <GitCompareArrows size={14} />
      <span className="trunc">
        {label ? t('pv.against', { request: [title, label].filter(Boolean).join(', ') }) : t('pv.compare')}
      </span>
      <ChevronDown size={12} />
    </button>
  )
  return (
    <span className="flex" style={{ gap: 0 }}>
      <Pop open={open} onOpenChange={setOpen} title={t('pv.compare')} trigger={trigger} width={440}>
        <ComparePicker
          id={id}
          rows={rows}
          row={row}
          onPick={(place) => {
            setOpen(false)
            show(id, row, place)
          }}
        />
      </Pop>
      {against && (
        <IconButton label={t('pv.stopCompare')} onClick={() => show(id, row, undefined)}>
          <X size={14} />
        </IconButton>
      )}
    </span>
  )
}
