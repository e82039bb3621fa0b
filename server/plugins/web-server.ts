import './context.ts'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import type { Context } from '@deepseek-ai/cordis'
import { failedRows } from '../boot-report.ts'
import { createApp, type App } from '../http/app.ts'
import { accessToken } from '../http/fence.ts'
import { catalogProblem } from '../model/catalog.ts'
import { plugin } from '../preset/kernel.ts'
import { PROTOCOL } from '../wire/protocol.ts'
import type { GlobalState, HostFacts } from '../wire/views.ts'
import { VERSION } from '../version.ts'
import type { SkippedFile } from '../boot-layers.ts'
import type { HostLoader } from '../preset/loader.ts'

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

export interface Web {
  app: App
  /** Where to open the page; the token stands in the fragment, which no server and no log ever sees. */
  url: string
  port: number
}

/** The page, the socket and the documents; listens as the last of all rows. */
export default plugin({
  name: 'web-server',
  inject: [
    'loader',
    'hostRows',
    'webStartup',
    'sessions',
    'sessionSettings',
    'roster',
    'workspaces',
    'providers',
    'agentPresets',
    'presetLibrary',
  ],
  async apply(ctx) {
    const { sessionSettings } = ctx
    const { webStartup, sessions, roster, workspaces, providers, agentPresets, presetLibrary, logger } = ctx
    const { flags, dataDir, rootDir } = webStartup
    refuseOpenBind(flags)
    const token = flags.auth ? accessToken(dataDir) : undefined
    const host = hostFacts(ctx)
    const global = (): GlobalState => ({
      host: host(),
      workspaces: workspaces.list(),
      presets: roster.current(),
      models: providers.current(),
      sessionSettings: sessionSettings.current(),
    })
    const app = await createApp({
      sessions,
      workspaces,
      providers,
      sessionSettings,
      global,
      presetDocument: async (id) => agentPresets.readDocument(id),
      presetContents: (id) => agentPresets.describe(id),
      library: presetLibrary,
      presets: agentPresets.registry,
      token,
      allowHosts: flags.allowHost,
      trustProxy: flags.trustProxy,
      cookieName: () => `core-web-${port()}`,
      basePath: flags.basePath,
      webRoot: join(rootDir, 'dist/web'),
      version: VERSION,
      report: (error) => logger.error(error),
    })
    const port = () => (app.server.server.address() as AddressInfo | null)?.port ?? flags.port
    const undo = announcements(ctx, app, host)
    await listen(app, flags)
    const authority = `${flags.host.includes(':') ? `[${flags.host}]` : flags.host}:${port()}`
    const url = `http://${authority}${flags.basePath}${token ? `#token=${token}` : ''}`
    ctx.effect(function* () {
      yield async () => {
        for (const dispose of undo) dispose()
        await app.server.close()
      }
      yield ctx.provide('web', { app, url, port: port() })
    })
  },
})

function hostFacts({ webStartup, hostRows, loader }: Context): () => HostFacts {
  const { dataDir, env } = webStartup
  return () => ({
    version: VERSION,
    protocol: PROTOCOL,
    node: process.version,
    platform: process.platform,
    dataDir,
    home: env['HOME'] ?? homedir(),
    confinement: env['CORE_WEB_BOUNDARY'] === 'container' ? 'container' : 'not-confined',
    problems: [
      ...hostRows.skipped().map(asProblem),
      ...failedRows(loader as HostLoader).map(asProblem),
      ...catalogFault(),
    ],
  })
}

/** Every tab hears of what changed for all of them. Answers what ends that. */
function announcements(ctx: Context, app: App, host: () => HostFacts): (() => void)[] {
  const { workspaces, roster, providers, sessionSettings, hostRows } = ctx
  const announceHost = onlyNews(host, (facts) => app.announce({ host: facts }))
  return [
    workspaces.onChange(() => app.announce({ workspaces: workspaces.list() })),
    roster.onChange((presets) => app.announce({ presets })),
    providers.onChange((models) => app.announce({ models })),
    sessionSettings.onChange((settings) => app.announce({ sessionSettings: settings })),
    hostRows.onReload(announceHost),
  ]
}

/** A patch file that was left out as a whole, or for one row, is a problem of the host like a row that did not start. */
function catalogFault(): HostFacts['problems'] {
  const cause = catalogProblem()
  return cause === undefined ? [] : [{ file: 'catalog.json', row: 'providers', plugin: 'providers', cause }]
}

const asProblem = ({ file, row = '', plugin: name = '', cause }: SkippedFile): HostFacts['problems'][number] => ({
  file,
  row,
  plugin: name,
  cause,
})

/** Tells of facts that differ from those told last. */
function onlyNews(read: () => HostFacts, tell: (facts: HostFacts) => void): () => void {
  let told = JSON.stringify(read())
  return () => {
    const facts = read()
    const text = JSON.stringify(facts)
    if (text === told) return
    told = text
    tell(facts)
  }
}

/** Loopback is not a boundary, but anything wider is open to the network: it needs the token and named authorities. */
function refuseOpenBind(flags: { host: string; auth: boolean; allowHost: readonly string[] }): void {
  if (LOOPBACK.has(flags.host)) return
  if (!flags.auth) throw new Error(`--no-auth works on 127.0.0.1 only, not on ${flags.host}. Leave out --no-auth.`)
  if (flags.allowHost.length === 0)
    throw new Error(
      `Listening on ${flags.host} reaches beyond this machine. Name the hosts it may be reached by with --allow-host, and put TLS in front of it.`,
    )
}

async function listen(app: App, { host, port }: { host: string; port: number }): Promise<void> {
  try {
    await app.server.listen({ host, port })
  } catch (error) {
    await app.server.close()
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new Error(
      `Port ${port} on ${host} is already in use. Stop what uses it, or start with --port 0 to take a free one.`,
      { cause: error },
    )
  }
}

declare module '@deepseek-ai/cordis' {
  interface Context {
    web: Web
  }
}
