import type { RouteOptions } from '../../../server/wire/models.ts'
import { Segment } from '../ui/button.tsx'
import { SelectField, SwitchRow, useDraft } from './fields.tsx'
import { Section } from './more-section.tsx'
import type { PartProps } from './more-section.tsx'
import { useText } from './text.ts'

const BACK = ['default', 'none', 'reasoning_content', 'reasoning', 'reasoning_details'] as const

interface Values {
  includeUsage: boolean
  dropForeignChunks: boolean
  malformedArguments: 'default' | NonNullable<RouteOptions['malformedArguments']>
  inlineThink: boolean
  sendBack: (typeof BACK)[number]
}

/** For servers that are almost what they claim to be. */
export function SwitchesPart({ provider, options }: PartProps) {
  const t = useText()
  const chat = provider.wire === 'chat'
  const { value, changed, set, drop } = useDraft<Values>({
    includeUsage: options.includeUsage ?? true,
    dropForeignChunks: options.dropForeignChunks ?? false,
    malformedArguments: options.malformedArguments ?? 'default',
    inlineThink: options.inlineThink ?? false,
    sendBack: options.sendBack ?? 'default',
  })
  return (
    <Section
      provider={provider}
      name="switches"
      title={t('odd')}
      about={t('odd.about')}
      changed={changed}
      off={undefined}
      onSaved={drop}
      changes={() => ({
        includeUsage: value.includeUsage ? undefined : false,
        dropForeignChunks: value.dropForeignChunks || undefined,
        malformedArguments: value.malformedArguments === 'default' ? undefined : value.malformedArguments,
        inlineThink: value.inlineThink || undefined,
        sendBack: value.sendBack === 'default' ? undefined : value.sendBack,
      })}
    >
      {chat && (
        <SwitchRow
          label={t('odd.usage')}
          hint={t('odd.usage.about')}
          on={value.includeUsage}
          onChange={(includeUsage) => set({ includeUsage })}
        />
      )}
      <SwitchRow
        label={t('odd.foreign')}
        hint={t('odd.foreign.about')}
        on={value.dropForeignChunks}
        onChange={(dropForeignChunks) => set({ dropForeignChunks })}
      />
      <SwitchRow
        label={t('odd.think')}
        hint={t('odd.think.about')}
        on={value.inlineThink}
        onChange={(inlineThink) => set({ inlineThink })}
      />
      <div>
        <span className="lbl">{t('odd.arguments')}</span>
        <Segment
          label={t('odd.arguments')}
          value={value.malformedArguments}
          options={(['default', 'raw', 'wrap'] as const).map((name) => ({
            value: name,
            label: t(`odd.arguments.${name}`),
          }))}
          onPick={(malformedArguments) => set({ malformedArguments })}
        />
        <p className="hint">{t('odd.arguments.about')}</p>
      </div>
      {chat && (
        <SelectField
          label={t('odd.back')}
          value={value.sendBack}
          options={BACK.map((name) => ({
            value: name,
            label: name === 'default' || name === 'none' ? t(`odd.back.${name}`) : name,
          }))}
          hint={t('odd.back.about')}
          onPick={(sendBack) => set({ sendBack })}
        />
      )}
    </Section>
  )
}
