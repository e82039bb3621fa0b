import { z } from 'zod'
import { COMMANDS, type CommandName, type CommandResults, type ParsedArgs } from '../wire/commands.ts'
import { CoreError } from '../wire/errors.ts'
import type { GlobalState } from '../wire/views.ts'
import type { Sessions } from '../session/sessions.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import type { Providers } from '../settings/providers.ts'

/** Results of this many commands are kept, so that one sent again after a reconnect acts once. */
const REMEMBERED = 1_000

type Handler<N extends CommandName> = (
  args: ParsedArgs<N>,
  /** The command's id: makes prompts and sessions the same ones when it is sent again after a restart of the server. */
  id: string,
) => Promise<CommandResults[N]> | CommandResults[N]
type Handlers = { [N in CommandName]: Handler<N> }

export interface CommandsOptions {
  sessions: Sessions
  workspaces: Workspaces
  providers: Providers
  global: () => GlobalState
}

/** Every mutating command of the wire: parsed once, run once per command id, answered once. */
export class Commands {
  readonly #options: CommandsOptions
  readonly #handlers: Handlers
  readonly #results = new Map<string, { args: string; result: Promise<unknown> }>()

  constructor(options: CommandsOptions) {
    this.#options = options
    this.#handlers = handlers(options)
  }

  global(): GlobalState {
    return this.#options.global()
  }

  async run<N extends CommandName>(id: string, name: N, args: unknown): Promise<CommandResults[N]> {
    const key = `${name} ${id}`
    const text = JSON.stringify(args) ?? ''
    const known = this.#results.get(key)
    if (known?.args === text) return known.result as Promise<CommandResults[N]>
    if (known)
      throw new CoreError(
        'gateway/bad-request',
        `The command id "${id}" already stands for another ${name}. Send this one under an id of its own.`,
      )
    const result = this.#once(id, name, args)
    this.#results.set(key, { args: text, result })
    if (this.#results.size > REMEMBERED) this.#results.delete(this.#results.keys().next().value!)
    // A refusal changed nothing, so the same id may try again.
    result.catch(() => this.#results.delete(key))
    return result
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

function handlers({ sessions, workspaces, providers }: CommandsOptions): Handlers {
  return {
    'session.create': (args, id) => sessions.create(args, uniqueOf(id)),
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
    'queue.edit': ({ session, message, text }) => sessions.editQueued(session, message, text),
    'queue.remove': ({ session, message }) => sessions.removeQueued(session, message),
    'queue.send-now': ({ session, message }) => sessions.sendQueuedNow(session, message),
    'preset.select': ({ session, preset }) => sessions.selectPreset(session, preset),
    'model.select': ({ session, alsoDefault, ...selection }) => sessions.selectModel(session, selection, alsoDefault),
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
