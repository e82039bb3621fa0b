import type { Catalog, CatalogEntry } from './preset/loader.ts'

const host = (load: CatalogEntry['load']): CatalogEntry => ({ plane: 'host', load })
const preset = (load: CatalogEntry['load'], about: string): CatalogEntry => ({ plane: 'preset', load, about })

/** Row names of the shipped documents. Modules are imported only when a row names them. */
export const catalog: Catalog = {
  scopes: host(() => import('./plugins/scopes.ts')),
  hooks: host(() => import('./plugins/hooks.ts')),
  'system-prompt': host(() => import('./plugins/system-prompt.ts')),
  'tool-registry': host(() => import('./plugins/tool-registry.ts')),
  'data-folder': host(() => import('./plugins/data-folder.ts')),
  credentials: host(() => import('./plugins/credentials.ts')),
  'config-editor': host(() => import('./plugins/config-editor.ts')),
  'state-store': host(() => import('./plugins/state-store.ts')),
  sandbox: host(() => import('./plugins/sandbox.ts')),
  shells: host(() => import('./plugins/shells.ts')),
  policy: host(() => import('./plugins/policy.ts')),
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
  'preset-library': host(() => import('./plugins/preset-library.ts')),
  'agent-preset': host(() => import('./plugins/agent-preset.ts')),

  persona: preset(
    () => import('./plugins/persona.ts'),
    'Who the agent is: the identity text at the head of the system prompt.',
  ),
  terminals: preset(
    () => import('./plugins/terminals.ts'),
    'The shells of one preset, as a service for its tools; give it a realm with isolate.',
  ),
  'terminal-local': preset(
    () => import('./plugins/terminal-local.ts'),
    'Shells on this machine, for the terminals of the same realm.',
  ),
  'fs-local': preset(() => import('./plugins/fs-local.ts'), 'Files on this machine, as a service of the same realm.'),
  'tool-bash-persistent': preset(
    () => import('./plugins/tool-bash-persistent.ts'),
    'The tool bash with one shell per session that stays open between calls.',
  ),
  'tool-bash': preset(() => import('./plugins/tool-bash.ts'), 'The tool bash with a new shell for every call.'),
  'tool-str-replace-editor': preset(
    () => import('./plugins/tool-str-replace-editor.ts'),
    'The tool str_replace_editor: one tool to view, create and change files.',
  ),
  'tool-fs': preset(() => import('./plugins/tool-fs.ts'), 'The tools read, write and edit for files.'),
  'tool-fs-search': preset(
    () => import('./plugins/tool-fs-search.ts'),
    'The tools glob and grep for finding files and text in them.',
  ),
  'tool-todo': preset(
    () => import('./plugins/tool-todo.ts'),
    'The tool todo_write: a task list that the agent keeps and the page shows.',
  ),
}
