import type { AgentRegistry } from '../agent/registry.ts'
import type { SessionStore } from '../log/store.ts'
import type { Routes } from '../model/routes.ts'
import type { Hooks } from '../turn/hooks.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import type { DefaultModel, Index, Presets } from './ports.ts'

export interface SessionsOptions {
  store: SessionStore
  agents: AgentRegistry
  hooks: Hooks
  routes: Routes
  workspaces: Workspaces
  index: Index
  /** Name and version of this program, for headers. */
  writer: string
  presets?: Presets
  defaultModel?: DefaultModel
  /** What confines a new session; pinned in its log at creation. */
  sandbox?: { mode: 'read-only' | 'workspace-write' | 'full'; source: string }
  modelNotice?: boolean
  warn?: (message: string) => void
  now?: () => number
  id?: () => string
}
