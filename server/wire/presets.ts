import type { ToolSpec, Selection } from './messages.ts'

/** What became of a prompt section: `changed`, `added` and `removed` are a listener's doing. */
export type SectionFate =
  /** Sent as registered. */
  | 'shown'
  /** Won its name and came out empty. */
  | 'empty'
  /** A nearer section of the same name stands in its place. */
  | 'shadowed'
  /** Another section is complete: nothing else is sent. */
  | 'discarded'
  | 'changed'
  | 'added'
  | 'removed'

/** Where a registration stands, seen from the agent. */
export type PlaceInScope = 'global' | 'preset' | 'own' | 'listener'

export interface SectionView {
  name: string
  order: number
  /** The row (or plugin) that registered it. */
  owner?: string
  scope: PlaceInScope
  fate: SectionFate
  /** Owner of what shadowed or discarded it. */
  by?: string
  /** As sent for a section that is sent, else as it would have been; absent where nothing was evaluated. */
  text?: string
}

export interface ContextView {
  name: string
  order: number
  owner?: string
  scope: PlaceInScope
  /** `suppressed` contexts are not even evaluated; `dropped` ones came from a listener; `kept` ones are sent. */
  fate: 'kept' | 'empty' | 'suppressed' | 'dropped' | 'shadowed'
  required?: boolean
  /** Owners of the suppressors in force. */
  by?: string
  text?: string
}

export interface OwnedTool extends ToolSpec {
  owner?: string
}

/** A dry assembly: what an agent composed like this is given. `tokens` are estimates. */
export interface DryRun {
  sections: SectionView[]
  contexts: ContextView[]
  tools: OwnedTool[]
  /** Services that live inside the preset only. */
  services: string[]
  tokens: { prompt: number; tools: number }
}

/** A preset as an agent uses it: the number says which revision of its text, also over restarts of the host. */
export interface GenerationRef {
  preset: string
  generation: number
  /** sha-256 of the declaration, hex. */
  digest: string
}

export interface GenerationView {
  generation: number
  digest: string
  /** Milliseconds since the epoch. */
  mountedAt: number
  /** New sessions do not get it any more; it goes when its last user goes. */
  retired: boolean
  /** Sessions in it, and reads in progress. */
  users: number
  sessions: { session: string; title: string; blank: boolean }[]
}

/** GET /api/presets/:preset/usage: newest first. */
export interface PresetUsage {
  preset: string
  generations: GenerationView[]
}

export interface PresetVersion {
  /** Names the text for GET /api/presets/:preset/source/:version. */
  version: string
  savedAt: number
  bytes: number
}

/** GET /api/presets/:preset/source: the whole document as written, comments and all. */
export interface PresetSource {
  preset: string
  /** A document of the data folder: it can be edited, the shipped ones can be copied. */
  own: boolean
  /** Path on the host. */
  file: string
  text: string
  /** sha-256 of `text`, hex: what an edit is based on. */
  digest: string
  /** Earlier texts of an own document, newest first. */
  versions: PresetVersion[]
}

/** A fault in a document. Lines and columns from 1; `end*` exclusive. */
export interface Diagnostic {
  severity: 'error' | 'warning'
  message: string
  line: number
  column: number
  endLine?: number
  endColumn?: number
  /** Place in the document, like `plugins[2] bash > config.timeoutMs`. */
  at?: string
}

/** What a text would do if it were activated. */
export interface PresetCheck {
  /** The id that the text declares, when it can be read. */
  preset?: string
  diagnostics: Diagnostic[]
  /** Absent when it cannot be mounted; the reason is among the diagnostics. */
  dry?: DryRun
  /** The same of the generation that new sessions get now. */
  active?: DryRun
}

/** Row names and their config, for completion in the editor: GET /api/presets/vocabulary. */
export interface PresetVocabulary {
  rows: { name: string; about?: string; config?: unknown /* JSON Schema */ }[]
}

/** What a fork into another preset keeps and loses. */
export interface ForkReport {
  preset: string
  /** Tools that the target lacks and that the copied history calls: such calls become text. */
  asText: { tool: string; calls: number }[]
  tools: { added: string[]; removed: string[]; changed: string[] }
  services: { added: string[]; removed: string[] }
  tokens: { before?: number; after: number }
}

/** GET /api/sessions/:id/requests: every model request, oldest first. */
export interface RequestRow {
  turn: number
  step: number
  /** Of the header in force. */
  headerSeq: number
  time: number
  provider: string
  model: string
  digest: string
  /** The composition differs from that of the request before. */
  changed: boolean
  /** First words of the turn's prompt. */
  prompt: string
}

/** GET /api/sessions/:id/requests/:turn/:step: exactly what that request was made of, rebuilt from the log. */
export interface RequestView {
  session: string
  turn: number
  step: number
  time: number
  composition?: GenerationRef
  digest: string
  selection: Selection
  /** The system prompt as sent; empty for none. */
  system: string
  sections: SectionView[]
  contexts: ContextView[]
  tools: OwnedTool[]
  /** False for a request logged before origins were recorded: `sections` and `contexts` are then empty. */
  origins: boolean
}
