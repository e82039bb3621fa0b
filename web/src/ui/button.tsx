import { Tooltip } from 'radix-ui'
import type { ComponentProps, ReactNode } from 'react'

interface ButtonProps extends ComponentProps<'button'> {
  look?: string
  /** The button stays focusable and says why it does nothing. */
  off?: string | undefined
}

export function Button({ look = '', off, onClick, children, ...rest }: ButtonProps) {
  const button = (
    <button
      type="button"
      {...rest}
      className={`btn ${look}`}
      aria-disabled={off !== undefined || undefined}
      onClick={(event) => (off === undefined ? onClick?.(event) : event.preventDefault())}
    >
      {children}
    </button>
  )
  return off ? <Tip text={off}>{button}</Tip> : button
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  label: string
  keys?: string
  look?: string
  /** Menus and popovers bring their own trigger and cannot be wrapped in a tooltip's. */
  bare?: boolean
  children: ReactNode
}

export function IconButton({ label, keys, look = '', bare, children, ...rest }: IconButtonProps) {
  const button = (
    <button type="button" aria-label={label} {...rest} className={`ib ${look}`}>
      {children}
    </button>
  )
  if (bare) return button
  return (
    <Tip text={label} keys={keys}>
      {button}
    </Tip>
  )
}

export function Tip({ text, keys, children }: { text: string; keys?: string | undefined; children: ReactNode }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content className="tip" sideOffset={6} collisionPadding={8}>
          {text}
          {keys && <kbd>{keys}</kbd>}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}

export function Keys({ keys }: { keys: readonly string[] }) {
  return (
    <span className="keys">
      {keys.map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  )
}

interface SegmentProps<V extends string> {
  label: string
  value: V
  options: readonly { value: V; label: ReactNode; title?: string }[]
  onPick(value: V): void
}

/** One of a few values; arrow keys move like in any radio group. */
export function Segment<V extends string>({ label, value, options, onPick }: SegmentProps<V>) {
  const move = (by: number) => {
    const index = options.findIndex((option) => option.value === value)
    const next = options[(index + by + options.length) % options.length]
    if (next) onPick(next.value)
  }
  return (
    <div
      className="seg"
      role="radiogroup"
      aria-label={label}
      onKeyDown={(event) => {
        const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
        if (by === 0) return
        event.preventDefault()
        move(by)
        const group = event.currentTarget
        const checked = () => group.querySelector<HTMLElement>('[aria-checked=true]')
        requestAnimationFrame(() => checked()?.focus())
      }}
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          role="radio"
          aria-checked={option.value === value}
          title={option.title}
          tabIndex={option.value === value ? 0 : -1}
          onClick={() => onPick(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  )
}

export function Switch({ on, label, onChange }: { on: boolean; label: string; onChange(on: boolean): void }) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      aria-label={label}
      className="switch"
      onClick={() => onChange(!on)}
    />
  )
}
