import type { EventLog } from '../log/port.ts'
import type { ScopeKey } from '../scope/scope.ts'
import type { Selection } from '../wire/messages.ts'

/** What a preset change needs of an agent. */
export interface PresetSubject {
  id: string
  scope: ScopeKey
  log: EventLog
  runMaintenance<T>(work: () => Promise<T>): Promise<T>
}

/** The preset registry, as the session entry uses it. Refusals are CoreErrors `agent-preset/*`. */
export interface Presets {
  resolve(id?: string): Promise<{ id: string; broken?: string }>
  mount(scope: ScopeKey, id?: string): Promise<string>
  select(agent: PresetSubject, id: string): Promise<string>
  composedPreset(scope: ScopeKey): string | undefined
  declarationDigest(scope: ScopeKey): string | undefined
}

/** The deployment default model, live. */
export interface DefaultModel {
  currentSelection(): Selection | undefined
  saveSelection(selection: Selection): Promise<void>
}
