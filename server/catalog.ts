import type { Catalog, CatalogEntry } from './preset/loader.ts'

const host = (load: CatalogEntry['load']): CatalogEntry => ({ plane: 'host', load })
const preset = (load: CatalogEntry['load']): CatalogEntry => ({ plane: 'preset', load })

/** Row names of the shipped documents. Modules are imported only when a row names them. */
export const catalog: Catalog = {
  scopes: host(() => import('./plugins/scopes.ts')),
  hooks: host(() => import('./plugins/hooks.ts')),
  'system-prompt': host(() => import('./plugins/system-prompt.ts')),
  'tool-registry': host(() => import('./plugins/tool-registry.ts')),
  'data-folder': host(() => import('./plugins/data-folder.ts')),
  credentials: host(() => import('./plugins/credentials.ts')),
  'config-editor': host(() => import('./plugins/config-editor.ts')),
  workspaces: host(() => import('./plugins/workspaces.ts')),
  llm: host(() => import('./plugins/llm.ts')),
  'llm-demo': host(() => import('./plugins/llm-demo.ts')),
  'llm-replay': host(() => import('./plugins/llm-replay.ts')),
  'llm-record': host(() => import('./plugins/llm-record.ts')),
  providers: host(() => import('./plugins/providers.ts')),
  'agent-default-model': host(() => import('./plugins/agent-default-model.ts')),
  'session-store': host(() => import('./plugins/session-store.ts')),
  'session-index': host(() => import('./plugins/session-index.ts')),
  'agent-loop': host(() => import('./plugins/agent-loop.ts')),
  'session-controller': host(() => import('./plugins/session-controller.ts')),
  'web-server': host(() => import('./plugins/web-server.ts')),
  'fs-host': host(() => import('./plugins/fs-host.ts')),
  'agent-presets': host(() => import('./plugins/agent-presets.ts')),
  'agent-preset': host(() => import('./plugins/agent-preset.ts')),

  persona: preset(() => import('./plugins/persona.ts')),
  terminals: preset(() => import('./plugins/terminals.ts')),
  'terminal-local': preset(() => import('./plugins/terminal-local.ts')),
  'fs-local': preset(() => import('./plugins/fs-local.ts')),
  'tool-bash-persistent': preset(() => import('./plugins/tool-bash-persistent.ts')),
  'tool-bash': preset(() => import('./plugins/tool-bash.ts')),
  'tool-str-replace-editor': preset(() => import('./plugins/tool-str-replace-editor.ts')),
  'tool-fs': preset(() => import('./plugins/tool-fs.ts')),
  'tool-fs-search': preset(() => import('./plugins/tool-fs-search.ts')),
  'tool-todo': preset(() => import('./plugins/tool-todo.ts')),
}
