import { CoreError, type WireError } from '../wire/errors.ts'
import { draft, type LogEvent } from '../wire/events.ts'
import { newId } from '../wire/ids.ts'
import type { CommandResults, ParsedArgs } from '../wire/commands.ts'
import type { Selection } from '../wire/messages.ts'
import type { ForkReport, PresetUsage } from '../wire/presets.ts'
import type { SearchHit, SessionPage } from '../wire/protocol.ts'
import type { SessionLog } from '../log/session-log.ts'
import { newHeader } from '../log/store.ts'
import { agentPreset } from '../projection/agent-preset.ts'
import { Feeds } from './feed.ts'
import type { LiveSession } from './live.ts'
import { checkSelection, saveAsDefault, noModel } from './models.ts'
import { brokenPreset, OpenSessions } from './open-sessions.ts'
import type { Index } from './ports.ts'
import { Roll } from './roll.ts'
import { SessionPermissions } from './session-permissions.ts'
import { SessionPresets } from './session-presets.ts'
import type { SessionsOptions } from './options.ts'
import { UsageReports } from './usage-reports.ts'
import type { SessionView } from './view.ts'

const REMOVED: WireError = {
  code: 'session/not-found',
  message: 'This session was removed. Restore it from the trash to continue.',
}

/** Every session of this host: made, opened, continued, changed and told of in one place. */
export class Sessions {
  readonly feeds = new Feeds()
  readonly usage: UsageReports
  readonly permissions: SessionPermissions
  readonly #options: SessionsOptions
  readonly #open: OpenSessions
  readonly #roll: Roll
  readonly #presets: SessionPresets

