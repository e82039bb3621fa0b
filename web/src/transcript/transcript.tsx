import { useVirtualizer } from '@tanstack/react-virtual'
import type { Virtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { Item } from '../../../server/projection/transcript-items.ts'
import { useT } from '../i18n/i18n.ts'
import { loadOlder } from '../store/actions.ts'
import { useLiveBlocks } from '../store/live.ts'
import type { LiveBlock } from '../store/live.ts'
import { isRunning } from '../store/session-view.ts'
import type { OpenSession } from '../store/session-view.ts'
import { recallScroll, rememberScroll } from './scroll-memory.ts'
import { AnswerView } from './answer.tsx'
import { LiveView, Waiting } from './live-rows.tsx'
import { ItemView } from './rows.tsx'

type Row = { key: string } & (
  { kind: 'item'; item: Item } | { kind: 'live'; block: LiveBlock } | { kind: 'waiting'; since: number }
)

// A row that measures as estimated is not kept by the list: live and logged text must be estimated alike.
const ESTIMATES: Partial<Record<Item['kind'] | LiveBlock['kind'], number>> = {
  text: 96,
  user: 54,
  footer: 36,
  error: 110,
}
/** Pixels from the end that still count as being there. */
const AT_END = 48
const LOAD_WITHIN = 600

function rowsOf(view: OpenSession, blocks: readonly LiveBlock[]): Row[] {
  const { openTurn, retry, updatedAt } = view.state
  if (openTurn && !isRunning(view)) return interrupted(view.transcript.items, openTurn.turn, updatedAt)
  const rows: Row[] = view.transcript.items.map((item) => ({ kind: 'item', key: item.key, item }))
  const logged = new Set(rows.slice(-40).map((row) => row.key))
  for (const block of blocks) if (!logged.has(block.key)) rows.push({ kind: 'live', key: block.key, block })
  const last = view.transcript.items.at(-1)
  const busy = last?.kind === 'tool' && last.state !== 'done'
  if (openTurn && blocks.length === 0 && !busy && !retry)
    rows.push({ kind: 'waiting', key: 'waiting', since: openTurn.startedAt })
  return rows
}

/** The turn as its end will be logged with the next prompt: calls without a result stand still, a footer says why. */
function interrupted(items: readonly Item[], turn: number, time: number): Row[] {
  const rows = items.map((item): Row => {
    const cut = item.kind === 'tool' && item.turn === turn && item.state !== 'done'
    return { kind: 'item', key: item.key, item: cut ? { ...item, state: 'stopped' } : item }
  })
  const key = `turn${turn}`
  const reason = { kind: 'interrupted' } as const
  return [
    ...rows,
    { kind: 'item', key, item: { kind: 'footer', key, seq: items.at(-1)?.seq ?? 0, time, turn, reason } },
  ]
}

export function TranscriptView({ id, view }: { id: string; view: OpenSession }) {
  const t = useT()
  const blocks = useLiveBlocks(id)
  const rows = useMemo(() => rowsOf(view, blocks), [view, blocks])
  const scroller = useRef<HTMLDivElement>(null)
  const [away, setAway] = useState<{ since: number } | undefined>()
  // The page is not compiled by the React compiler, which this library does not suit.
  // oxlint-disable-next-line react/incompatible-library
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rows[index]?.key ?? index,
    estimateSize: (index) => {
      const row = rows[index]
      const kind = row?.kind === 'item' ? row.item.kind : row?.kind === 'live' ? row.block.kind : undefined
      return (kind && ESTIMATES[kind]) ?? 34
    },
    overscan: 8,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: AT_END,
  })
  useScrollMemory(id, { scroller, list, rows })
  useStick(scroller, list, away === undefined)
  const onScroll = () => {
    const element = scroller.current
    if (!element) return
    if (element.scrollTop < LOAD_WITHIN) void loadOlder(id)
    const end = element.scrollHeight - element.scrollTop - element.clientHeight <= AT_END
    setAway((before) => (end ? undefined : (before ?? { since: view.to })))
  }
  const fresh = away ? countSince(view.transcript.items, away.since) : 0
  return (
    <div className="scroll-wrap">
      <div
        ref={scroller}
        className="scroll"
        role="log"
        aria-label={t('transcript')}
        aria-live="polite"
        aria-relevant="additions"
        aria-busy={isRunning(view)}
        tabIndex={0}
        onScroll={onScroll}
        data-testid="transcript"
      >
        <div className="read">
          {view.from > 0 && (
            <p className="t3 t12" style={{ textAlign: 'center', padding: '4px 0 12px' }}>
              {t('older')}
            </p>
          )}
          {rows.length === 0 && (
            <p className="t3" style={{ padding: '24px 0', textAlign: 'center' }}>
              {t('transcript.blank')}
            </p>
          )}
          <div className="virt" style={{ height: list.getTotalSize() }}>
            {list.getVirtualItems().map((virtual) => {
              const row = rows[virtual.index]
              if (!row) return null
              return (
                <div
                  key={virtual.key}
                  ref={list.measureElement}
                  data-index={virtual.index}
                  style={{ transform: `translateY(${virtual.start}px)` }}
                >
                  <RowView row={row} session={id} cwd={view.state.cwd ?? ''} />
                </div>
              )
            })}
          </div>
        </div>
      </div>
      {away && (
        <button type="button" className="jump" onClick={() => list.scrollToEnd()} data-testid="jump">
          <ArrowDown size={14} />
          {fresh > 0 ? t('jump.count', { n: fresh }) : t('jump')}
        </button>
      )}
    </div>
  )
}

