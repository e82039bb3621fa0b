import type { ModelView, ModelsView, ProviderView } from '../../../server/wire/views.ts'

export interface Choice {
  provider: ProviderView
  model: ModelView
}

/** A row of the picker's list; only `choice` and `use` can be picked. */
export type Line = { key: string } & (
  | { kind: 'head'; provider?: ProviderView; count: number }
  | ({ kind: 'choice'; recent: boolean } & Choice)
  /** An id that no list has, sent as it is. */
  | { kind: 'use'; provider: ProviderView; id: string; named: boolean }
)

export interface Listing {
  lines: Line[]
  /** Providers without a key, with how many of their models match. */
  keyless: { provider: ProviderView; matches: number }[]
}

const RECENT_SHOWN = 5
/** So many providers are offered an id that no list has. */
const USE_SHOWN = 4
/** A single letter is a search and no id. */
const ID = /^[^\s/][^\s]{2,}$/

/** What can be picked, in groups: recent ones first, the demo before the others while nothing else can answer. */
export function listing(models: ModelsView, query: string): Listing {
  const matches = matcher(query)
  const usable = inOrder(models.providers.filter((provider) => provider.key !== 'missing'))
  const recent = recentOf(models, usable).filter((choice) => matches(choice))
  const isRecent = new Set(recent.map(keyOf))
  const lines: Line[] = []
  if (recent.length > 0) lines.push({ key: 'recent', kind: 'head', count: recent.length })
  for (const choice of recent) lines.push({ key: keyOf(choice), kind: 'choice', recent: true, ...choice })
  for (const provider of usable) {
    const choices = provider.models
      .map((model) => ({ provider, model }))
      .filter((choice) => !isRecent.has(keyOf(choice)) && matches(choice))
    if (choices.length === 0) continue
    lines.push({ key: `head ${provider.id}`, kind: 'head', provider, count: choices.length })
    for (const choice of choices) lines.push({ key: keyOf(choice), kind: 'choice', recent: false, ...choice })
  }
  const keyless = models.providers
    .filter((provider) => provider.key === 'missing')
    .map((provider) => ({
      provider,
      matches: provider.models.filter((model) => matches({ provider, model })).length,
    }))
  return {
    lines: [...lines, ...uses(usable, query)],
    keyless: query.trim() === '' ? keyless : keyless.filter((entry) => entry.matches > 0),
  }
}

const keyOf = ({ provider, model }: Choice): string => `${provider.id} ${model.id}`

/** Every word must be there, in any order. */
function matcher(query: string): (choice: Choice) => boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return () => true
  return ({ provider, model }) => {
    const text = `${provider.id}/${model.id} ${provider.label} ${model.name}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

const isReal = (provider: ProviderView): boolean =>
  provider.wire !== 'demo' && provider.problem === undefined && provider.models.length > 0

function inOrder(usable: ProviderView[]): ProviderView[] {
  const demoFirst = !usable.some(isReal)
  const rank = (provider: ProviderView) => (provider.wire === 'demo' ? (demoFirst ? 0 : 2) : 1)
  return [...usable].sort((a, b) => rank(a) - rank(b))
}

/** Those that are gone are left out: the list offers what answers. */
function recentOf(models: ModelsView, usable: readonly ProviderView[]): Choice[] {
  const found = models.recent.flatMap((wanted) => {
    const provider = usable.find((candidate) => candidate.id === wanted.provider && candidate.problem === undefined)
    const model = provider?.models.find((candidate) => candidate.id === wanted.model)
    return provider && model ? [{ provider, model }] : []
  })
  return found.slice(0, RECENT_SHOWN)
}

/** An id goes to every provider that takes any; one that begins with a provider's name, to that one first. */
function uses(usable: readonly ProviderView[], query: string): Line[] {
  const typed = query.trim()
  if (!ID.test(typed)) return []
  const takers = usable.filter(({ wire, problem }) => wire !== 'demo' && wire !== 'replay' && problem === undefined)
  const wanted = takers.flatMap((provider) => {
    const named = typed.startsWith(`${provider.id}/`)
    const id = named ? typed.slice(provider.id.length + 1) : typed
    return id === '' ? [] : [{ provider, id, named }]
  })
  return wanted
    .filter(({ provider, id }) => !provider.models.some((model) => model.id === id))
    .sort((a, b) => rankOf(a) - rankOf(b))
    .slice(0, USE_SHOWN)
    .map(({ provider, id, named }) => ({ key: `use ${provider.id} ${id}`, kind: 'use', provider, id, named }))
}

/** One that lists nothing, as a local server that is off, comes last. */
const rankOf = ({ provider, named }: { provider: ProviderView; named: boolean }): number =>
  named ? 0 : provider.models.length > 0 ? 1 : 2

/** Where Enter would pick: what was found, or an id that was typed with its provider. Half a word is no pick. */
export const firstOf = (lines: readonly Line[]): number => {
  const found = lines.findIndex((line) => line.kind === 'choice')
  return found >= 0 ? found : lines.findIndex((line) => line.kind === 'use' && line.named)
}
