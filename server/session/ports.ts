import type { IndexedUsage, SpentRow, UsageLine, UsageQuery } from '../log/index/usage.ts'
import type { EventLog } from '../log/port.ts'
import type { ScopeKey } from '../scope/scope.ts'
import type { Draft, Header, LogEvent } from '../wire/events.ts'
import type { SessionState } from '../projection/session-state.ts'
import type { Selection } from '../wire/messages.ts'
import type { DryRun, GenerationRef } from '../wire/presets.ts'
import type { PolicyChoice } from '../wire/safety.ts'
import type { SearchHit, SessionPage } from '../wire/protocol.ts'
import type { SessionRow } from '../wire/views.ts'

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
  leave(scope: ScopeKey): Promise<void>
  select(agent: PresetSubject, id: string): Promise<string>
  declarationDigest(scope: ScopeKey): string | undefined
  /** The exact generation that a scope uses. */
  composition(scope: ScopeKey): GenerationRef | undefined
  /** Mounted generations of a preset, newest first; an agent's scope is the agent. */
  generations(
    id: string,
  ): (GenerationRef & { mountedAt: number; retired: boolean; users: number; scopes: ScopeKey[] })[]
  /** The number of the generation that new sessions get. */
  generationOf(id: string): number
  describe(id?: string): Promise<DryRun>
  onChange(observer: (change: PresetEvent) => void): () => void
}

/** What the registry tells of: the list moved, or a scope uses another generation. */
export type PresetEvent = { kind: 'roster' | 'selected' } | { kind: 'bound'; scope: ScopeKey }

/** The policies, as the session entry uses them. Refusals are CoreErrors `permission/*`. */
export interface Permissions {
  /** The events that pin a new session. */
  pins(preset?: string): Draft[]
  /** The events of a person's choice. */
  chosen(args: { preset: string } | { choice: PolicyChoice }): Draft[]
  /** What runs in the agent under the former choice ends. */
  changed(agent: ScopeKey): Promise<void>
}

/** The deployment default model, live. */
export interface DefaultModel {
  currentSelection(): Selection | undefined
  saveSelection(selection: Selection): Promise<void>
}

/** The derived list and search over all sessions; everything in it but the marks can be rebuilt from the logs. */
export interface Index {
  note(header: Header, state: SessionState, events: readonly LogEvent[]): void
  list(query: {
    cursor?: string | undefined
    query?: string | undefined
    limit: number
    archived?: boolean | undefined
  }): Promise<SessionPage>
  get(id: string): Promise<SessionRow | undefined>
  search(text: string): Promise<SearchHit[]>
  /** What was asked of models; see `IndexedUsage`. */
  usage(query: UsageQuery): Promise<IndexedUsage>
  usageTable(query: UsageQuery): Promise<UsageLine[]>
  /** Per session, of requests that ended at `since` (ms since the epoch) or later. */
  spent(since: number): Promise<SpentRow[]>
  patch(id: string, marks: { pinned?: boolean; archived?: boolean }): Promise<void>
  remove(id: string): Promise<void>
}
