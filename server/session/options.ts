import type { AgentRegistry } from '../agent/registry.ts'
import type { SessionStore } from '../log/store.ts'
import type { Routes } from '../model/routes.ts'
import type { Selection } from '../wire/messages.ts'
import type { Budget } from '../wire/models.ts'
import type { Hooks } from '../turn/hooks.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import type { DefaultModel, Index, Permissions, Presets } from './ports.ts'

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
  /** What sessions are held to; absent: nothing is pinned, and nothing confines them. */
  permissions?: Permissions
  modelNotice?: boolean
  /** The host's limits; asked at every request. Absent: none. */
  budget?: () => Budget
  /** The model that writes titles; asked at every first prompt. Absent: the rule titles alone. */
  titles?: () => Selection | undefined
  warn?: (message: string) => void
  now?: () => number
  id?: () => string
}
