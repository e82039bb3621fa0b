import { Plus, X } from 'lucide-react'
import type { JsonObject } from '../../../server/wire/json.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { AreaField, useDraft } from './fields.tsx'
import { parseObject, prettyJson } from './options.ts'
import type { Parsed } from './options.ts'
import { Section } from './more-section.tsx'
import type { PartProps } from './more-section.tsx'
import { useText } from './text.ts'
import type { Text } from './text.ts'

const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/

export function HeadersPart({ provider, options }: PartProps) {
  const t = useText()
  const saved = { rows: Object.entries(options.headers ?? {}).map(([name, value]) => ({ name, value })) }
  const { value, changed, set, drop } = useDraft(saved)
  const { rows } = value
  const put = (index: number, changes: Partial<(typeof rows)[number]>) =>
    set({ rows: rows.map((row, at) => (at === index ? { ...row, ...changes } : row)) })
  const filled = rows.filter(({ name, value: text }) => name.trim() !== '' || text !== '')
  const names = filled.map(({ name }) => name.trim().toLowerCase())
  const bad = names.some((name) => !NAME.test(name))
  const twice = new Set(names).size < names.length
  return (
    <Section
      provider={provider}
      name="headers"
      title={t('headers')}
      about={t('headers.about', { key: '{{key}}', session: '{{session}}' })}
      changed={changed}
      off={bad ? t('headers.badName') : twice ? t('headers.twice') : undefined}
      onSaved={drop}
      changes={() => ({ headers: Object.fromEntries(filled.map((row) => [row.name.trim(), row.value])) })}
    >
      {rows.map((row, index) => (
        <div className="header-row" key={index}>
          <span className={`field ${row.name !== '' && !NAME.test(row.name.trim()) ? 'bad' : ''}`}>
            <input
              className="mono"
              aria-label={t('headers.name')}
              placeholder={t('headers.name')}
              value={row.name}
              spellCheck={false}
              autoComplete="off"
              onChange={(event) => put(index, { name: event.target.value })}
            />
          </span>
          <span className="field">
            <input
              className="mono"
              aria-label={t('headers.value')}
              placeholder={t('headers.value')}
              value={row.value}
              spellCheck={false}
              autoComplete="off"
              onChange={(event) => put(index, { value: event.target.value })}
            />
          </span>
          <IconButton
            label={t('headers.remove', { name: row.name })}
            onClick={() => set({ rows: rows.filter((_, at) => at !== index) })}
          >
            <X size={14} />
          </IconButton>
        </div>
      ))}
      <div>
        <Button look="sm" onClick={() => set({ rows: [...rows, { name: '', value: '' }] })}>
          <Plus size={14} />
          {t('headers.add')}
        </Button>
      </div>
    </Section>
  )
}

export function jsonHint(t: Text, parsed: Parsed<JsonObject | undefined>): string | undefined {
  if (parsed.ok) return undefined
  return parsed.message === '{ }'
    ? t('json.notObject')
    : t('json.bad', { line: parsed.line ?? 1, message: parsed.message })
}

export function BodyPart({ provider, options }: PartProps) {
  const t = useText()
  const { value, changed, set, drop } = useDraft({ text: prettyJson(options.extraBody) })
  const parsed = parseObject(value.text)
  const fault = jsonHint(t, parsed)
  return (
    <Section
      provider={provider}
      name="body"
      title={t('body')}
      about={t('body.about')}
      changed={changed}
      off={fault}
      onSaved={drop}
      changes={() => (parsed.ok ? { extraBody: parsed.value } : undefined)}
    >
      <AreaField
        label={t('body.json')}
        value={value.text}
        placeholder={'{\n  "temperature": 0.2\n}'}
        bad={fault !== undefined}
        hint={fault}
        onText={(text) => set({ text })}
      />
    </Section>
  )
}