function RowView({ row, session, cwd }: { row: Row; session: string; cwd: string }) {
  if (row.kind === 'waiting') return <Waiting since={row.since} />
  if (row.kind === 'item' && row.item.kind === 'text')
    return <AnswerView id={row.key} session={session} item={row.item} />
  if (row.kind === 'item') return <ItemView item={row.item} session={session} cwd={cwd} />
  if (row.block.kind === 'text') return <AnswerView id={row.key} session={session} />
  return <LiveView block={row.block} session={session} />
}

/** The tray, a refusal or a keyboard takes room from below: whoever reads the end still sees the end. */
function useStick(scroller: { current: HTMLDivElement | null }, list: List, atEnd: boolean): void {
  const stick = useRef({ list, atEnd })
  useEffect(() => {
    stick.current = { list, atEnd }
  })
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    let height = element.clientHeight
    const observer = new ResizeObserver(() => {
      // The first call tells the size it begins with: a place that was found again must not be lost to it.
      if (element.clientHeight === height) return
      height = element.clientHeight
      if (stick.current.atEnd) stick.current.list.scrollToEnd()
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [scroller])
}

/** Rows whose event came after `seq`. */
function countSince(items: readonly Item[], seq: number): number {
  let count = 0
  for (let index = items.length - 1; index >= 0 && (items[index]?.seq ?? 0) > seq; index--) count++
  return count
}

type List = Pick<
  Virtualizer<HTMLDivElement, Element>,
  'scrollToEnd' | 'scrollToIndex' | 'getVirtualItems' | 'getVirtualItemForOffset'
>

/** Frames in which rows around a found place may still grow from their estimated height to their real one. */
const SETTLING = 20

/** Begins at the end, or where the reader was; says where that is when the place is left. */
function useScrollMemory(
  id: string,
  { scroller, list, rows }: { scroller: { current: HTMLDivElement | null }; list: List; rows: readonly Row[] },
): void {
  const ready = useRef(false)
  useLayoutEffect(() => {
    if (ready.current) return
    ready.current = true
    const place = recallScroll(id)
    const index = place === undefined ? -1 : rows.findIndex((row) => row.key === place.key)
    if (!place || index < 0) return list.scrollToEnd()
    list.scrollToIndex(index, { align: 'start' })
    hold(scroller, { list, index, by: place.by })
  })
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const save = () => {
      const left = element.scrollHeight - element.scrollTop - element.clientHeight
      const first = left <= AT_END ? undefined : list.getVirtualItemForOffset(element.scrollTop)
      rememberScroll(id, first && { key: String(first.key), by: element.scrollTop - first.start })
    }
    element.addEventListener('scroll', save, { passive: true })
    return () => element.removeEventListener('scroll', save)
  }, [id, scroller, list])
}

/** Keeps a row at its place until the heights around it are known; a reader who scrolls meanwhile wins. */
function hold(
  scroller: { current: HTMLDivElement | null },
  { list, index, by }: { list: List; index: number; by: number },
): void {
  let left = SETTLING
  const stop = () => (left = 0)
  scroller.current?.addEventListener('wheel', stop, { once: true, passive: true })
  scroller.current?.addEventListener('touchmove', stop, { once: true, passive: true })
  const place = () => {
    const element = scroller.current
    if (!element || left-- <= 0) return
    const row = list.getVirtualItems().find((item) => item.index === index)
    if (row && Math.abs(element.scrollTop - (row.start + by)) > 1) element.scrollTop = row.start + by
    requestAnimationFrame(place)
  }
  requestAnimationFrame(place)
}
