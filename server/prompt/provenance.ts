import type { ContextView, PlaceInScope, SectionFate, SectionView } from '../wire/presets.ts'
import { byCodeUnit, type Entry, type View } from '../scope/layers.ts'
import type { ScopeKey } from '../scope/scope.ts'
import type { Assembly, ContextItem, ContextSpec, Provenance, Section, SectionSpec, Text } from './assembly.ts'
import { blank, renderItem } from './template.ts'

/** One assembly on its way: what was registered, what was evaluated, what listeners made of it, what is left. */
export interface Outcome {
  scope: ScopeKey
  variables: Assembly['variables']
  sections: Stages<SectionSpec, Section> & { complete: string | undefined }
  contexts: Stages<ContextSpec, ContextItem> & {
    /** Owners of the suppressors in force. */
    suppressors: readonly (string | undefined)[]
  }
}

interface Stages<Spec, Item> {
  view: View<Spec>
  /** As the registrations gave them. */
  collected: readonly Item[]
  /** As the waterfall left them. */
  offered: readonly Item[]
  /** As the final rule left them. */
  kept: readonly Item[]
}

/**
 * Remembers the last provenance of each scope: from step to step nothing in it changes, and seeing that is cheaper than
 * rendering every text again. What is handed out is frozen, for the next assembly may get the same.
 */
export class Provenances {
  readonly #last = new WeakMap<ScopeKey, { made: readonly unknown[]; provenance: Provenance }>()

  of(outcome: Outcome): Provenance {
    const made = ingredients(outcome)
    const last = this.#last.get(outcome.scope)
    if (last && same(last.made, made)) return last.provenance
    const provenance = provenanceOf(outcome)
    this.#last.set(outcome.scope, { made, provenance })
    return provenance
  }
}

