import type { Selection, ToolSpec } from '../wire/messages.ts'
import type { ContextView, SectionView } from '../wire/presets.ts'
import type { ScopeKey } from '../scope/scope.ts'

/** What a section, context or variable may know of the agent whose step is assembled. */
export interface PromptAgent {
  id: string
  scope: ScopeKey
  cwd: string
}

export interface AssembleInput {
  agent: PromptAgent
  scope: ScopeKey
  signal: AbortSignal
}

/** A text, or a function run for each assembly; undefined means: not in this one. */
export type Text = string | ((input: AssembleInput) => string | undefined | Promise<string | undefined>)

export interface SectionSpec {
  name: string
  /** Harness identity -1000, persona prefix 0, tool guidance from 1000, persona suffix 10200; ties by name. */
  order: number
  text: Text
  /** Once the waterfall is over this section stands alone. */
  complete?: boolean
  /** False: `{{…}}` stays literal. */
  interpolate?: boolean
  /** The row (or plugin) that registered it, for the Prompt view. */
  owner?: string
}

export interface ContextSpec {
  name: string
  order?: number
  text: Text
  /** Stays even where runtime context is suppressed. */
  required?: boolean
  interpolate?: boolean
  owner?: string
}

export interface Section {
  name: string
  order: number
  text: string
  complete?: boolean
  interpolate?: boolean
  owner?: string
}

export interface ContextItem {
  name: string
  order: number
  text: string
  required?: boolean
  interpolate?: boolean
  owner?: string
}

/** Where everything of an assembly came from and what became of it. */
export interface Provenance {
  sections: SectionView[]
  contexts: ContextView[]
}

/** Everything one step shows the model, collected before it and reused by its retries; mutating one never affects the next. */
export interface Assembly {
  sections: Section[]
  contexts: ContextItem[]
  tools: ToolSpec[]
  variables: { [name: string]: string | undefined }
  /** The model selection captured for this step, when a selection listener is installed. */
  selection?: Selection
  provenance: Provenance
}

/** What listeners of `system-prompt/assemble` receive; they may edit `assembly` or what `next()` returns. */
export interface AssembleEvent extends AssembleInput {
  assembly: Assembly
}
