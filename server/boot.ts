import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Context, Logger } from '@deepseek-ai/cordis'
import { Group } from '@deepseek-ai/cordis-plugin-loader'
import { HOST_FILE, inheritedConfig, readLayers, type Inherited } from './boot-files.ts'
import { USER_PATCH, USER_PRESETS } from './boot-layers.ts'
import { brokenPresets, failedRows } from './boot-report.ts'
import { UserLayer } from './boot-user.ts'
import { catalog as shipped } from './catalog.ts'
import { HostFile } from './preset/file.ts'
import { HostLoader, importer } from './preset/loader.ts'
import { GROUP, INCLUDE } from './preset/rows.ts'
import type { Fiber } from '@deepseek-ai/cordis'
import type { EntryOptions } from '@deepseek-ai/cordis-plugin-loader'
import type { Report } from './boot-report.ts'
import type { SkippedFile } from './boot-layers.ts'
import type { ConfiguredIdentities } from './agent/configured.ts'
import type { Flags } from './flags.ts'
import type { Catalog } from './preset/loader.ts'
import type { Patch } from './preset/patch.ts'

export { HOST_FILE } from './boot-files.ts'

/** Rows without which the host is of no use to anybody. */
export const REQUIRED = [
  'data-folder',
  'scopes',
  'hooks',
  'system-prompt',
  'tool-registry',
  'llm',
  'session-store',
  'agent-loop',
  'agent-presets',
  'session-controller',
  'web-server',
] as const

/** What every row may know of the process it runs in: `ctx.webStartup`. */
export interface WebStartup {
  rootDir: string
  dataDir: string
  flags: Flags
  env: NodeJS.ProcessEnv
  /** Sessions that the launcher assigns to agents of the loop's config, by their label. */
  configuredAgentIdentities?: ConfiguredIdentities
}

/** The row files as settings need them: `ctx.hostRows`. */
export interface HostRows {
  /** The user's own patch file; it may not exist yet. */
  userPatch: string
  /** The folder of the user's own preset documents. */
  userPresets: string
  /** Every plugin that a row may name without importing it from elsewhere. */
  catalog: Catalog
  reload(): Promise<Report>
  /** Patch files that are left out now, as a whole or for one row. */
  skipped(): readonly SkippedFile[]
  /** Called after every reload, until disposed. */
  onReload(listener: () => void): () => void
  inherited(id: string): Promise<Inherited>
}

export interface BootOptions {
  /** Folder that holds `core-web.cordis.yml` and `presets/`. */
  rootDir: string
  dataDir: string
  flags: Flags
  env: NodeJS.ProcessEnv
  /** Further plugins by row name, over the shipped ones. */
  catalog?: Catalog
  /** Further layers, above the `--patch` files. */
  patches?: Patch[]
  required?: readonly string[]
  /** Rows that have not settled by then are reported as still starting. Default 15000. */
  settleMs?: number
  configuredAgentIdentities?: ConfiguredIdentities
  log?(line: string): void
}

export interface Host {
  ctx: Context
  /** A service by name, seen from the host; undefined when no active row provides it. */
  service<K extends keyof Context & string>(name: K): Context[K] | undefined
  service(name: string): unknown
  report: Report
  /** Reads the row files and the patch layers again and applies them; rows that did not change keep running. */
  reload(): Promise<Report>
  close(): Promise<void>
}

export const catalogOf = (options: Pick<BootOptions, 'catalog'>): Catalog => ({
  ...shipped,
  ...options.catalog,
  [GROUP]: { plane: 'any', load: () => Promise.resolve(Group) },
  [INCLUDE]: { plane: 'any', load: () => Promise.resolve(HostFile) },
})

async function within(deadlineMs: number, work: Promise<void>): Promise<void> {
  const { promise, resolve: expired } = Promise.withResolvers<void>()
  const timer = setTimeout(expired, deadlineMs)
  await Promise.race([work, promise])
  clearTimeout(timer)
}

/**
 * Starts a host from its row files. Resolves when every row has settled or the deadline has passed; rows that could not
 * start are in `report`, and the caller decides by `report.fatal` whether the host is worth keeping.
 */
