import { Plus, X } from 'lucide-react'
import type { DeclaredEffort } from '../../../server/wire/models.ts'
import { Button, IconButton, Segment } from '../ui/button.tsx'
import { AreaField, SwitchRow, TextField, useDraft } from './fields.tsx'
import { listOf, parseObject, prettyJson } from './options.ts'
import { jsonHint } from './more-body.tsx'
import { Section } from './more-section.tsx'
import type { PartProps } from './more-section.tsx'
import { useText } from './text.ts'

type Discovery = 'default' | 'on' | 'off'

export function ModelIdsPart({ provider, options }: PartProps) {
  const t = useText()
  const discover: Discovery = options.discover === undefined ? 'default' : options.discover ? 'on' : 'off'
  const { value, changed, set, drop } = useDraft({ ids: (options.models ?? []).join('\n'), discover })
  const inForce = t(provider.defaults?.discover ? 'on' : 'off')
  return (
    <Section
      provider={provider}
      name="models"
      title={t('ids')}
      about={t('ids.about')}
      changed={changed}
      off={undefined}
      onSaved={drop}
      changes={() => ({
        models: listOf(value.ids),
        discover: value.discover === 'default' ? undefined : value.discover === 'on',
      })}
    >
      <AreaField
        label={t('ids.list')}
        value={value.ids}
        rows={3}
        placeholder={t('ids.placeholder')}
        onText={(ids) => set({ ids })}
      />
      <div>
        <span className="lbl">{t('discover')}</span>
        <Segment
          label={t('discover')}
          value={value.discover}
          options={[
            { value: 'default', label: t('default.now', { value: inForce }) },
            { value: 'on', label: t('on') },
            { value: 'off', label: t('off') },
          ]}
          onPick={(next) => set({ discover: next })}
        />
        <p className="hint">{t('discover.about')}</p>
      </div>
    </Section>
  )
}

interface EffortText {
  id: string
  body: string
  isDefault: boolean
}

const textOf = ({ id, body, default: isDefault = false }: DeclaredEffort): EffortText => ({
  id,
  body: prettyJson(body),
  isDefault,
})

function effortOf({ id, body, isDefault }: EffortText): DeclaredEffort | undefined {
  const parsed = parseObject(body)
  if (!parsed.ok || id.trim() === '') return undefined
  return { id: id.trim(), body: parsed.value ?? {}, ...(isDefault && { default: true }) }
}

export function EffortsPart({ provider, options }: PartProps) {
  const t = useText()
  const { value, changed, set, drop } = useDraft({ rows: (options.efforts ?? []).map(textOf) })
  const { rows } = value
  const put = (index: number, changes: Partial<EffortText>) =>
    set({ rows: rows.map((row, at) => (at === index ? { ...row, ...changes } : row)) })
  const efforts = rows.map(effortOf).filter((effort) => effort !== undefined)
  return (
    <Section
      provider={provider}
      name="efforts"
      title={t('efforts')}
      about={t('efforts.about')}
      changed={changed}
      off={efforts.length === rows.length ? undefined : t('efforts.bad')}
      onSaved={drop}
      changes={() => ({ efforts })}
    >
      {rows.map((row, index) => (
        <div className="effort-row" key={index} role="group" aria-label={t('efforts.one', { name: row.id })}>
          <div className="flex top">
            <div className="grow">
              <TextField
                label={t('efforts.id')}
                className="mono"
                value={row.id}
                placeholder="high"
                onText={(id) => put(index, { id })}
              />
            </div>
            <span className="below-label">
              <IconButton
                label={t('efforts.remove', { name: row.id })}
                onClick={() => set({ rows: rows.filter((_, at) => at !== index) })}
              >
                <X size={14} />
              </IconButton>
            </span>
          </div>
          <AreaField
            label={t('efforts.body')}
            value={row.body}
            rows={2}
            placeholder={'{ "reasoning_effort": "high" }'}
            bad={!parseObject(row.body).ok}
            hint={jsonHint(t, parseObject(row.body))}
            onText={(body) => put(index, { body })}
          />
          <SwitchRow
            label={t('efforts.isDefault')}
            hint={t('efforts.isDefault.about')}
            on={row.isDefault}
            onChange={(isDefault) =>
              set({ rows: rows.map((other, at) => ({ ...other, isDefault: at === index && isDefault })) })
            }
          />
        </div>
      ))}
      <div>
        <Button look="sm" onClick={() => set({ rows: [...rows, { id: '', body: '', isDefault: false }] })}>
          <Plus size={14} />
          {t('efforts.add')}
        </Button>
      </div>
    </Section>
  )
}
