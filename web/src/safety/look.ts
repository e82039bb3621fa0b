import type { PermissionPreset, PinnedPolicy, PolicyChoice, SafetyView } from '../../../server/wire/safety.ts'
import type { Key, T } from '../i18n/i18n.ts'

const SHIPPED = ['read-only', 'ask', 'workspace-write', 'full'] as const
const isShipped = (id: string): id is (typeof SHIPPED)[number] => (SHIPPED as readonly string[]).includes(id)

/** What comes with the program is named in the reader's language; a person's own as it was written. */
export const presetName = (t: T, { id, name }: Pick<PermissionPreset, 'id' | 'name'>): string =>
  isShipped(id) ? t(`permission.${id}`) : name

export const presetWhat = (t: T, { id, description }: Pick<PermissionPreset, 'id' | 'description'>): string =>
  isShipped(id) ? t(`permission.${id}.what`) : description

/** How a choice is shown: what it is called, why, and whether it is to be seen as a danger. */
export interface Look {
  name: string
  what: string
  bare: boolean
}

export function lookOf(
  t: T,
  safety: SafetyView,
  preset: string | null,
  choice: Pick<PolicyChoice, 'sandbox'> | undefined,
): Look {
  const container = safety.verdict.enforcement === 'container'
  if (!choice) return named(t, container ? 'container' : 'none', !container)
  if (choice.sandbox === 'full' && container) return named(t, 'container', false)
  const row = safety.presets.find(({ id }) => id === preset)
  const bare = choice.sandbox === 'full'
  if (!row) return bare ? named(t, 'full', true) : named(t, 'custom', false)
  const partial = !bare && safety.verdict.enforcement === 'partial' ? ` ${t('permission.partial')}` : ''
  return { name: presetName(t, row), what: presetWhat(t, row) + partial, bare }
}

const named = (t: T, which: 'container' | 'none' | 'full' | 'custom', bare: boolean): Look => ({
  name: t(`permission.${which}` satisfies Key),
  what: t(`permission.${which}.what` satisfies Key),
  bare,
})

export const pinnedChoice = ({ sandbox, network, onAsk, edits, commands }: PinnedPolicy): PolicyChoice | undefined =>
  sandbox === null ? undefined : { sandbox, network, onAsk: onAsk ?? 'prompt', edits, commands }
