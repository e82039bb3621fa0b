import type { Selection } from '../wire/messages.ts'
import type { LocalServer, Probe, ProviderSettings } from '../wire/models.ts'
import type { Credentials } from '../credential/credentials.ts'
import type { ProviderConfig } from '../model/adapters/config.ts'
import type { Route } from '../model/port.ts'
import type { Routes } from '../model/routes.ts'
import type { StateStore } from '../workspace/state.ts'
import type { ViewDeps } from './provider-view.ts'
import type { Written } from './route-edits.ts'
import type { RouteEntries } from './route-entry.ts'

/** Where the entries of routes are kept. */
export interface RouteFile {
  /** For messages. */
  path: string
  /** The entries in force, expressions evaluated. */
  read(): RouteEntries
  /** Rejects CoreError `settings/not-saved`, with the file as it was. What `derive` throws goes through. */
  edit(derive: (written: Written) => RouteEntries): Promise<void>
}

export interface ProvidersOptions {
  routes: Routes
  credentials: Credentials
  state: StateStore
  file: RouteFile
  /** Shipped providers: always listed, never removed. */
  shipped: readonly ProviderConfig[]
  /** False leaves out what the settings say of routes, and a person's own. */
  own?: boolean
  toConfig(settings: ProviderSettings, base?: ProviderConfig): ProviderConfig
  defaults: ViewDeps['defaults']
  makeRoute(config: ProviderConfig): Route
  /** Never rejects. */
  probe(config: ProviderConfig, options: { model?: string; limitMs: number }): Promise<Probe>
  findLocal(): Promise<LocalServer[]>
  defaultModel: { currentSelection(): Selection | undefined; saveSelection(selection: Selection): Promise<void> }
  warn?: (message: string) => void
  now?: () => number
  /** Milliseconds: list of a route, answer of a command, connection test. */
  limits?: { ask?: number; answer?: number; test?: number }
}
