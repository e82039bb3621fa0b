import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import type { ReactNode } from 'react'
import { useT } from '../i18n/i18n.ts'
import { usePhone } from '../ui/hooks.ts'
import type { Line } from './listing.ts'
import { Head, Option } from './option.tsx'

interface Props {
  id: string
  lines: readonly Line[]
  /** Index of the row that the arrow keys stand at; -1: none. */
  at: number
  origin: string
  isOn(line: Line): boolean
  onPick(line: Line): void
  /** Below the list, scrolled with it. */
  children?: ReactNode
}

export const optionId = (list: string, index: number): string => `${list}-${index}`

/** The list itself: only the rows in sight are in the document, so that a thousand models cost what ten do. */
export function PickerList({ id, lines, at, origin, isOn, onPick, children }: Props) {
  const t = useT()
  const phone = usePhone()
  const scroller = useRef<HTMLDivElement>(null)
  const places = useMemo(() => placesOf(lines), [lines])
  // The page is not compiled by the React compiler, which this library does not suit.
  // oxlint-disable-next-line react/incompatible-library
  const list = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => lines[index]?.key ?? index,
    estimateSize: (index) => (lines[index]?.kind === 'head' ? 28 : phone ? 56 : 44),
    overscan: 6,
    initialRect: { width: 400, height: 480 },
  })
  const first = useRef(true)
  useLayoutEffect(() => {
    if (!first.current) return
    first.current = false
    const on = lines.findIndex(isOn)
    if (on > 4) list.scrollToIndex(on, { align: 'center' })
  })
  useEffect(() => {
    if (at < 0) return
    // The heading above the first row comes along.
    list.scrollToIndex(at === 1 ? 0 : at, { align: 'auto' })
  }, [at, list])
  return (
    <div ref={scroller} className="opts">
      <div
        role="listbox"
        id={id}
        aria-label={t('model')}
        className="virt"
        style={{ height: list.getTotalSize() }}
        hidden={lines.length === 0}
      >
        {list.getVirtualItems().map(({ index, start, key }) => {
          const line = lines[index]
          if (!line) return null
          return (
            <div
              key={key}
              ref={list.measureElement}
              data-index={index}
              role="presentation"
              style={{ transform: `translateY(${start}px)` }}
            >
              {line.kind === 'head' ? (
                <Head provider={line.provider} count={line.count} />
              ) : (
                <Option
                  line={line}
                  id={optionId(id, index)}
                  place={[places.of[index] ?? 0, places.count]}
                  on={isOn(line)}
                  at={index === at}
                  origin={origin}
                  onPick={() => onPick(line)}
                />
              )}
            </div>
          )
        })}
      </div>
      {children}
    </div>
  )
}

function placesOf(lines: readonly Line[]): { of: number[]; count: number } {
  let count = 0
  const of = lines.map((line) => (line.kind === 'head' ? 0 : ++count))
  return { of, count }
}