  constructor(options: SessionsOptions) {
    this.#options = options
    this.usage = new UsageReports(options)
    const { spend } = this.usage
    this.#open = new OpenSessions({
      ...options,
      feed: this.feeds,
      spend,
      onCommit: (id, events) => {
        spend.committed(id, events)
        this.#roll.committed(id, events)
      },
    })
    this.#presets = new SessionPresets(this.#open, options.presets)
    this.permissions = new SessionPermissions(this.#open, options.permissions)
    this.#roll = new Roll({ index: options.index, feed: this.feeds, live: (id) => this.#open.live(id) })
  }

  live(id: string): LiveSession | undefined {
    return this.#open.live(id)
  }

  // ---- reading ----

  /** Read-only, on any host; every call is answered by one `release`. */
  view(id: string): Promise<SessionView> {
    return this.#open.view(id)
  }

  /** The latest events before seq `before`, bounded by count and size. */
  page(id: string, query: { before?: number | undefined; limit: number }): Promise<readonly LogEvent[]> {
    return this.#open.page(id, query)
  }

  list(query: Parameters<Index['list']>[0]): Promise<SessionPage> {
    return this.#roll.list(query)
  }

  search(text: string): Promise<SearchHit[]> {
    return this.#options.index.search(text)
  }

  // ---- making ----

  /** Makes a session, or adopts the one of that id; with a prompt it is sent in the same command, once per `command` id. */
  async create(args: ParsedArgs<'session.create'>, command?: string): Promise<CommandResults['session.create']> {
    const { presets, routes, defaultModel, workspaces, permissions } = this.#options
    const { selection: pick, prompt } = args
    const { alsoDefault, ...selection } = pick ?? { alsoDefault: false }
    if (pick) await checkSelection(routes, selection as Selection)
    if (prompt !== undefined && !pick && !defaultModel?.currentSelection()) throw noModel()
    const given = args.session ?? command
    const id = given ?? this.#id()
    // Refused before anything is made.
    const pins = permissions?.pins(args.permission) ?? []
    const session = await this.#open.once(id, async () => {
      if (given !== undefined && (await this.#options.store.exists(id))) return this.#adopt(id, args.preset)
      const preset = presets && (await presets.resolve(args.preset)).id
      const cwd = args.workspace === undefined ? this.#homeOf(pick) : workspaces.get(args.workspace).path
      const { writer, now = Date.now } = this.#options
      const log = this.#options.store.create(
        newHeader({ id, createdAt: now(), cwd, ...(preset !== undefined && { agentPreset: preset }), writer }),
      )
      return this.#open.publish(log, { preset, pins })
    })
    this.#requirePreset(session, args.preset)
    if (prompt !== undefined) this.#presets.requireComposed(session)
    const result = pick ? await this.selectModel(id, selection as Selection, alsoDefault ?? false) : {}
    if (prompt !== undefined) await session.prompt(prompt, 'queue', command)
    const preset = session.state().preset.current
    return { session: id, ...(preset !== null && { preset }), ...result }
  }

  async fork(
    source: string,
    { seq, preset }: { seq?: number | undefined; preset?: string | undefined },
  ): Promise<CommandResults['session.fork']> {
    const { presets, store } = this.#options
    const chosen = preset === undefined ? undefined : await presets?.resolve(preset)
    if (chosen?.broken !== undefined) throw brokenPreset(chosen.id, chosen.broken)
    const id = this.#id()
    const log = await store.fork(source, {
      id,
      ...(seq !== undefined && { at: seq }),
      ...(chosen && { agentPreset: chosen.id }),
    })
    const session = await this.#published(log)
    const title = session.state().title?.title
    if (title) session.log.append(draft('session/title', { title, source: 'rule' }))
    this.#roll.changed(id)
    return { session: id }
  }

  // ---- what a person does in a session ----

  /** `message` is the id that the message gets; one that the log holds already is not sent again. */
  async prompt(
    id: string,
    text: string,
    mode: 'queue' | 'steer',
    message?: string,
  ): Promise<CommandResults['session.prompt']> {
    const session = await this.#open.ensure(id)
    if (!session.selection.current) throw noModel()
    this.#presets.requireComposed(session)
    return { message: await session.prompt(text, mode, message) }
  }

  async stop(id: string): Promise<CommandResults['session.stop']> {
    const stopped = this.#open.live(id)?.agent.cancel({ kind: 'user' }, { keepInbox: true }) ?? false
    return { stopped }
  }

  async rename(id: string, title: string): Promise<CommandResults['session.rename']> {
    const session = await this.#open.ensure(id)
    session.log.append(draft('session/title', { title, source: 'user' }))
    await session.log.barrier()
    return { title }
  }

  /** US dollars that the session may spend; null: what the host's settings say. In force from the next request on. */
  async setBudget(id: string, limit: number | null): Promise<CommandResults['session.budget']> {
    const session = await this.#open.ensure(id)
    session.log.append(draft('session/budget', { limit }))
    await session.log.barrier()
    return { limit }
  }

  /** See `SessionPresets`. */
  async selectPreset(id: string, preset: string): Promise<CommandResults['preset.select']> {
    return this.#presets.select(id, preset)
  }

  moveBlank(preset: string): Promise<CommandResults['preset.move-blank']> {
    return this.#presets.moveBlank(preset)
  }

  presetUsage(preset: string): Promise<PresetUsage> {
    return this.#presets.usage(preset)
  }

  forkCheck(source: string, options: { seq?: number | undefined; preset: string }): Promise<ForkReport> {
    return this.#presets.forkCheck(source, options)
  }

  /** Checks, records, then tries to save the pick as the default; the session's pick stands whatever the default does (L-12, L-13). */
  async selectModel(id: string, selection: Selection, alsoDefault: boolean): Promise<CommandResults['model.select']> {
    const session = await this.#open.ensure(id)
    await session.serially(async () => {
      await checkSelection(this.#options.routes, selection)
      session.selection.selectForNextRequest(selection)
      await session.log.barrier()
    })
    return alsoDefault ? saveAsDefault(this.#options, selection) : {}
  }

  async editQueued(id: string, message: string, text: string): Promise<CommandResults['queue.edit']> {
    const session = await this.#open.ensure(id)
    session.agent.inbox.edit(message, [{ type: 'text', text }])
    await session.log.barrier()
    return { message }
  }

  async removeQueued(id: string, message: string): Promise<CommandResults['queue.remove']> {
    const session = await this.#open.ensure(id)
    const removed = session.agent.inbox.remove(message)
    await session.log.barrier()
    return { message, text: removed.content.map((block) => (block.type === 'text' ? block.text : '')).join('') }
  }

  async sendQueuedNow(id: string, message: string): Promise<CommandResults['queue.send-now']> {
    const session = await this.#open.ensure(id)
    if (!session.selection.current) throw noModel()
    this.#presets.requireComposed(session)
    return { message: (await session.agent.sendNow(message)).id }
  }

  // ---- lists and life ----

  async mark(id: string, marks: { pinned?: boolean; archived?: boolean }): Promise<void> {
    await this.#options.index.patch(id, marks)
    this.#roll.changed(id)
  }

  async remove(id: string): Promise<CommandResults['session.delete']> {
    const { store, index } = this.#options
    await this.#open.takeAway(id, async () => {
      // Asked only now: closing a live session may have made its file.
      if (await store.exists(id)) await store.remove(id)
      await index.remove(id)
    })
    this.feeds.writer(id, { kind: 'none' }, REMOVED)
    this.feeds.rows([], [id])
    return { session: id }
  }

  async restore(id: string): Promise<CommandResults['session.restore']> {
    if (this.#open.has(id))
      throw new CoreError('session/conflict', `A session ${id} is open; the removed one stays in the trash.`)
    await this.#options.store.restore(id)
    const view = await this.view(id)
    const row = this.#roll.restored(view)
    this.feeds.writer(id, view.writer(), view.readOnly())
    view.release()
    return { session: id, row }
  }

  /** Ends every agent and brings every log to disk. */
  async close(): Promise<void> {
    try {
      await this.#open.close()
    } finally {
      this.#roll.close()
    }
  }

  /** A fork whose preset cannot be mounted leaves nothing behind: its file came before the composition. */
  async #published(log: SessionLog): Promise<LiveSession> {
    const { id } = log.header
    try {
      return await this.#open.once(id, () =>
        this.#open.publish(log, { preset: log.state(agentPreset).current ?? undefined }),
      )
    } catch (error) {
      const { store, warn = console.warn } = this.#options
      await store.remove(id).catch((left: Error) => warn(`the file of the failed fork ${id} stays: ${left.message}`))
      throw error
    }
  }

  async #adopt(id: string, preset: string | undefined): Promise<LiveSession> {
    const session = await this.#open.resume(id)
    this.#requirePreset(session, preset)
    return session
  }

  /** A live or stored session keeps its own preset; asking for another one is a conflict. */
  #requirePreset(session: LiveSession, wanted: string | undefined): void {
    const existing = session.state().preset.current
    if (wanted === undefined || wanted === existing) return
    throw new CoreError(
      'agent-preset/conflict',
      `The session ${session.id} uses the preset ${existing ?? '(none)'}, not ${wanted}. Fork it into ${wanted} instead.`,
      {
        sessionId: session.id,
        requestedPreset: wanted,
        ...(existing !== null && { existingPreset: existing }),
      },
    )
  }

  #homeOf(pick: { provider: string } | undefined): string {
    if (pick?.provider === 'demo') return this.#options.workspaces.demo()
    throw new CoreError('workspace/not-found', 'A session works in a folder. Choose a workspace first.')
  }

  #id(): string {
    const { id = newId } = this.#options
    return id()
  }
}
