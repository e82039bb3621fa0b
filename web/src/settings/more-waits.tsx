import { Segment } from '../ui/button.tsx'
import { duration } from '../i18n/format.ts'
import { TextField, useDraft } from './fields.tsx'
import { isAddress, millisecondsOf, numberOf, numberText, secondsText } from './options.ts'
import { Section } from './more-section.tsx'
import type { PartProps } from './more-section.tsx'
import { useText } from './text.ts'

const MODES = ['normal', 'always', 'off'] as const
const good = (text: string): boolean => !Number.isNaN(millisecondsOf(text))
const isTimes = (text: string): boolean => text.trim() === '' || /^\d{1,5}$/.test(text.trim())

export function RetryPart({ provider, options }: PartProps) {
  const t = useText()
  const defaults = provider.defaults?.retry
  const { value, changed, set, drop } = useDraft({
    mode: options.retry?.mode ?? defaults?.mode ?? 'normal',
    retries: numberText(options.retry?.retries),
    base: secondsText(options.retry?.baseMs),
    cap: secondsText(options.retry?.capMs),
  })
  const off = isTimes(value.retries) && good(value.base) && good(value.cap) ? undefined : t('more.numbers')
  return (
    <Section
      provider={provider}
      name="retry"
      title={t('retry')}
      about={t(`retry.${value.mode}.about`)}
      changed={changed}
      off={off}
      onSaved={drop}
      changes={() => {
        const [retries, baseMs, capMs] = [
          numberOf(value.retries),
          millisecondsOf(value.base),
          millisecondsOf(value.cap),
        ]
        const given = {
          ...(retries !== undefined && { retries }),
          ...(baseMs !== undefined && { baseMs }),
          ...(capMs !== undefined && { capMs }),
        }
        const same = value.mode === (defaults?.mode ?? 'normal') && Object.keys(given).length === 0
        return { retry: same ? undefined : { mode: value.mode, ...given } }
      }}
    >
      <Segment
        label={t('retry')}
        value={value.mode}
        options={MODES.map((mode) => ({ value: mode, label: t(`retry.${mode}`) }))}
        onPick={(mode) => set({ mode })}
      />
      {value.mode !== 'off' && (
        <div className="pair three">
          <TextField
            label={t('retry.times')}
            inputMode="numeric"
            value={value.retries}
            placeholder={numberText(defaults?.retries)}
            bad={!isTimes(value.retries)}
            onText={(retries) => set({ retries })}
          />
          <Seconds
            label={t('retry.base')}
            value={value.base}
            inForce={defaults?.baseMs}
            onText={(base) => set({ base })}
          />
          <Seconds label={t('retry.cap')} value={value.cap} inForce={defaults?.capMs} onText={(cap) => set({ cap })} />
        </div>
      )}
    </Section>
  )
}

interface SecondsProps {
  label: string
  value: string
  inForce: number | undefined
  hint?: string
  onText(text: string): void
}

function Seconds({ label, value, inForce, hint, onText }: SecondsProps) {
  const t = useText()
  const fine = good(value)
  return (
    <TextField
      label={label}
      inputMode="decimal"
      value={value}
      placeholder={secondsText(inForce)}
      unit={t('seconds')}
      bad={!fine}
      hint={fine ? hint : t('seconds.bad')}
      onText={onText}
    />
  )
}

export function WaitsPart({ provider, options }: PartProps) {
  const t = useText()
  const { value, changed, set, drop } = useDraft({
    first: secondsText(options.firstByteMs),
    idle: secondsText(options.idleMs),
  })
  const inForce = (typed: string, fallback: number | undefined): string => {
    const ms = millisecondsOf(typed) ?? fallback
    if (ms === undefined || Number.isNaN(ms)) return ''
    if (ms === 0) return t('waits.forEver')
    return t(typed.trim() === '' ? 'waits.default' : 'waits.set', { time: duration(ms) })
  }
  const { defaults } = provider
  return (
    <Section
      provider={provider}
      name="waits"
      title={t('waiting')}
      about={t('waiting.about')}
      changed={changed}
      off={good(value.first) && good(value.idle) ? undefined : t('seconds.bad')}
      onSaved={drop}
      changes={() => ({ firstByteMs: millisecondsOf(value.first), idleMs: millisecondsOf(value.idle) })}
    >
      <div className="pair">
        <Seconds
          label={t('waiting.first')}
          value={value.first}
          inForce={defaults?.firstByteMs}
          hint={inForce(value.first, defaults?.firstByteMs)}
          onText={(first) => set({ first })}
        />
        <Seconds
          label={t('waiting.idle')}
          value={value.idle}
          inForce={defaults?.idleMs}
          hint={inForce(value.idle, defaults?.idleMs)}
          onText={(idle) => set({ idle })}
        />
      </div>
    </Section>
  )
}

type ProxyKind = 'environment' | 'none' | 'address'

export function ProxyPart({ provider, options }: PartProps) {
  const t = useText()
  const kind: ProxyKind = options.proxy === undefined ? 'environment' : options.proxy === 'none' ? 'none' : 'address'
  const { value, changed, set, drop } = useDraft({ kind, address: kind === 'address' ? (options.proxy ?? '') : '' })
  const fine = value.kind !== 'address' || isAddress(value.address)
  return (
    <Section
      provider={provider}
      name="proxy"
      title={t('proxy')}
      about={t(`proxy.${value.kind}.about`)}
      changed={changed}
      off={fine ? undefined : t('proxy.bad')}
      onSaved={drop}
      changes={() => ({ proxy: { environment: undefined, none: 'none', address: value.address.trim() }[value.kind] })}
    >
      <Segment
        label={t('proxy')}
        value={value.kind}
        options={(['environment', 'none', 'address'] as const).map((name) => ({
          value: name,
          label: t(`proxy.${name}`),
        }))}
        onPick={(next) => set({ kind: next })}
      />
      {value.kind === 'address' && (
        <TextField
          label={t('proxy.url')}
          className="mono"
          value={value.address}
          placeholder="http://proxy.example:3128"
          bad={value.address.trim() !== '' && !fine}
          hint={value.address.trim() !== '' && !fine ? t('proxy.bad') : undefined}
          onText={(address) => set({ address })}
        />
      )}
    </Section>
  )
}
