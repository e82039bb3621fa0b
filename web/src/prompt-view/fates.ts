import type { ContextView, PlaceInScope, SectionView } from '../../../server/wire/presets.ts'
import { never } from '../../../server/wire/never.ts'
import type { Key, T } from '../i18n/i18n.ts'

/** Where a registration comes from: its row, and how near to the agent it stands. */
export const originOf = (t: T, { owner, scope }: { owner?: string; scope: PlaceInScope }): string =>
  [owner ?? t('pv.ownerUnknown'), t(`pv.scope.${scope}`)].join(', ')

/** One word for a tag; undefined for a section that was sent as registered. */
export function sectionTag({ fate }: SectionView): Key | undefined {
  switch (fate) {
    case 'shown':
      return undefined
    case 'empty':
    case 'shadowed':
    case 'discarded':
    case 'changed':
    case 'added':
    case 'removed':
      return `pv.fate.${fate}`
    default:
      return never(fate)
  }
}

/** Why it was not sent, or not as registered; undefined where there is nothing to explain. */
export function sectionWhy(t: T, { fate, by }: SectionView): string | undefined {
  const who = by ?? t('pv.someone')
  switch (fate) {
    case 'shown':
      return undefined
    case 'empty':
      return t('pv.why.empty')
    case 'shadowed':
    case 'discarded':
    case 'changed':
    case 'added':
    case 'removed':
      return t(`pv.why.${fate}`, { by: who })
    default:
      return never(fate)
  }
}

export function contextWhy(t: T, { fate, by, required }: ContextView): string | undefined {
  const who = by ?? t('pv.someone')
  switch (fate) {
    case 'kept':
      return required ? t('pv.context.required') : undefined
    case 'empty':
      return t('pv.why.empty')
    case 'suppressed':
    case 'dropped':
    case 'shadowed':
      return t(`pv.context.${fate}Why`, { by: who })
    default:
      return never(fate)
  }
}
