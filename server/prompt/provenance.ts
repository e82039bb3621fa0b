import type { ScopeKey } from '../scope/scope.ts'
import type { Entry, View } from '../scope/layers.ts'
import type { Fate, Section, SectionFate, SectionSpec } from './assembly.ts'

interface Outcome {
  scope: ScopeKey
  view: View<SectionSpec>
  /** As the registrations gave them. */
  collected: readonly Section[]
  /** As the waterfall left them. */
  offered: readonly Section[]
  /** As the final rule left them. */
  kept: readonly Section[]
}

/** Names the origin and the fate of every section that took part, in prompt order with the losers last. */
export function provenanceOf(outcome: Outcome): SectionFate[] {
  const registered = new Map(outcome.collected.map((section) => [section.name, section]))
  const rows = outcome.collected.map((section) => ({
    ...origin(outcome.scope, outcome.view.named.get(section.name)!),
    fate: fateOf(section, outcome),
  }))
  const added = outcome.offered
    .filter((section) => !registered.has(section.name))
    .map((section) => ({
      name: section.name,
      order: section.order,
      ...(section.owner !== undefined && { owner: section.owner }),
      scope: 'listener' as const,
      fate: outcome.kept.some((kept) => kept.name === section.name) ? ('added' as const) : ('discarded' as const),
    }))
  const shadowed = outcome.view.shadowed.map((entry) => ({
    ...origin(outcome.scope, entry),
    fate: 'shadowed' as const,
  }))
  return [...rows, ...added].toSorted((a, b) => a.order - b.order).concat(shadowed)
}

function fateOf(section: Section, { offered, kept }: Outcome): Fate {
  const last = kept.find((other) => other.name === section.name)
  if (!last) return offered.some((other) => other.name === section.name) ? 'discarded' : 'removed'
  if (last.text.trim() === '') return 'empty'
  return last.text === section.text ? 'shown' : 'changed'
}

function origin(scope: ScopeKey, entry: Entry<SectionSpec>): Omit<SectionFate, 'fate'> {
  const { name, order, owner } = entry.value
  return { name, order, ...(owner !== undefined && { owner }), scope: placeOf(scope, entry.scope) }
}

function placeOf(scope: ScopeKey, at: ScopeKey | null): SectionFate['scope'] {
  if (at === null) return 'global'
  return at === scope ? 'own' : 'inherited'
}
