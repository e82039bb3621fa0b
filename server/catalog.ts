import type { Catalog, CatalogEntry } from './preset/loader.ts'

const host = (load: CatalogEntry['load']): CatalogEntry => ({ plane: 'host', load })
const preset = (load: CatalogEntry['load']): CatalogEntry => ({ plane: 'preset', load })

/** Row names of the shipped documents. Modules are imported only when a row names them. */
export const catalog: Catalog = {
  scopes: host(() => import('./plugins/scopes.ts')),
  hooks: host(() => import('./plugins/hooks.ts')),
  'system-prompt': host(() => import('./plugins/system-prompt.ts')),
  'tool-registry': host(() => import('./plugins/tool-registry.ts')),
  'agent-presets': host(() => import('./plugins/agent-presets.ts')),
  'agent-preset': host(() => import('./plugins/agent-preset.ts')),

  persona: preset(() => import('./plugins/persona.ts')),
}