export async function boot(options: BootOptions): Promise<Host> {
  const { rootDir, dataDir, flags, env, required = REQUIRED, settleMs = 15_000 } = options
  // Made now, so that it can be watched: what is put into it later appears at once.
  await mkdir(join(dataDir, USER_PRESETS), { recursive: true, mode: 0o700 })
  const catalog = catalogOf(options)
  const ctx = new Context()
  ctx.logger.exporter(exporterTo(options.log))
  await ctx.plugin(HostLoader, { baseUrl: pathToFileURL(`${resolve(rootDir)}/`).href, load: importer(catalog) })
  const loader = ctx.loader as HostLoader
  let notices: string[] = []
  loader.notice = (message) => {
    notices.push(message)
    options.log?.(message)
  }
  const { configuredAgentIdentities } = options
  const startup: WebStartup = {
    rootDir,
    dataDir,
    flags,
    env,
    ...(configuredAgentIdentities && { configuredAgentIdentities }),
  }
  ctx.provide('webStartup', startup)
  const userPatch = join(dataDir, USER_PATCH)
  const user = new UserLayer({ ctx, catalog, file: userPatch, hostFile: join(rootDir, HOST_FILE) })
  const { layers, skipped } = await user.sound(await readLayers(options, catalog))
  const rows = new Rows(options, catalog, () => host.reload())
  rows.told(skipped)
  ctx.provide('hostRows', rows)

  const reportNow = (skipped: SkippedFile[]): Report => {
    const failed = failedRows(loader)
    const fatal = failed.map(({ row }) => row).filter((row) => row === 'host' || required.includes(row))
    return { rows: failed, presets: brokenPresets(ctx.get('agentPresets')), skipped, notices: [...notices], fatal }
  }
  await loader.create({ name: INCLUDE, config: { path: HOST_FILE, layers }, id: 'host' } as Omit<EntryOptions, 'id'>)
  await within(settleMs, loader.settled())

  const reloadNow = async (): Promise<Report> => {
    if (closing) return host.report
    notices = []
    const next = await user.sound(await readLayers(options, catalog))
    await loader.update('host', { config: { path: HOST_FILE, layers: next.layers } })
    for (const entry of loader.entries()) if (entry.subtree instanceof HostFile) void entry.subtree.refresh()
    await within(settleMs, loader.settled())
    host.report = reportNow(next.skipped)
    rows.told(next.skipped)
    return host.report
  }
  let closing: Promise<void> | undefined
  const host: Host = {
    ctx,
    service: (name: string) => ctx.get(name) as never,
    report: reportNow(skipped),
    reload: oneByOne(reloadNow),
    close() {
      closing ??= within(settleMs, closeContext(ctx))
      return closing
    },
  }
  return host
}

class Rows implements HostRows {
  readonly userPatch: string
  readonly userPresets: string
  readonly catalog: Catalog
  readonly reload: () => Promise<Report>
  readonly inherited: HostRows['inherited']
  readonly #listeners = new Set<() => void>()
  #skipped: readonly SkippedFile[] = []

  constructor(options: BootOptions, catalog: Catalog, reload: () => Promise<Report>) {
    this.userPatch = join(options.dataDir, USER_PATCH)
    this.userPresets = join(options.dataDir, USER_PRESETS)
    this.catalog = catalog
    this.reload = reload
    this.inherited = (id) => inheritedConfig(options, catalog, id)
  }

  skipped(): readonly SkippedFile[] {
    return this.#skipped
  }

  onReload(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  told(skipped: readonly SkippedFile[]): void {
    this.#skipped = skipped
    for (const listener of this.#listeners) listener()
  }
}

/** Two reloads at a time would mix their layers and notices. */
function oneByOne<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return () => {
    const run = last.then(work)
    last = run.catch(() => {
      // Its caller has this error; the next run is not concerned.
    })
    return run
  }
}

/** A row that hangs while it closes must not keep the rows above it, the logs among them, from closing (ms). */
const ROW_CLOSE_MS = 3000

/**
 * Rows close from the last to the first, one after another: a row that uses a service stands below the row that gives it,
 * so agents end while their logs still take events. The root fiber cannot be disposed; unloading it runs what is left.
 */
async function closeContext(ctx: Context): Promise<void> {
  const loader = ctx.loader as HostLoader
  const host = loader.store['host']
  const rows = Object.values(host?.subtree?.store ?? {})
  for (const entry of [...rows.toReversed(), ...Object.values(loader.store)]) {
    const { fiber } = entry
    entry.parent.remove(entry.options.id)
    if (fiber) await within(ROW_CLOSE_MS, quiet(fiber))
  }
  await ctx.fiber.dispose()
}

async function quiet(fiber: Fiber): Promise<void> {
  while (fiber.inertia) await fiber.inertia
}

function exporterTo(log: BootOptions['log']): Parameters<Context['logger']['exporter']>[0] {
  const exporter: Parameters<Context['logger']['exporter']>[0] = {
    // Warnings are off by default in the kernel's logger.
    levels: { default: 2 },
    export(message) {
      if (message.type === 'error' || message.type === 'warn')
        log?.(`${message.name}: ${Logger.format(exporter, message)}`)
    },
  }
  return exporter
}
