import type { Selection, ToolSpec, WireFamily } from './messages.ts'
import type { SafetyView } from './safety.ts'
import type { Price, ProviderSettings, SessionSettingsView } from './models.ts'

export interface WorkspaceRow {
  id: string
  /** Real path on the host. */
  path: string
  name: string
  /** Absent: usable. A folder that moved or was deleted keeps its sessions readable. */
  problem?: 'missing' | 'not-a-folder'
  addedAt: number
}

export type SessionStatus = 'idle' | 'running' | 'needs-you' | 'failed'

/** One line of the session list. Times in ms since the epoch. */
export interface SessionRow {
  id: string
  title: string
  cwd?: string
  preset?: string
  provider?: string
  model?: string
  created: number
  updated: number
  turns: number
  status: SessionStatus
  pinned: boolean
  archived: boolean
  parent?: string
  /** Set when the log is damaged: the row stays, opens read-only up to this seq, and says so. */
  damaged?: { seq: number; message: string }
}

export interface PresetRow {
  id: string
  name?: string
  description?: string
  order?: number
  /** Diagnostic of a preset that cannot be used now; absent on healthy rows. */
  broken?: string
  /** True while every problem is a missing service: it heals by itself. */
  waiting?: boolean
  isDefault: boolean
  /** The revision that new sessions get; 0 while none was ever mounted. */
  generation: number
  /** A document of the data folder, which its user may edit. */
  own: boolean
  /** The document does not parse or declare any more: the last good generation stays, and this is what is wrong. */
  stale?: { message: string; line?: number; column?: number }
  /** Retired keys and ids that the document still uses, one sentence each. */
  notices?: string[]
  /** Services that live inside the preset only. */
  services: string[]
  tools: ToolSpec[]
  /** Rendered prompt text without a session (variables shown as written). */
  prompt: string
  /** Estimated tokens of prompt and tools on every request. */
  tokens?: number
}

export interface ModelView {
  id: string
  name: string
  contextWindow?: number
  maxOutput?: number
  inputs: ('text' | 'image')[]
  reasoning: boolean
  efforts: { id: string; default?: boolean }[]
  price?: Price
  /** Who named it: the shipped catalog, the endpoint's own list, or the settings. */
  from: 'catalog' | 'endpoint' | 'settings'
  /** Where the catalog has its figures from, and of which day (YYYY-MM-DD). */
  figures?: { source: string; date: string }
  /** Fields that the settings put in the place of the catalog's. */
  edited?: ('contextWindow' | 'maxOutput' | 'inputs' | 'price')[]
}

export interface ProviderView {
  id: string
  label: string
  wire: WireFamily | 'demo' | 'replay'
  baseURL?: string
  /** Keys are write-only: only whether one is there, and where it comes from. */
  key: 'none-needed' | 'missing' | 'stored' | 'environment'
  /** When the key was stored, ms since the epoch; absent for other keys and for those of older versions. */
  keyStored?: number
  /** Shipped rows cannot be removed, only configured. */
  own: boolean
  models: ModelView[]
  problem?: string
  /** As the settings have it; absent where nothing can be set (demo, replay). */
  settings?: ProviderSettings
  /** A shipped row that the settings changed. */
  changed?: boolean
  /** What is in force where `settings.options` says nothing. Times in ms. */
  defaults?: {
    retry: { mode: 'normal' | 'always' | 'off'; retries: number; baseMs: number; capMs: number }
    firstByteMs: number
    idleMs: number
    discover: boolean
  }
}

export interface ModelsView {
  providers: ProviderView[]
  /** Deployment default; absent: "choose a model". */
  default?: Selection
  /** Models that a person picked, the latest first; eight at most. Some may be gone. */
  recent: { provider: string; model: string }[]
}

export interface DirectoryListing {
  path: string
  parent?: string
  folders: { name: string; path: string }[]
  problem?: string
}

export interface HostFacts {
  version: string
  protocol: number
  node: string
  platform: string
  dataDir: string
  home: string
  /** Rows of the host composition that could not start. */
  problems: { file: string; row: string; plugin: string; cause: string }[]
}

export interface GlobalState {
  host: HostFacts
  workspaces: WorkspaceRow[]
  presets: PresetRow[]
  models: ModelsView
  sessionSettings: SessionSettingsView
  safety: SafetyView
}
