import type { KeyboardEvent, PointerEvent } from 'react'
import type { UsageDay } from '../../../server/wire/models.ts'

interface Props {
  days: readonly UsageDay[]
  /** Where the days begin, in pixels from the left edge. */
  left: number
  active: number | undefined
  onActive(index: number | undefined): void
  label: string
  textOf(day: UsageDay): string
}

/** Lies over the bars: a pointer or the arrow keys pick the day to read; Escape lets it go. */
export function DayScrubber({ days, left, active, onActive, label, textOf }: Props) {
  const last = days.length - 1
  const at = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    const index = Math.floor(((event.clientX - box.left) / Math.max(1, box.width)) * days.length)
    onActive(Math.min(last, Math.max(0, index)))
  }
  const keys = (event: KeyboardEvent) => {
    const next = nextOf(event.key, active, last)
    if (next === null) return
    event.preventDefault()
    onActive(next)
  }
  const day = days[active ?? last]
  if (!day) return null
  return (
    <div
      className="scrub"
      role="slider"
      tabIndex={0}
      style={{ left }}
      aria-label={label}
      aria-valuemin={1}
      aria-valuemax={days.length}
      aria-valuenow={(active ?? last) + 1}
      aria-valuetext={textOf(day)}
      data-testid="usage-scrub"
      onPointerMove={at}
      onPointerDown={at}
      onPointerLeave={(event) => event.pointerType === 'mouse' && onActive(undefined)}
      onKeyDown={keys}
      onFocus={(event) => event.currentTarget.matches(':focus-visible') && onActive(active ?? last)}
      onBlur={() => onActive(undefined)}
    />
  )
}

/** Null for a key that moves nothing; a first press begins at the newest day. */
function nextOf(key: string, active: number | undefined, last: number): number | undefined | null {
  const from = active ?? last + 1
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return Math.max(0, from - 1)
    case 'ArrowRight':
    case 'ArrowUp':
      return Math.min(last, active === undefined ? last : from + 1)
    case 'PageDown':
      return Math.max(0, from - 7)
    case 'PageUp':
      return Math.min(last, from + 7)
    case 'Home':
      return 0
    case 'End':
      return last
    case 'Escape':
      return active === undefined ? null : undefined
    default:
      return null
  }
}
