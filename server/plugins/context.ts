import type { AgentRegistry } from '../agent/registry.ts'
import type { HostRows, WebStartup } from '../boot.ts'
import type { Credentials } from '../credential/credentials.ts'
import type { Fs } from '../files/fs.ts'
import type { SessionStore } from '../log/store.ts'
import type { Routes } from '../model/routes.ts'
import type { PresetLibrary } from '../preset/library.ts'
import type { AgentPresets } from '../preset/service.ts'
import type { SystemPrompt } from '../prompt/prompt.ts'
import type { Scopes } from '../scope/scope.ts'
import type { AgentDefaultModel } from '../settings/default-model.ts'
import type { Tools } from '../tool/registry.ts'
import type { Hooks } from '../turn/hooks.ts'
import type { StateStore } from '../workspace/state.ts'
import type { ConfigEditor } from './config-editor.ts'
import type { DataFolder } from './data-folder.ts'
import type { TerminalService } from './terminals.ts'

/** The services of the host and of the presets, by the names under which rows ask for them. */
declare module '@deepseek-ai/cordis' {
  interface Context {
    webStartup: WebStartup
    hostRows: HostRows
    dataFolder: DataFolder
    credentials: Credentials
    llm: Routes
    sessionStore: SessionStore
    agents: AgentRegistry
    agentDefaultModel: AgentDefaultModel
    configEditor: ConfigEditor
    scopes: Scopes
    hooks: Hooks
    systemPrompt: SystemPrompt
    tools: Tools
    agentPresets: AgentPresets
    presetLibrary: PresetLibrary
    stateStore: StateStore
    /** The host's files, or those of a preset's own realm. */
    fs: Fs
    /** Only inside a preset's own realm. */
    terminals: TerminalService
  }
}
