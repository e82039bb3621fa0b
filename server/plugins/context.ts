import type { WebStartup } from '../boot.ts'
import type { Fs } from '../files/fs.ts'
import type { AgentPresets } from '../preset/service.ts'
import type { SystemPrompt } from '../prompt/prompt.ts'
import type { Scopes } from '../scope/scope.ts'
import type { Tools } from '../tool/registry.ts'
import type { Hooks } from '../turn/hooks.ts'
import type { TerminalService } from './terminals.ts'

/** The services of the host and of the presets, by the names under which rows ask for them. */
declare module '@deepseek-ai/cordis' {
  interface Context {
    webStartup: WebStartup
    scopes: Scopes
    hooks: Hooks
    systemPrompt: SystemPrompt
    tools: Tools
    agentPresets: AgentPresets
    /** The host's files, or those of a preset's own realm. */
    fs: Fs
    /** Only inside a preset's own realm. */
    terminals: TerminalService
  }
}
