import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import type { WireFamily } from '../../../server/wire/messages.ts'
import type { KeySource } from '../../../server/wire/models.ts'
import { run } from '../store/actions.ts'
import { toast } from '../store/store.ts'
import { Button, Segment } from '../ui/button.tsx'
import { Problems } from '../ui/problems.tsx'
import { Labelled, SelectField, TextField } from './fields.tsx'
import { freeId, isAddress } from './options.ts'
import { WIRES } from './provider-address.tsx'
import { TEMPLATES } from './templates.ts'
import type { Template } from './templates.ts'
import { useText } from './text.ts'
import type { Text } from './text.ts'

type Kind = 'stored' | 'env' | 'none'

interface Values {
  label: string
  wire: WireFamily
  baseURL: string
  kind: Kind
  key: string
  variable: string
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
const PLACE = 'provider:new'

const titleOf = (t: Text, template: Template): string => template.label || t(`template.${template.wire}`)

interface Props {
  taken: readonly string[]
  /** With the id of the new provider, or without when nothing came of it. */
  onDone(id?: string): void
}

/** A template first, then what is left to say; the key goes along, so that the first test can work. */
export function AddProvider({ taken, onDone }: Props) {
  const t = useText()
  const [template, setTemplate] = useState<Template>()
  return (
    <div className="add-provider">
      <div className="templates" role="group" aria-label={t('template.choose')}>
        {TEMPLATES.map((candidate) => (
          <button
            key={candidate.id}
            type="button"
            className="template"
            aria-pressed={candidate === template}
            onClick={() => setTemplate(candidate)}
          >
            <span className="m">{titleOf(t, candidate)}</span>
            <span className="t3 t12 trunc">
              {candidate.baseURL === '' ? t('template.any') : new URL(candidate.baseURL).host}
            </span>
          </button>
        ))}
      </div>
      {template ? (
        <NewProvider key={template.id} template={template} taken={taken} onDone={onDone} />
      ) : (
        <div className="flex">
          <p className="hint">{t('template.choose')}</p>
          <Button look="ghost right" onClick={() => onDone()}>
            {t('cancel')}
          </Button>
        </div>
      )}
    </div>
  )
}

function NewProvider({ template, taken, onDone }: Props & { template: Template }) {
  const t = useText()
  const [values, setValues] = useState<Values>({
    label: template.label,
    wire: template.wire,
    baseURL: template.baseURL,
    kind: template.keyless ? 'none' : 'stored',
    key: '',
    variable: '',
  })
  const set = (changes: Partial<Values>) => setValues({ ...values, ...changes })
  // Once its provider is there, a second try is about the same one.
  const [made, setMade] = useState<string>()
  const id = made ?? freeId(values.label, taken)
  const source: KeySource = values.kind === 'env' ? `env:${values.variable.trim()}` : values.kind
  const off = faultOf(t, values, id)
  const save = async () => {
    const { label, wire, baseURL } = values
    const args = { id, label: label.trim(), wire, baseURL: baseURL.trim(), key: source }
    const again = { place: PLACE, retry: () => void save() }
    const outcome = await run(
      'provider.save',
      { ...args, ...(template.options && { options: template.options }) },
      again,
    )
    if (!outcome.ok) return
    setMade(id)
    const key = values.kind === 'stored' ? values.key.trim() : ''
    if (key !== '' && !(await run('credential.set', { provider: id, key }, again)).ok) return
    toast(t('provider.added', { name: label.trim() }), { tone: 'ok' })
    onDone(id)
  }
  return (
    <form
      className="px"
      onSubmit={(event) => {
        event.preventDefault()
        if (off === undefined) void save()
      }}
    >
      <Problems place={PLACE} />
      <div className="stack">
        <TextField
          label={t('provider.name')}
          autoFocus
          value={values.label}
          placeholder={t('provider.nameHint')}
          hint={id === '' ? (values.label.trim() === '' ? undefined : t('provider.idNone')) : t('provider.id', { id })}
          bad={id === '' && values.label.trim() !== ''}
          onText={(label) => set({ label })}
        />
        <TextField
          label={t('provider.url')}
          className="mono"
          inputMode="url"
          value={values.baseURL}
          placeholder="https://host/v1"
          bad={values.baseURL.trim() !== '' && !isAddress(values.baseURL)}
          hint={values.baseURL.trim() !== '' && !isAddress(values.baseURL) ? t('provider.urlBad') : undefined}
          onText={(baseURL) => set({ baseURL })}
        />
        <SelectField
          label={t('provider.wire')}
          value={values.wire}
          options={WIRES.map((wire) => ({ value: wire, label: t(`wire.${wire}`) }))}
          onPick={(wire) => set({ wire })}
        />
      </div>
      <div className="stack">
        <KeyChoice values={values} set={set} />
        <div className="flex">
          <Button type="submit" look="pri" off={off}>
            {t('providers.add')}
          </Button>
          <Button look="ghost" onClick={() => onDone(made)}>
            {t('cancel')}
          </Button>
        </div>
      </div>
    </form>
  )
}

function faultOf(t: Text, { label, baseURL, kind, variable }: Values, id: string): string | undefined {
  if (label.trim() === '' || !isAddress(baseURL)) return t('provider.incomplete')
  if (id === '') return t('provider.idNone')
  return kind === 'env' && !VARIABLE.test(variable.trim()) ? t('key.variableBad') : undefined
}

function KeyChoice({ values, set }: { values: Values; set(changes: Partial<Values>): void }) {
  const t = useText()
  return (
    <div className="stack tight">
      <div>
        <span className="lbl">{t('key')}</span>
        <Segment
          label={t('key.source')}
          value={values.kind}
          options={(['stored', 'env', 'none'] as const).map((value) => ({ value, label: t(`key.source.${value}`) }))}
          onPick={(kind) => set({ kind })}
        />
      </div>
      {values.kind === 'stored' && (
        <Labelled label={t('key.store')} hint={t('key.later')}>
          <KeyRound size={14} />
          <input
            type="password"
            autoComplete="off"
            value={values.key}
            placeholder={t('key.paste')}
            onChange={(event) => set({ key: event.target.value })}
          />
        </Labelled>
      )}
      {values.kind === 'env' && (
        <TextField
          label={t('key.variable')}
          className="mono"
          value={values.variable}
          placeholder="PROVIDER_API_KEY"
          bad={values.variable.trim() !== '' && !VARIABLE.test(values.variable.trim())}
          hint={t('key.variableHint')}
          onText={(variable) => set({ variable })}
        />
      )}
      {values.kind === 'none' && <p className="hint">{t('key.noneSent')}</p>}
    </div>
  )
}
