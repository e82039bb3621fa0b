import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { ImeGuard } from './ime.ts'

interface Props {
  value: string
  placeholder: string
  label: string
  autoFocus?: boolean
  shut?: boolean
  onChange(text: string): void
  /** `modifier`: Ctrl or Cmd was held. */
  onEnter(modifier: boolean): void
  onEscape?(): void
}

/** Grows with its text. Enter is the caller's, Shift-Enter breaks, and a key of an input method is never either (B82). */
export function TextBox({ value, placeholder, label, autoFocus, shut, onChange, onEnter, onEscape }: Props) {
  const box = useRef<HTMLTextAreaElement>(null)
  const [ime] = useState(() => new ImeGuard())
  useEffect(() => {
    if (autoFocus && window.matchMedia('(hover: hover)').matches) box.current?.focus({ preventScroll: true })
  }, [autoFocus])
  // `field-sizing` does this in CSS where it exists.
  useLayoutEffect(() => {
    const element = box.current
    if (!element || CSS.supports('field-sizing', 'content')) return
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight}px`
  })
  const onKeyDown = (event: KeyboardEvent) => {
    if (ime.owns(event)) return
    if (event.key === 'Escape' && onEscape) {
      event.preventDefault()
      onEscape()
    }
    if (event.key !== 'Enter' || event.shiftKey || event.altKey) return
    event.preventDefault()
    onEnter(event.ctrlKey || event.metaKey)
  }
  return (
    <textarea
      ref={box}
      rows={1}
      data-testid="composer"
      value={value}
      placeholder={placeholder}
      aria-label={label}
      readOnly={shut}
      onChange={(event) => onChange(event.target.value)}
      onCompositionStart={ime.start}
      onCompositionEnd={ime.end}
      onKeyDown={onKeyDown}
    />
  )
}
