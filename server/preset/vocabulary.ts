import { jsonSchemaOf } from './check-config.ts'
import { importError } from './loader.ts'
import type { PresetVocabulary } from '../wire/presets.ts'
import type { RowKnowledge } from './check-rows.ts'
import type { RowPlugin } from './kernel.ts'
import type { Catalog, Load } from './loader.ts'
import { planeProblem } from './loader.ts'

const namesIn = (catalog: Catalog): string[] =>
  Object.keys(catalog)
    .filter((name) => catalog[name]!.plane !== 'host')
    .toSorted()

/** The rows that a preset may carry, with the JSON Schema of each one's config. */
export async function vocabularyOf(catalog: Catalog): Promise<PresetVocabulary> {
  const rows = namesIn(catalog).map(async (name) => {
    const { about, load } = catalog[name]!
    const module = (await load()) as { default?: Partial<RowPlugin> } & Partial<RowPlugin>
    const { schema } = module.default ?? module
    return { name, ...(about !== undefined && { about }), ...(schema && { config: jsonSchemaOf(schema) }) }
  })
  return { rows: await Promise.all(rows) }
}

/** The same without importing anything from outside the catalog: of such rows nothing is said. */
export const ofCatalog = (known: RowKnowledge): RowKnowledge => ({
  ...known,
  pluginOf: async (name) => (known.names.includes(name) ? known.pluginOf(name) : { plugin: {} }),
})

/** What a check may know: the catalog, and through the loader what is installed beside the document. */
export const knowledgeOf = (catalog: Catalog, load: Load, baseUrl: string): RowKnowledge => ({
  names: namesIn(catalog),
  planeProblem: (name, plane) => planeProblem(catalog, name, plane),
  async pluginOf(name) {
    const found = (await load(name, baseUrl, 'preset')) as Partial<RowPlugin>
    const missing = importError(typeof found === 'function' ? found : found.apply)
    if (!missing) return { plugin: found }
    return { missing: missing.message.replace(`cannot import ${name}: `, '') }
  },
})
