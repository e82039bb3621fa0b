import './plugins/context.ts'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { boot } from './boot.ts'
import { watchRows } from './boot-watch.ts'
import { reportText } from './boot-report.ts'
import { LINK_MS } from './http/access.ts'
import { linksOfRunning } from './login.ts'
import type { Host } from './boot.ts'
import type { Flags } from './flags.ts'
import type { Redactor } from './redact/redact.ts'

export interface ServeOptions {
  rootDir: string
  flags: Flags
  env: NodeJS.ProcessEnv
  /** Guards what the process writes; learns the keys that the running host uses. */
  redactor: Redactor
}

/** Milliseconds for every row to close before the process ends anyway. */
const CLOSE_MS = 10_000

function openBrowser(url: string): void {
  const command = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const child = spawn(command, [url], { stdio: 'ignore', detached: true })
  // No desktop, no browser: the URL is on the screen.
  child.on('error', () => {})
  child.unref()
}

const hasDesktop = (env: NodeJS.ProcessEnv): boolean =>
  process.platform === 'darwin' || Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY'])

/** Resolves with the first signal that asks the process to end; a second one ends it at once. */
function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let asked = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (asked) process.exit(1)
      asked = true
      resolve()
    })
  }
  return promise
}

/** A refusal to listen is one sentence of its own; everything else is the whole report. */
function fatalText({ report }: Host): string {
  const [only, ...others] = report.rows
  if (only?.row === 'web-server' && others.length === 0) return only.cause
  return reportText(report)
}

/** A second start of the same server at the same place is a wish for its page (B78). */
async function runningHere(flags: Flags, env: NodeJS.ProcessEnv) {
  if (!flags.auth || (flags.port === 0 && flags.socket === undefined)) return undefined
  const found = await linksOfRunning(flags, env)
  const same = flags.socket === undefined ? found?.port === flags.port : found?.socket === flags.socket
  return same ? found : undefined
}

const afterwards = ({ data }: Flags): string =>
  `The link works once, within ${LINK_MS / 60_000} minutes. Later \`core-web login\` prints a new one, or paste the token from ${join(data, 'token')}.`

/** Runs the web server until it is told to stop. Answers the exit code: 1 when a required row could not start. */
export async function serve({ rootDir, flags, env, redactor }: ServeOptions): Promise<number> {
  let running = false
  // What goes wrong while the rows start is in the report, once and in order.
  const log = (line: string): void => void (running && console.error(line))
  const options = { rootDir, dataDir: flags.data, flags, env, log }
  if (flags.dumpConfig) {
    const { dumpConfig } = await import('./boot-dump.ts')
    const { text, warnings } = await dumpConfig(options)
    for (const warning of warnings) console.error(warning)
    process.stdout.write(text)
    return 0
  }
  const already = await runningHere(flags, env)
  if (already) {
    console.log(`core-web is running already (pid ${already.pid}): ${already.links[0] ?? flags.socket}`)
    if (flags.open && process.stdout.isTTY && hasDesktop(env) && already.links[0]) openBrowser(already.links[0])
    return 0
  }
  const stopped = stopSignal()
  const host = await boot(options)
  redactor.know(() => host.service('credentials')?.secrets() ?? [])
  if (host.report.fatal.length > 0) {
    console.error(fatalText(host))
    await host.close()
    return 1
  }
  const text = reportText(host.report)
  if (text) console.error(text)
  running = true
  process.on('unhandledRejection', (reason) => {
    // A mistake in one row must not end everybody's sessions.
    console.error('unhandled rejection:', reason)
  })
  const unwatch = watchRows(host, options, () => {
    const news = reportText(host.report)
    if (news) console.error(news)
  })
  const web = host.service('web')
  if (web) {
    for (const warning of web.warnings) console.error(warning)
    const [link, ...others] = web.links()
    console.log(`core-web is ready: ${link ?? flags.socket}`)
    for (const other of others) console.log(`                   ${other}`)
    if (flags.auth) console.log(afterwards(flags))
    if (flags.open && process.stdout.isTTY && hasDesktop(env) && link !== undefined) openBrowser(link)
  }
  await stopped
  unwatch()
  setTimeout(() => process.exit(1), CLOSE_MS).unref()
  await host.close()
  return 0
}
