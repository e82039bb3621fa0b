import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { RouteOptionsArgs } from '../wire/commands.ts'
import type { KeySource, ProviderSettings } from '../wire/models.ts'
import type { ProviderConfig } from '../model/adapters/config.ts'
import { isExpression } from '../preset/expression.ts'
import { routeFault, type Fault } from './route-checks.ts'

/** `routes` of the row `providers`, by id. Values are unknown: a person may have written them. */
export type RouteEntries = Readonly<Record<string, unknown>>
type Map = Readonly<Record<string, unknown>>

/** What a route id may look like; the command refuses the same. */
const ROUTE_ID = /^[a-z][a-z0-9-]{0,63}$/

/** One entry as it stands in the settings file. Of a shipped provider only what differs. */
const Entry = z.strictObject({
  label: z.string().min(1).max(100).optional(),
  wire: z.enum(['chat', 'responses', 'messages', 'gemini']).optional(),
  baseURL: z.string().optional(),
  key: z
    .union([z.enum(['stored', 'none']), z.templateLiteral(['env:', z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)])], {
      error: 'expected stored, none or env:NAME',
    })
    .optional(),
  options: RouteOptionsArgs.optional(),
})

export type Parsed = { settings: ProviderSettings } | { fault: Fault }

/** One entry by itself; `base` is the shipped provider of that id. */
export function parseEntry(id: string, value: unknown, base: ProviderConfig | undefined): Parsed {
  if (!ROUTE_ID.test(id))
    return { fault: { key: '', message: 'An id has small letters, digits and hyphens, and begins with a letter.' } }
  const parsed = Entry.safeParse(value)
  if (!parsed.success) return { fault: issueOf(parsed.error) }
  const { label, wire, baseURL, key, options } = parsed.data
  if (base && label !== undefined && label !== base.label)
    return { fault: { key: 'label', message: `${base.label} ships with this server and keeps its name.` } }
  if (base && wire !== undefined && wire !== base.wire)
    return {
      fault: { key: 'wire', message: `${base.label} speaks ${base.wire}. Make a provider of your own for ${wire}.` },
    }
  const address = baseURL ?? base?.baseURL
  if (address === undefined) return { fault: { key: 'baseURL', message: 'The base URL is missing.' } }
  const settings: ProviderSettings = {
    id,
    label: base?.label ?? label ?? id,
    wire: base?.wire ?? wire ?? 'chat',
    baseURL: address,
    key: key ?? (base ? keySourceOf(base) : 'stored'),
    options: options ?? {},
  }
  const fault = routeFault(settings)
  return fault ? { fault } : { settings }
}

/** The settings of a shipped provider that nobody changed. */
export const shippedSettings = (base: ProviderConfig): ProviderSettings => ({
  id: base.id,
  label: base.label,
  wire: base.wire,
  baseURL: base.baseURL,
  key: keySourceOf(base),
  options: {},
})

const keySourceOf = ({ apiKeyRef }: ProviderConfig): KeySource => {
  if (apiKeyRef === undefined) return 'none'
  return apiKeyRef.startsWith('env:') ? (apiKeyRef as KeySource) : 'stored'
}

/** The entry for these settings, the keys in the order in which a person reads them; undefined: as shipped. */
export function entryOf(settings: ProviderSettings, base: ProviderConfig | undefined): Map | undefined {
  const shipped = base && shippedSettings(base)
  const entry: Record<string, unknown> = {}
  for (const key of ['label', 'wire', 'baseURL', 'key'] as const)
    if (settings[key] !== shipped?.[key]) entry[key] = settings[key]
  if (Object.keys(settings.options).length > 0) entry['options'] = settings.options
  return Object.keys(entry).length === 0 ? undefined : entry
}

const isMap = (value: unknown): value is Map =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExpression(value)

/** `next` with the expressions of `raw` in every place where they still say the same. */
export function keepExpressions(raw: unknown, evaluated: unknown, next: unknown): unknown {
  if (isDeepStrictEqual(evaluated, next)) return raw
  if (!isMap(raw) || !isMap(evaluated) || !isMap(next)) return next
  return Object.fromEntries(
    Object.entries(next).map(([key, value]) => [
      key,
      Object.hasOwn(raw, key) ? keepExpressions(raw[key], evaluated[key], value) : value,
    ]),
  )
}

/** Never the value itself: it may be a key that stands in the wrong place. */
function issueOf(error: z.ZodError): Fault {
  const [issue] = error.issues
  const path = issue?.path.map(String) ?? []
  if (issue?.code === 'unrecognized_keys') {
    const [name = ''] = issue.keys
    return { key: [...path, name].join('.'), message: 'There is no such setting.' }
  }
  return { key: path.join('.'), message: `${issue?.message ?? 'wrong'}.` }
}
