import { createHash } from 'node:crypto'
import { z } from 'zod'
import { COMMANDS, type CommandName, type CommandResults, type ParsedArgs } from '../wire/commands.ts'
import { CoreError } from '../wire/errors.ts'
import type { GlobalState } from '../wire/views.ts'
import type { Sessions } from '../session/sessions.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import type { Providers } from '../settings/providers.ts'
import { presetHandlers, type PresetHandlersOptions } from './preset-commands.ts'

/** Results of so many commands are kept for so long (ms), so that one sent again after a reconnect acts once. */
const REMEMBERED = 1_000
const REMEMBERED_MS = 15 * 60_000
/** Change nothing, and their answers may be large and old: they are asked anew. */
const FORGOTTEN: ReadonlySet<CommandName> = new Set(['workspace.browse', 'preset.check', 'session.fork-check'])

type Handler<N extends CommandName> = (
  args: ParsedArgs<N>,
  /** The command's id: makes prompts and sessions the same ones when it is sent again after a restart of the server. */
  id: string,
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
  library: PresetHandlersOptions['library']
  presets: PresetHandlersOptions['presets']
  global: () => GlobalState
  now?: () => number
}

/** Every mutating command of the wire: parsed once, run once per command id, answered once. */
export class Commands {
  readonly #options: CommandsOptions
  readonly #handlers: Handlers
  readonly #results = new Map<string, Known>()

  constructor(options: CommandsOptions) {
    this.#options = options
    this.#handlers = handlers(options)
  }

  global(): GlobalState {
    return this.#options.global()
  }

  async run<N extends CommandName>(id: string, name: N, args: unknown): Promise<CommandResults[N]> {
    if (FORGOTTEN.has(name)) return this.#once(id, name, args)
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
    const result = this.#once(id, name, args)
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

  async #once<N extends CommandName>(id: string, name: N, args: unknown): Promise<CommandResults[N]> {
    const parsed = COMMANDS[name].safeParse(args)
    if (!parsed.success)
      throw new CoreError(
        'gateway/bad-request',
        `The command ${name} has a wrong shape: ${z.prettifyError(parsed.error)}`,
      )
    const handler = this.#handlers[name] as (
      args: unknown,
      id: string,
    ) => Promise<CommandResults[N]> | CommandResults[N]
    return handler(parsed.data, id)
  }
}

/** A client may count its commands; only an id that is unique everywhere may name what it made. */
const uniqueOf = (id: string): string | undefined =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? id : undefined

function handlers({ sessions, workspaces, providers, library, presets }: CommandsOptions): Handlers {
  /** A pick that became the default shows in every tab. */
  const told = <R extends { default?: { saved: boolean } }>(result: R): R => {
    if (result.default?.saved) providers.announce()
    return result
  }
  return {
    ...presetHandlers({ library, presets, sessions }),
    'session.create': async (args, id) => told(await sessions.create(args, uniqueOf(id))),
    'session.prompt': ({ session, text, mode }, id) => sessions.prompt(session, text, mode, uniqueOf(id)),
    'session.stop': ({ session }) => sessions.stop(session),
    'session.rename': ({ session, title }) => sessions.rename(session, title),
    'session.pin': async ({ session, pinned }) => {
      await sessions.mark(session, { pinned })
      return { pinned }
    },
    'session.archive': async ({ session, archived }) => {
      await sessions.mark(session, { archived })
      return { archived }
    },
    'session.delete': ({ session }) => sessions.remove(session),
    'session.restore': ({ session }) => sessions.restore(session),
    'session.fork': ({ session, ...options }) => sessions.fork(session, options),
    'session.fork-check': ({ session, ...options }) => sessions.forkCheck(session, options),
    'queue.edit': ({ session, message, text }) => sessions.editQueued(session, message, text),
    'queue.remove': ({ session, message }) => sessions.removeQueued(session, message),
    'queue.send-now': ({ session, message }) => sessions.sendQueuedNow(session, message),
    'preset.select': ({ session, preset }) => sessions.selectPreset(session, preset),
    'model.select': async ({ session, alsoDefault, ...selection }) =>
      told(await sessions.selectModel(session, selection, alsoDefault)),
    'model.default': (selection) => providers.saveDefault(selection),
    'workspace.add': async ({ path, confirmed }) => ({ workspace: await workspaces.add(path, confirmed) }),
    'workspace.remove': ({ workspace }) => {
      workspaces.remove(workspace)
      return { workspace }
    },
    'workspace.browse': ({ path }) => workspaces.browse(path),
    'provider.save': (args) => providers.save(args),
    'provider.remove': ({ provider }) => providers.remove(provider),
    'provider.test': ({ provider, model }) => providers.test(provider, model),
    'credential.set': ({ provider, key }) => providers.setKey(provider, key),
    'credential.remove': ({ provider }) => providers.removeKey(provider),
  }
}
