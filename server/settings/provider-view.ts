import type { ProviderView } from '../wire/views.ts'
import type { ProviderConfig } from '../model/adapters/config.ts'
import type { Route } from '../model/port.ts'
import type { Listed, ModelLists } from './model-lists.ts'
import type { ProviderKeys } from './provider-keys.ts'
import type { Managed } from './route-table.ts'

export interface ViewDeps {
  keys: ProviderKeys
  lists: ModelLists
  /** What is in force where the settings of a route say nothing. */
  defaults(plain: ProviderConfig): ProviderView['defaults']
}

/** A route that the settings do not speak of, as its plugin registered it. */
export const foreignView = (route: Route, { lists }: ViewDeps): ProviderView => {
  const { models, problem } = lists.of(route)
  const { id, label, wire } = route
  return { id, label, wire, key: 'none-needed', own: false, models, ...(problem !== undefined && { problem }) }
}

/** A provider of the settings, with what its endpoint said last. */
export function providerView(managed: Managed, deps: ViewDeps): ProviderView {
  const { id, label, own, changed, settings, config, plain, route } = managed
  const { models, problem: unlisted, refused }: Listed = route ? deps.lists.of(route) : { models: [] }
  // A shipped server of this machine that nobody set up is no fault when it does not run.
  const silent = refused && !own && !changed
  const problem = managed.problem ?? (silent ? undefined : unlisted)
  const defaults = plain && deps.defaults(plain)
  const base: Omit<ProviderView, 'key'> = {
    id,
    label,
    wire: settings?.wire ?? 'chat',
    ...(settings && { baseURL: settings.baseURL }),
    own,
    models,
    ...(problem !== undefined && { problem }),
    ...(settings && { settings }),
    ...(changed && { changed }),
    ...(defaults && { defaults }),
  }
  try {
    return { ...base, ...deps.keys.view(id, config) }
  } catch (error) {
    // The file of keys is damaged; the row says so, and everything that needs no key goes on.
    return { ...base, key: 'missing', problem: (error as Error).message }
  }
}
