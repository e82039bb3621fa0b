import { createHash } from 'node:crypto'
import { z } from 'zod'
import { COMMANDS, type CommandName, type CommandResults, type ParsedArgs } from '../wire/commands.ts'
import { CoreError } from '../wire/errors.ts'
import type { Selection } from '../wire/messages.ts'
import type { GlobalState } from '../wire/views.ts'
import type { Sessions } from '../session/sessions.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import type { Providers } from '../settings/providers.ts'
import type { SessionSettings } from '../settings/session-settings.ts'
import { permissionHandlers, type PermissionHandlersOptions } from './permission-commands.ts'
import { presetHandlers, type PresetHandlersOptions } from './preset-commands.ts'
import { LIMITS, Pace, type Limits } from './limits.ts'
import { sessionHandlers, sessionRoom } from './session-commands.ts'
import { shellHandlers, type LiveTab, type ShellDesk } from './shell-commands.ts'

/** Results of so many commands are kept for so long (ms), so that one sent again after a reconnect acts once. */
const REMEMBERED = 1_000
const REMEMBERED_MS = 15 * 60_000
/** Change nothing, and their answers may be large and old: they are asked anew. */
const FORGOTTEN: ReadonlySet<CommandName> = new Set([
  'workspace.browse',
  'preset.check',
  'rule.rehearse',
  'sandbox.probe',
  // Of one tab, and a tab that connected again is another one.
  'shell.watch',
  'session.fork-check',
  'provider.find-local',
  'provider.refresh',
  'provider.test',
])

export type Handler<N extends CommandName> = (
  args: ParsedArgs<N>,
  /** The command's id: makes prompts and sessions the same ones when it is sent again after a restart of the server. */
  id: string,
  /** Where it came from, for what ends with the tab. */
  tab?: LiveTab,
) => Promise<CommandResults[N]> | CommandResults[N]
type Handlers = { [N in CommandName]: Handler<N> }

interface Known {
  /** Digest: the text of a prompt need not stay in memory for this. */
  args: string
  at: number
  result: Promise<unknown>
}

export interface CommandsOptions {
  sessions: Sessions
  workspaces: Workspaces
  providers: Providers
  sessionSettings: SessionSettings
  library: PresetHandlersOptions['library']
  presets: PresetHandlersOptions['presets']
  policies: PermissionHandlersOptions['policies']
  asks: PermissionHandlersOptions['asks']
  shells: ShellDesk
  global: () => GlobalState
  /** Live sessions of this process; absent: nobody counts them. */
  running?: () => number
  limits?: Partial<Limits>
  now?: () => number
}

/** Every mutating command of the wire: parsed once, run once per command id, answered once. */
export class Commands {
  readonly #options: CommandsOptions
  readonly #handlers: Handlers
  readonly #results = new Map<string, Known>()
  readonly #pace: Pace

  constructor(options: CommandsOptions) {
    this.#pace = new Pace(options.now)
    this.#options = options
    this.#handlers = handlers(options)
  }

  global(): GlobalState {
    return this.#options.global()
  }

  async run<N extends CommandName>(id: string, name: N, args: unknown, tab?: LiveTab): Promise<CommandResults[N]> {
    if (FORGOTTEN.has(name)) return this.#once(id, name, args, tab)
    const key = `${name} ${id}`
    const digest = createHash('sha256')
      .update(JSON.stringify(args) ?? '')
      .digest('base64')
    this.#forgetOld()
    const known = this.#results.get(key)
    if (known?.args === digest) return known.result as Promise<CommandResults[N]>
    if (known)
      throw new CoreError(
        'gateway/bad-request',
        `The command id "${id}" already stands for another ${name}. Send this one under an id of its own.`,
      )
    this.#pace.take(name)
    const result = this.#once(id, name, args, tab)
    const entry: Known = { args: digest, at: this.#now(), result }
    this.#results.set(key, entry)
    // A refusal changed nothing, so the same id may try again.
    result.catch(() => {
      if (this.#results.get(key) === entry) this.#results.delete(key)
    })
    return result
  }

  /** Entries stand in the order of their time. */
  #forgetOld(): void {
    const before = this.#now() - REMEMBERED_MS
    for (const [key, { at }] of this.#results) {
      if (at >= before && this.#results.size < REMEMBERED) return
      this.#results.delete(key)
    }
  }

  #now(): number {
    const { now = Date.now } = this.#options
    return now()
  }

  async #once<N extends CommandName>(id: string, name: N, args: unknown, tab?: LiveTab): Promise<CommandResults[N]> {
    const parsed = COMMANDS[name].safeParse(args)
    if (!parsed.success)
      throw new CoreError(
        'gateway/bad-request',
        `The command ${name} has a wrong shape: ${z.prettifyError(parsed.error)}`,
      )
    const handler = this.#handlers[name] as (
      args: unknown,
      id: string,
      tab?: LiveTab,
    ) => Promise<CommandResults[N]> | CommandResults[N]
    return handler(parsed.data, id, tab)
  }
}

function handlers(options: CommandsOptions): Handlers {
  const { sessions, workspaces, providers, sessionSettings, library, presets, running = () => 0, limits } = options
  /** A pick is among the recent ones from now on; one that became the default shows in every tab. */
  const picked = <R extends { default?: { saved: boolean } }>(pick: Selection | undefined, result: R): R => {
    if (pick) providers.picked(pick)
    if (result.default?.saved) providers.announce()
    return result
  }
  return {
    ...presetHandlers({ library, presets, sessions }),
    ...permissionHandlers(options),
    ...shellHandlers(sessions, options.shells),
    ...sessionHandlers(sessions, picked, sessionRoom(sessions, running, { ...LIMITS, ...limits })),
    'model.default': (selection) => providers.saveDefault(selection),
    'model.facts': (args) => providers.saveFacts(args),
    'budget.save': (change) => sessionSettings.saveBudget(change),
    'titles.save': ({ selection }) => sessionSettings.saveTitles(selection),
    'workspace.add': async ({ path, confirmed }) => ({ workspace: await workspaces.add(path, confirmed) }),
    'workspace.remove': ({ workspace }) => {
      workspaces.remove(workspace)
      return { workspace }
    },
    'workspace.browse': ({ path }) => workspaces.browse(path),
    'provider.save': (args) => providers.save(args),
    'provider.reset': ({ provider }) => providers.reset(provider),
    'provider.refresh': ({ provider }) => providers.refresh(provider),
    'provider.find-local': () => providers.findLocal(),
    'provider.remove': ({ provider }) => providers.remove(provider),
    'provider.test': ({ provider, model }) => providers.test(provider, model),
    'credential.set': ({ provider, key }) => providers.setKey(provider, key),
    'credential.remove': ({ provider }) => providers.removeKey(provider),
  }
}