const same = (a: readonly unknown[], b: readonly unknown[]): boolean => {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/** Everything that a provenance is a function of, as one flat list; what was kept follows from the rest. */
function ingredients({ sections, contexts, variables }: Outcome): unknown[] {
  const list: unknown[] = [sections.complete]
  for (const { view, collected, offered } of [sections, contexts]) {
    list.push(view.named.size, view.shadowed.length, collected.length, offered.length)
    for (const entry of view.named.values()) list.push(entry)
    for (const entry of view.shadowed) list.push(entry)
    for (const { name, text } of collected) list.push(name, text)
    for (const { name, order, text, interpolate, owner } of offered) list.push(name, order, text, interpolate, owner)
  }
  list.push(contexts.suppressors.length, ...contexts.suppressors)
  for (const name in variables) list.push(name, variables[name])
  return list
}

/** Origin and fate of everything that took part, in the order of the prompt, with what was shadowed last. */
function provenanceOf(outcome: Outcome): Provenance {
  const provenance = { sections: sectionViews(outcome), contexts: contextViews(outcome) }
  for (const views of [provenance.sections, provenance.contexts]) {
    for (const view of views) Object.freeze(view)
    Object.freeze(views)
  }
  return Object.freeze(provenance)
}

function sectionViews(outcome: Outcome): SectionView[] {
  const { view, collected, offered, kept, complete } = outcome.sections
  const [offers, sent] = [byName(offered), byName(kept)]
  const by = owned('by', complete === undefined ? undefined : view.named.get(complete)?.value.owner)
  const rows = collected.map((section): SectionView => {
    const final = sent.get(section.name)
    const text = textOf(outcome, 'section', final ?? section)
    const origin = originOf(outcome.scope, view.named.get(section.name)!)
    if (final) return { ...origin, fate: sentFate(section, final, text), text }
    if (complete === undefined && !offers.has(section.name)) return { ...origin, fate: 'removed', text }
    return { ...origin, fate: 'discarded', ...by, text }
  })
  for (const section of offered) {
    if (view.named.has(section.name)) continue
    const text = textOf(outcome, 'section', section)
    if (!sent.has(section.name)) rows.push({ ...addedBy(section), fate: 'discarded', ...by, text })
    if (sent.has(section.name)) rows.push({ ...addedBy(section), fate: blank(text) ? 'empty' : 'added', text })
  }
  return inOrder(rows).concat(view.shadowed.map((entry) => shadowed(outcome, 'section', entry, view)))
}

function sentFate(section: Section, final: Section, text: string): SectionFate {
  if (blank(text)) return 'empty'
  return final.text === section.text ? 'shown' : 'changed'
}

function contextViews(outcome: Outcome): ContextView[] {
  const { view, collected, offered, kept, suppressors } = outcome.contexts
  const [evaluated, sent] = [byName(collected), byName(kept)]
  const by = owned('by', [...new Set(suppressors.filter((owner) => owner !== undefined))].join(', ') || undefined)
  const rows: ContextView[] = []
  for (const entry of view.named.values()) {
    const origin = { ...originOf(outcome.scope, entry), ...(entry.value.required && { required: true }) }
    const item = sent.get(entry.name) ?? evaluated.get(entry.name)
    if (!item) {
      rows.push({ ...origin, fate: 'suppressed', ...by, ...plainText(outcome, 'context', entry.value) })
      continue
    }
    const text = textOf(outcome, 'context', item)
    if (!sent.has(entry.name)) rows.push({ ...origin, fate: 'dropped', text })
    if (sent.has(entry.name)) rows.push({ ...origin, fate: blank(text) ? 'empty' : 'kept', text })
  }
  for (const item of offered) {
    if (view.named.has(item.name)) continue
    const text = textOf(outcome, 'context', item)
    if (!sent.has(item.name)) rows.push({ ...addedBy(item), fate: 'dropped', ...by, text })
    if (sent.has(item.name)) rows.push({ ...addedBy(item), fate: blank(text) ? 'empty' : 'kept', text })
  }
  const losers = view.shadowed.map((entry) => ({
    ...shadowed(outcome, 'context', entry, view),
    ...(entry.value.required && { required: true }),
  }))
  return inOrder(rows).concat(losers)
}

interface Spec {
  name: string
  order?: number
  text: Text
  interpolate?: boolean
  owner?: string
}

function shadowed<T extends Spec>(outcome: Outcome, kind: string, entry: Entry<T>, view: View<T>) {
  return {
    ...originOf(outcome.scope, entry),
    fate: 'shadowed' as const,
    ...owned('by', view.named.get(entry.name)?.value.owner),
    ...plainText(outcome, kind, entry.value),
  }
}

const originOf = (scope: ScopeKey, { value, scope: at }: Entry<Spec>) => ({
  name: value.name,
  order: value.order ?? 0,
  ...owned('owner', value.owner),
  scope: placeOf(scope, at),
})

const addedBy = ({ name, order, owner }: Section | ContextItem) => ({
  name,
  order,
  ...owned('owner', owner),
  scope: 'listener' as const,
})

function placeOf(scope: ScopeKey, at: ScopeKey | null): PlaceInScope {
  if (at === null) return 'global'
  return at === scope ? 'own' : 'preset'
}

const owned = <K extends string>(key: K, owner: string | undefined) =>
  (owner === undefined ? {} : { [key]: owner }) as { [P in K]?: string }

/** The text of something that was not evaluated, where reading it runs nobody's code. */
const plainText = (outcome: Outcome, kind: string, { name, text, interpolate }: Spec): { text?: string } =>
  typeof text === 'string'
    ? { text: textOf(outcome, kind, { name, text, ...(interpolate !== undefined && { interpolate }) }) }
    : {}

function textOf(
  { variables }: Outcome,
  kind: string,
  item: { name: string; text: string; interpolate?: boolean },
): string {
  try {
    return renderItem(item, variables, kind)
  } catch {
    // What is sent is rendered again, and refused there with this very error (J-13); what is not sent is shown as written.
    return item.text
  }
}

/** As with the lookups before: of two items of one name the first counts. */
function byName<T extends { name: string }>(items: readonly T[]): Map<string, T> {
  const map = new Map<string, T>()
  for (const item of items) if (!map.has(item.name)) map.set(item.name, item)
  return map
}

const inOrder = <T extends { name: string; order: number }>(rows: T[]): T[] =>
  rows.toSorted((a, b) => a.order - b.order || byCodeUnit(a.name, b.name))
