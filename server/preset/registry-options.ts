import type { Context } from '@deepseek-ai/cordis'
import type { ScopeKey, Scopes } from '../scope/scope.ts'
import type { DryRun } from '../wire/presets.ts'
import type { NumberBook } from './numbers.ts'

export type PresetChange =
  | { kind: 'roster' }
  | { kind: 'bound'; scope: ScopeKey; id: string }
  | { kind: 'selected'; sessionId: string; id: string }

export interface RegistryOptions {
  /** The registry row's own context: it owns every generation, so closing the row closes them all (F-18). */
  ctx: Context
  scopes: Scopes
  defaultId: string
  selectedDefault?(): string | undefined
  /** A dry assembly for an agent that joins the scope: all of a dry run but what only the registry knows. */
  describe?(scope: ScopeKey): Promise<Omit<DryRun, 'services'>>
  /** Writes the user's default; undefined takes it out. Absent where nothing can be written. */
  saveDefault?(id: string | undefined): Promise<void>
  warn?(message: string): void
  /** Where the numbers of generations are kept. Default: nowhere. */
  numbers?: NumberBook
  /** The folder of the user's own documents. */
  ownFolder?: string
  /** See `RosterOptions`. */
  diagnosisDeadlineMs?: number
  mountDeadlineMs?: number
}
