import type { Money } from '../../../server/projection/transcript-items.ts'
import { about } from '../i18n/format.ts'
import type { T } from '../i18n/i18n.ts'

/** An estimate; a part without a price makes it a lower bound, and nothing but such parts no number at all. */
export function costText(t: T, { cost, unpriced }: Money): string {
  if (unpriced === 0) return about(cost)
  return cost === 0 ? t('cost.none') : t('cost.least', { cost: about(cost) })
}
