/** The part of JSON Schema that completion reads. */
interface Schema {
  type?: string | string[]
  description?: string
  properties?: Record<string, unknown>
  items?: unknown
  enum?: unknown[]
  const?: unknown
  default?: unknown
  anyOf?: unknown[]
  oneOf?: unknown[]
  allOf?: unknown[]
}

export interface Offer {
  label: string
  detail?: string
  about?: string
}

const asSchema = (value: unknown): Schema | undefined =>
  typeof value === 'object' && value !== null ? value : undefined

/** A schema and what its unions may be, flat. */
function variants(value: unknown): Schema[] {
  const schema = asSchema(value)
  if (!schema) return []
  const more = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return [schema, ...more.flatMap(variants), ...(schema.items === undefined ? [] : variants(schema.items))]
}

/** The schemas that may hold below `path`; positions in lists do not count. */
function below(root: unknown, path: readonly string[]): Schema[] {
  let now = variants(root)
  for (const key of path) now = now.flatMap((schema) => variants(schema.properties?.[key]))
  return now
}

export function keyOffers(root: unknown, path: readonly string[], taken: readonly string[]): Offer[] {
  const found = new Map<string, Offer>()
  for (const schema of below(root, path))
    for (const [label, value] of Object.entries(schema.properties ?? {}))
      if (!taken.includes(label) && !found.has(label)) found.set(label, { label, ...facts(value) })
  return [...found.values()]
}

export function valueOffers(root: unknown, path: readonly string[], key: string): Offer[] {
  const labels = below(root, [...path, key]).flatMap((schema) => {
    if (schema.enum) return schema.enum
    if (schema.const !== undefined) return [schema.const]
    return [schema.type ?? []].flat().includes('boolean') ? [true, false] : []
  })
  return [...new Set(labels.map(String))].map((label) => ({ label }))
}

function facts(value: unknown): Omit<Offer, 'label'> {
  const all = variants(value)
  const types = [...new Set(all.flatMap((schema) => schema.type ?? []))]
  const about = all.find((schema) => schema.description)?.description
  const fallback = all.find((schema) => schema.default !== undefined)?.default
  const detail = [types.join(' | '), fallback === undefined ? '' : `= ${JSON.stringify(fallback)}`]
    .filter(Boolean)
    .join(' ')
  return { ...(detail && { detail }), ...(about && { about }) }
}
