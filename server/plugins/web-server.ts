import './context.ts'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { failedRows } from '../boot-report.ts'
import { createApp, type App } from '../http/app.ts'
import { LoginCodes, accessToken } from '../http/access.ts'
import { addresses, bindWarnings, listen, portOf, refuseOpenBind } from '../http/listen.ts'
import { catalogProblem } from '../model/catalog.ts'
import { portOwner } from '../port-owner.ts'
import { plugin } from '../preset/kernel.ts'
import { noteRunning, placeOf } from '../running.ts'
import { hostSecrets } from '../secrets.ts'
import type { SecretSource } from '../redact/redact.ts'
import { PROTOCOL } from '../wire/protocol.ts'
import type { GlobalState, HostFacts } from '../wire/views.ts'
import { VERSION } from '../version.ts'
import type { SkippedFile } from '../boot-layers.ts'
import type { HostLoader } from '../preset/loader.ts'

export interface Web {
  app: App
  /** Where to open the page; the token stands in the fragment, which no server and no log ever sees. */
  url: string
  /** Addresses with a one-time code each, for people: the nearest first. Each call makes a new code. */
  links(): string[]
  /** What a person should know of how this server is reached. */
  warnings: string[]
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
    'policy',
    'asks',
    'shells',
  ],
  async apply(ctx) {
    const { webStartup, sessions, workspaces, providers, agentPresets, presetLibrary, logger } = ctx
    const { flags, dataDir, rootDir } = webStartup
    refuseOpenBind(flags)
    const token = flags.auth ? accessToken(dataDir, webStartup.env['CORE_WEB_TOKEN']) : undefined
    const codes = new LoginCodes()
    const links = () => {
      const fragment = token === undefined ? '' : `#code=${codes.make()}`
      return addresses(flags, port()).map((address) => address + fragment)
    }
    const place = () => placeOf({ ...flags, port: port() })
    const host = hostFacts(ctx)
    const global = globalState(ctx, host)
    const app = await createApp({
      sessions,
      workspaces,
      providers,
      sessionSettings: ctx.sessionSettings,
      policies: ctx.policy,
      asks: ctx.asks,
      shells: ctx.shells,
      global,
      secrets: secretsOf(ctx),
      presetDocument: async (id) => agentPresets.readDocument(id),
      presetContents: (id) => agentPresets.describe(id),
      library: presetLibrary,
      presets: agentPresets.registry,
      token,
      codes,
      links,
      place,
      allowHosts: flags.allowHost,
      trustProxy: flags.trustProxy,
      cookieName: () => `core-web-${flags.socket === undefined ? port() : 'socket'}`,
      basePath: flags.basePath,
      webRoot: join(rootDir, 'dist/web'),
      version: VERSION,
      running: () => ctx.get('agents')?.list().length ?? 0,
      report: (error) => logger.error(error),
    })
    const port = () => portOf(app.server) || flags.port
    const undo = announcements(ctx, app, host)
    await listen(app.server, { ...flags, owner: portOwner })
    const forget = noteRunning(dataDir, { ...flags, pid: process.pid, port: port() })
    const authority = `${flags.host.includes(':') ? `[${flags.host}]` : flags.host}:${port()}`
    const url = `http://${authority}${flags.basePath}${token ? `#token=${token}` : ''}`
    ctx.effect(function* () {
      yield async () => {
        for (const dispose of undo) dispose()
        forget()
        await app.server.close()
      }
      yield ctx.provide('web', { app, url, links, warnings: bindWarnings(flags), port: port() })
    })
  },
})

function globalState(
  { workspaces, roster, providers, sessionSettings, policy }: Context,
  host: () => HostFacts,
): () => GlobalState {
  return () => ({
    host: host(),
    workspaces: workspaces.list(),
    presets: roster.current(),
    models: providers.current(),
    sessionSettings: sessionSettings.current(),
    safety: policy.view(),
  })
}

/** What the host knows to be secret: its own, and every key in use. */
function secretsOf(ctx: Context): SecretSource {
  const own = hostSecrets(ctx.webStartup.dataDir, ctx.webStartup.env)
  return () => [...own(), ...(ctx.get('credentials')?.secrets() ?? [])]
}

function hostFacts({ webStartup, hostRows, loader }: Context): () => HostFacts {
  const { dataDir, env } = webStartup
  return () => ({
    version: VERSION,
    protocol: PROTOCOL,
    node: process.version,
    platform: process.platform,
    dataDir,
    home: env['HOME'] ?? homedir(),
    problems: [
      ...hostRows.skipped().map(asProblem),
      ...failedRows(loader as HostLoader).map(asProblem),
      ...catalogFault(),
    ],
  })
}

/** Every tab hears of what changed for all of them. Answers what ends that. */
function announcements(ctx: Context, app: App, host: () => HostFacts): (() => void)[] {
  const { workspaces, roster, providers, sessionSettings, hostRows, policy } = ctx
  const announceHost = onlyNews(host, (facts) => app.announce({ host: facts }))
  return [
    workspaces.onChange(() => app.announce({ workspaces: workspaces.list() })),
    roster.onChange((presets) => app.announce({ presets })),
    providers.onChange((models) => app.announce({ models })),
    policy.onChange((safety) => app.announce({ safety })),
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

declare module '@deepseek-ai/cordis' {
  interface Context {
    web: Web
  }
}
