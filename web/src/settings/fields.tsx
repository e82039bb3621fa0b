import { ChevronDown } from 'lucide-react'
import { useId, useState } from 'react'
import type { ComponentProps, ReactNode } from 'react'
import { Switch } from '../ui/button.tsx'

interface LabelledProps {
  label: string
  /** Below the field: what it does, or what is wrong with it. */
  hint?: ReactNode
  bad?: boolean
  children: ReactNode
}

export function Labelled({ label, hint, bad, children }: LabelledProps) {
  return (
    <div>
      <label>
        <span className="lbl">{label}</span>
        <span className={`field ${bad ? 'bad' : ''}`}>{children}</span>
      </label>
      {hint !== undefined && hint !== '' && (
        <p className={`hint ${bad ? 'fail' : ''}`} role={bad ? 'alert' : undefined}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface InputProps extends Omit<ComponentProps<'input'>, 'onChange' | 'value'> {
  label: string
  value: string
  hint?: ReactNode
  bad?: boolean
  unit?: string
  onText(text: string): void
}

export function TextField({ label, hint, bad = false, unit, onText, ...rest }: InputProps) {
  return (
    <Labelled label={label} hint={hint} bad={bad}>
      <input
        autoComplete="off"
        spellCheck={false}
        {...rest}
        aria-invalid={bad || undefined}
        onChange={(event) => onText(event.target.value)}
      />
      {unit !== undefined && <span className="t3 t12">{unit}</span>}
    </Labelled>
  )
}

interface AreaProps {
  label: string
  value: string
  rows?: number
  hint?: ReactNode
  bad?: boolean
  placeholder?: string
  onText(text: string): void
}

export function AreaField({ label, value, rows = 4, hint, bad = false, placeholder, onText }: AreaProps) {
  const id = useId()
  return (
    <div>
      <label className="lbl" htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        className={`area ${bad ? 'bad' : ''}`}
        value={value}
        rows={rows}
        placeholder={placeholder}
        spellCheck={false}
        aria-invalid={bad || undefined}
        onChange={(event) => onText(event.target.value)}
      />
      {hint !== undefined && (
        <p className={`hint ${bad ? 'fail' : ''}`} role={bad ? 'alert' : undefined}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface SelectProps<V extends string> {
  label: string
  value: V
  options: readonly { value: V; label: string }[]
  hint?: ReactNode
  onPick(value: V): void
}

export function SelectField<V extends string>({ label, value, options, hint, onPick }: SelectProps<V>) {
  return (
    <Labelled label={label} hint={hint}>
      <select
        value={value}
        onChange={(event) => {
          const picked = options.find((option) => option.value === event.target.value)
          if (picked) onPick(picked.value)
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDown size={12} />
    </Labelled>
  )
}

interface SwitchRowProps {
  label: string
  hint: string
  on: boolean
  onChange(on: boolean): void
}

export function SwitchRow({ label, hint, on, onChange }: SwitchRowProps) {
  return (
    <div className="switch-row">
      <Switch on={on} label={label} onChange={onChange} />
      <span>
        <span className="m">{label}</span>
        <span className="hint">{hint}</span>
      </span>
    </div>
  )
}

export interface Draft<T> {
  value: T
  changed: boolean
  set(changes: Partial<T>): void
  /** What the host has is shown again. */
  drop(): void
}

/** What is typed until it is saved or dropped; without it, what the host has, also when that changes elsewhere. */
export function useDraft<T extends object>(saved: T): Draft<T> {
  const [typed, setTyped] = useState<T>()
  const value = typed ?? saved
  return {
    value,
    changed: typed !== undefined && JSON.stringify(typed) !== JSON.stringify(saved),
    set: (changes) => setTyped((before) => ({ ...(before ?? saved), ...changes })),
    drop: () => setTyped(undefined),
  }
}
