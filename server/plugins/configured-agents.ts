import './context.ts'
import { setImmediate } from 'node:timers/promises'
import { configuredIdentities, planStarts, sessionOf, startAgent } from '../agent/configured.ts'
import { STATE } from '../preset/kernel.ts'
import { newId } from '../wire/ids.ts'
import { VERSION } from '../version.ts'
import type { Context } from '@deepseek-ai/cordis'
import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import type { AgentEntry, ConfiguredIdentities, Start, StartStore } from '../agent/configured.ts'
import type { AgentHandle, AgentRegistry } from '../agent/registry.ts'
import type { HostLoader } from '../preset/loader.ts'

/** Where a launcher that starts the process, instead of booting the host itself, puts the same map as JSON. */
const ENV = 'CORE_WEB_AGENT_IDENTITIES'

function assignedIdentities(ctx: Context): ConfiguredIdentities {
  const startup = ctx.get('webStartup')
  const given: unknown = ctx.get('configuredAgentIdentities') ?? startup?.configuredAgentIdentities
  const text = startup?.env[ENV]
  if (given === undefined && !text) return {}
  const source = given === undefined ? ENV : 'configuredAgentIdentities'
  let value = given
  try {
    if (given === undefined) value = JSON.parse(text!)
  } catch (error) {
    throw new Error(`invalid ${source}: ${(error as Error).message}`, { cause: error })
  }
  const parsed = configuredIdentities.safeParse(value)
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map(({ message, path }) => `  - ${message} (at ${path.join('.')})`)
  throw new Error(`invalid ${source}:\n${lines.join('\n')}`)
}

/** The starts that config and launcher ask for. Throws what is wrong with them in the words of config validation. */
export function plannedStarts(ctx: Context, entries: readonly AgentEntry[]): Start[] {
  const identities = assignedIdentities(ctx)
  const { starts, problems } = planStarts(entries, identities)
  if (problems.length > 0) {
    const lines = problems.map(({ message, at }) => `  - ${message} (at ${at})`)
    throw new Error(`invalid config:\n${lines.join('\n')}`)
  }
  for (const label of Object.keys(identities))
    if (!starts.some((start) => start.label === label))
      ctx.logger.warn('the launcher assigns a session to agent %s, which no entry of agents[] configures', label)
  return starts
}

const STORE_ROW = 'session-store'

const isLoading = (loader: HostLoader): boolean =>
  [...loader.entries()].some(
    (entry) => entry._initTask !== undefined || (entry.fiber?.state as number | undefined) === STATE.LOADING,
  )

function isEnabled(entry: Entry): boolean {
  try {
    return !entry.disabled
  } catch {
    // Its condition throws, so it never starts; the audit of the host says so.
    return false
  }
}

/** The row that would give persistence: absent, still to come, or failed for good. */
function storeRow(loader: HostLoader): 'absent' | 'coming' | 'failed' {
  const row = [...loader.entries()].find((entry) => entry.options.name === STORE_ROW && isEnabled(entry))
  if (!row) return 'absent'
  return (row.fiber?.state as number | undefined) === STATE.FAILED ? 'failed' : 'coming'
}

/** Resolves once no row of the host is starting; only then is it known which services there will be. */
async function hostQuiet(ctx: Context, loader: HostLoader, until: { over: boolean }): Promise<void> {
  let moved = Promise.withResolvers<void>()
  const stop = ctx.on('internal/status', () => moved.resolve(), { global: true })
  try {
    for (;;) {
      // Rows are created one after another; between two of them nothing is loading for a moment.
      await setImmediate()
      if (until.over || !isLoading(loader)) return
      await Promise.race([moved.promise, Promise.allSettled(loader.getTasks())])
      moved = Promise.withResolvers()
    }
  } finally {
    stop()
  }
}

/** Starts agents under a context, and ends them with it. A start that fails is told of, and stops nobody else (N-10). */
function launch(ctx: Context, agents: AgentRegistry, starts: readonly Start[], store?: StartStore): Promise<unknown> {
  const { hooks, logger } = ctx
  let closing = false
  const begin = async (start: Start): Promise<AgentHandle | undefined> => {
    const sessionId = sessionOf(start, newId)
    try {
      return await startAgent(start, sessionId, { agents, writer: `core-web@${VERSION}`, ...(store && { store }) })
    } catch (error) {
      if (closing) return undefined
      logger.warn('agent %s could not start with session %s', start.label, sessionId)
      logger.warn(error)
      // No agent came of it: the start stands in for a scope that only unscoped listeners cover.
      hooks.emit('agent-loop/config-start-failed', start, { sessionId, error })
      return undefined
    }
  }
  const running = starts.map(begin)
  ctx.effect(() => async () => {
    closing = true
    const ends = running.map(async (handle) => (await handle)?.dispose())
    for (const end of await Promise.allSettled(ends)) if (end.status === 'rejected') logger.warn(end.reason)
  })
  return Promise.all(running)
}

/**
 * Starts the configured agents as soon as there is persistence, or it is certain that there will be none. One that demands
 * history waits for persistence however late it comes (N-05). Agents end with the store that holds their logs.
 */
export function runConfigured(ctx: Context, agents: AgentRegistry, starts: readonly Start[]): void {
  if (starts.length === 0) return
  const loader = ctx.get('loader') as HostLoader | undefined
  // Whoever waits for the host to settle waits for its agents too.
  const tracked = (work: Promise<unknown>): Promise<unknown> => loader?.track(work.then(() => {})) ?? work
  const known = { over: false }
  let inMemory: readonly Start[] = []
  const begun = Promise.withResolvers<unknown>()
  ctx.inject(['sessionStore'], (inner) => {
    known.over = true
    const mine = starts.filter((start) => !inMemory.includes(start))
    begun.resolve(tracked(launch(inner, agents, mine, inner.sessionStore)))
  })
  ctx.effect(() => () => {
    known.over = true
    begun.resolve(undefined)
  })
  const decide = async (): Promise<unknown> => {
    if (loader) await hostQuiet(ctx, loader, known)
    if (known.over) return begun.promise
    const row = loader ? storeRow(loader) : 'absent'
    if (row === 'coming') return undefined
    known.over = true
    const able = starts.filter(({ identity }) => identity.kind !== 'resume')
    if (row === 'absent') inMemory = able
    return launch(ctx, agents, able, row === 'absent' ? undefined : failedStore)
  }
  void tracked(decide())
}

const refuse = (): never => {
  throw new Error('the session store of this host could not start')
}
/** A backend that failed is not the absence of one: nothing may be created beside the history it holds (N-04). */
const failedStore: StartStore = { create: refuse, openWrite: async () => refuse() }

declare module '@deepseek-ai/cordis' {
  interface Context {
    /** Provided by a launcher before the rows start; see `ConfiguredIdentities`. */
    configuredAgentIdentities: ConfiguredIdentities
  }
}
