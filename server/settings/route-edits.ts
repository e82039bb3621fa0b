import { CoreError } from '../wire/errors.ts'
import type { ParsedArgs } from '../wire/commands.ts'
import type { ModelFactsEdit, ProviderSettings } from '../wire/models.ts'
import type { ProviderConfig } from '../model/adapters/config.ts'
import { keepExpressions, entryOf, parseEntry, shippedSettings, type RouteEntries } from './route-entry.ts'

/** The entries of the settings file as a person wrote them, and with their expressions evaluated. */
export interface Written {
  raw: RouteEntries
  evaluated: RouteEntries
}

type Change = (settings: ProviderSettings) => ProviderSettings

const invalid = (provider: string, message: string): CoreError =>
  new CoreError('provider/invalid', message, { provider })

/**
 * The entries with one of them changed. `start` is what a new one begins with. Throws `provider/invalid` for an entry that is
 * broken in the file, and for a change that no request could be made of.
 */
export function withEntry(
  { raw, evaluated }: Written,
  id: string,
  base: ProviderConfig | undefined,
  { change, start }: { change: Change; start?: ProviderSettings },
): RouteEntries {
  const held = Object.hasOwn(evaluated, id)
  const present = held ? parseEntry(id, evaluated[id], base) : undefined
  if (present && 'fault' in present)
    throw invalid(
      id,
      `The entry routes.${id}.${present.fault.key} of the settings file is wrong: ${present.fault.message} Repair the file first.`,
    )
  const settings = present?.settings ?? (base ? shippedSettings(base) : start)
  if (!settings) throw invalid(id, `A new provider needs a name, the kind of its API and a base URL.`)
  const entry = entryOf(change(settings), base)
  if (!entry) return withoutEntry(raw, id)
  const checked = parseEntry(id, entry, base)
  if ('fault' in checked) throw invalid(id, checked.fault.message)
  return { ...raw, [id]: keepExpressions(raw[id], evaluated[id], entry) }
}

export const withoutEntry = (raw: RouteEntries, id: string): RouteEntries =>
  Object.fromEntries(Object.entries(raw).filter(([key]) => key !== id))

/** What `provider.save` makes of the present settings: absent fields stay, `options` is replaced as a whole. */
export const saved =
  ({ label, wire, baseURL, key, options }: ParsedArgs<'provider.save'>): Change =>
  (settings) => ({
    ...settings,
    ...(label !== undefined && { label }),
    ...(wire !== undefined && { wire }),
    ...(baseURL !== undefined && { baseURL }),
    ...(key !== undefined && { key }),
    ...(options && { options: options }),
  })

/** A new route of one's own; undefined when a field is missing that it cannot do without. */
export function newSettings({
  id,
  label,
  wire,
  baseURL,
  key,
}: ParsedArgs<'provider.save'>): ProviderSettings | undefined {
  if (label === undefined || wire === undefined || baseURL === undefined) return undefined
  return { id, label, wire, baseURL, key: key ?? 'stored', options: {} }
}

/** Corrections of one model: null takes a field back, and null as a whole takes all of them back. */
export const withFacts =
  (model: string, edit: ModelFactsEdit | null): Change =>
  (settings) => {
    const { facts: { [model]: held, ...others } = {}, ...options } = settings.options
    const merged = Object.entries({ ...held, ...edit }).filter(([, value]) => value !== null && value !== undefined)
    const next =
      edit && merged.length > 0 ? { ...others, [model]: Object.fromEntries(merged) as ModelFactsEdit } : others
    return { ...settings, options: { ...options, ...(Object.keys(next).length > 0 && { facts: next }) } }
  }
