import { CoreError, type WireError } from '../wire/errors.ts'
import { draft, type LogEvent } from '../wire/events.ts'
import { newId } from '../wire/ids.ts'
import type { CommandResults, ParsedArgs } from '../wire/commands.ts'
import type { Selection } from '../wire/messages.ts'
import type { SearchHit, SessionPage } from '../wire/protocol.ts'
import type { AgentRegistry } from '../agent/registry.ts'
import type { SessionLog } from '../log/session-log.ts'
import { newHeader, type SessionStore } from '../log/store.ts'
import type { Routes } from '../model/routes.ts'
import { agentPreset } from '../projection/agent-preset.ts'
import type { Hooks } from '../turn/hooks.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import { ColdView, refusalOf } from './cold.ts'
import { composeAgent } from './compose.ts'
import { Feeds } from './feed.ts'
import { LiveSession } from './live.ts'
import { checkSelection } from './models.ts'
import type { DefaultModel, Index, Presets } from './ports.ts'
import { Roll } from './roll.ts'
import { ModelSelection } from './selection.ts'
import type { SessionView } from './view.ts'

export interface SessionsOptions {
  store: SessionStore
  agents: AgentRegistry
  hooks: Hooks
  routes: Routes
  workspaces: Workspaces
  index: Index
  /** Name and version of this program, for headers. */
  writer: string
  presets?: Presets
  defaultModel?: DefaultModel
  /** What confines a new session; pinned in its log at creation. */
  sandbox?: { mode: 'read-only' | 'workspace-write' | 'full'; source: string }
  modelNotice?: boolean
  warn?: (message: string) => void
  now?: () => number
  id?: () => string
}

const noModel = () =>
  new CoreError(
    'session/model-not-configured',
    'No model is chosen. Pick one in the model chip, or set a default in Settings > Models.',
  )

/** Every session of this host: made, opened, continued, changed and told of in one place. */
export class Sessions {
  readonly feeds = new Feeds()
  readonly #options: SessionsOptions
  readonly #live = new Map<string, LiveSession>()
  readonly #opening = new Map<string, Promise<LiveSession>>()
  readonly #cold = new Map<string, Promise<ColdView>>()
  readonly #roll: Roll

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#roll = new Roll({ index: options.index, feed: this.feeds, live: (id) => this.#live.get(id) })
  }

  live(id: string): LiveSession | undefined {
    return this.#live.get(id)
  }

  // ---- reading ----

  /** Read-only, on any host; every call is answered by one `release`. */
  async view(id: string): Promise<SessionView> {
    const live = this.#live.get(id) ?? (await this.#opening.get(id)?.catch(() => undefined))
    if (live) return live
    const known = this.#cold.get(id)
    if (known) return (await known).use()
    const opening = this.#openCold(id)
    this.#cold.set(id, opening)
    opening.catch(() => this.#cold.delete(id))
    return (await opening).use()
  }

  list(query: Parameters<Index['list']>[0]): Promise<SessionPage> {
    return this.#roll.list(query)
  }

  search(text: string): Promise<SearchHit[]> {
    return this.#options.index.search(text)
  }

  // ---- making ----

  /** Makes a session, or adopts the one of that id; with a prompt it is sent in the same command. */
  async create(args: ParsedArgs<'session.create'>): Promise<CommandResults['session.create']> {
    const { presets, routes, defaultModel, workspaces } = this.#options
    const { selection: pick, prompt } = args
    const { alsoDefault, ...selection } = pick ?? { alsoDefault: false }
    if (pick) await checkSelection(routes, selection as Selection)
    if (prompt !== undefined && !pick && !defaultModel?.currentSelection()) throw noModel()
    const id = args.session ?? this.#id()
    const session = await this.#once(id, async () => {
      if (args.session && (await this.#options.store.exists(id))) return this.#adopt(id, args.preset)
      const preset = presets && (await presets.resolve(args.preset)).id
      const cwd = args.workspace === undefined ? this.#homeOf(pick) : workspaces.get(args.workspace).path
      const { writer, now = Date.now } = this.#options
      const log = this.#options.store.create(
        newHeader({ id, createdAt: now(), cwd, ...(preset !== undefined && { agentPreset: preset }), writer }),
      )
      return this.#publish(log, { preset, pinned: true })
    })
    this.#requirePreset(session, args.preset)
    const result = pick ? await this.selectModel(id, selection as Selection, alsoDefault ?? false) : {}
    if (prompt !== undefined) await session.prompt(prompt, 'queue')
    const preset = session.state().preset.current
    return { session: id, ...(preset !== null && { preset }), ...result }
  }

  async fork(
    source: string,
    { seq, preset }: { seq?: number | undefined; preset?: string | undefined },
  ): Promise<CommandResults['session.fork']> {
    const { presets, store } = this.#options
    const chosen = preset === undefined ? undefined : await presets?.resolve(preset)
    if (chosen?.broken !== undefined)
      throw new CoreError('agent-preset/invalid', `The preset ${chosen.id} cannot be used: ${chosen.broken}`, {
        agentPreset: chosen.id,
        reason: chosen.broken,
      })
    const id = this.#id()
    const log = await store.fork(source, {
      id,
      ...(seq !== undefined && { at: seq }),
      ...(chosen && { agentPreset: chosen.id }),
    })
    const session = await this.#once(id, () =>
      this.#publish(log, { preset: log.state(agentPreset).current ?? undefined, pinned: false }),
    )
    const title = session.state().title?.title
    if (title) session.log.append(draft('session/title', { title, source: 'rule' }))
    this.#roll.changed(id)
    return { session: id }
  }

  // ---- what a person does in a session ----

  async prompt(id: string, text: string, mode: 'queue' | 'steer'): Promise<CommandResults['session.prompt']> {
    const session = await this.#ensure(id)
    if (!session.selection.current) throw noModel()
    return { message: (await session.prompt(text, mode)).id }
  }

  async stop(id: string): Promise<CommandResults['session.stop']> {
    const stopped = this.#live.get(id)?.agent.cancel({ kind: 'user' }, { keepInbox: true }) ?? false
    return { stopped }
  }

  async rename(id: string, title: string): Promise<CommandResults['session.rename']> {
    const session = await this.#ensure(id)
    session.log.append(draft('session/title', { title, source: 'user' }))
    await session.log.barrier()
    return { title }
  }

  async selectPreset(id: string, preset: string): Promise<CommandResults['preset.select']> {
    const session = await this.#ensure(id)
    const { presets } = this.#options
    if (!presets)
      throw new CoreError('agent-preset/not-found', 'This server has no presets.', {
        agentPreset: preset,
        available: [],
      })
    const selected = await presets.select(session.agent, preset)
    await session.log.barrier()
    return { preset: selected }
  }

  /** Checks, records, then tries to save the pick as the default; the session's pick stands whatever the default does (L-12, L-13). */
  async selectModel(id: string, selection: Selection, alsoDefault: boolean): Promise<CommandResults['model.select']> {
    const session = await this.#ensure(id)
    await session.serially(async () => {
      await checkSelection(this.#options.routes, selection)
      session.selection.selectForNextRequest(selection)
      await session.log.barrier()
    })
    const { defaultModel, routes, warn = console.warn } = this.#options
    if (!alsoDefault || !defaultModel || routes.get(selection.provider)?.neverDefault) return {}
    try {
      await defaultModel.saveSelection(selection)
      return { default: { saved: true } }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      warn(`the default model was not saved: ${reason}`)
      return { default: { saved: false, reason } }
    }
  }

  async editQueued(id: string, message: string, text: string): Promise<CommandResults['queue.edit']> {
    const session = await this.#ensure(id)
    session.agent.inbox.edit(message, [{ type: 'text', text }])
    await session.log.barrier()
    return { message }
  }

  async removeQueued(id: string, message: string): Promise<CommandResults['queue.remove']> {
    const session = await this.#ensure(id)
    const removed = session.agent.inbox.remove(message)
    await session.log.barrier()
    return { message, text: removed.content.map((block) => (block.type === 'text' ? block.text : '')).join('') }
  }

  async sendQueuedNow(id: string, message: string): Promise<CommandResults['queue.send-now']> {
    const session = await this.#ensure(id)
    if (!session.selection.current) throw noModel()
    return { message: (await session.agent.sendNow(message)).id }
  }

  // ---- lists and life ----

  async mark(id: string, marks: { pinned?: boolean; archived?: boolean }): Promise<void> {
    await this.#options.index.patch(id, marks)
    this.#roll.changed(id)
  }

  async remove(id: string): Promise<CommandResults['session.delete']> {
    const stored = await this.#options.store.exists(id)
    await this.#live.get(id)?.dispose()
    this.#live.delete(id)
    if (stored) await this.#options.store.remove(id)
    await this.#options.index.remove(id)
    this.feeds.rows([], [id])
    return { session: id }
  }

  async restore(id: string): Promise<CommandResults['session.restore']> {
    await this.#options.store.restore(id)
    const view = await this.view(id)
    const row = this.#roll.restored(view)
    view.release()
    return { session: id, row }
  }

  /** Ends every agent and brings every log to disk. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#opening.values())
    const results = await Promise.allSettled([...this.#live.values()].map((session) => session.dispose()))
    this.#live.clear()
    this.#roll.close()
    const views = await Promise.allSettled(this.#cold.values())
    for (const view of views) if (view.status === 'fulfilled') await view.value.close()
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }

  /** The live session, opened for writing when it is not yet: the first mutating command takes ownership. */
  async #ensure(id: string): Promise<LiveSession> {
    const live = this.#live.get(id)
    if (!live) return this.#once(id, () => this.#resume(id))
    // What a full disk refused is still in memory: a person who acts is a reason to try again at once.
    if (live.log.refusal) await live.log.retry()
    return live
  }

  #once(id: string, make: () => Promise<LiveSession>): Promise<LiveSession> {
    const live = this.#live.get(id)
    if (live) return Promise.resolve(live)
    const pending = this.#opening.get(id)
    if (pending) return pending
    const opening = make().finally(() => this.#opening.delete(id))
    this.#opening.set(id, opening)
    return opening
  }

  async #resume(id: string): Promise<LiveSession> {
    const { log } = await this.#options.store.openWrite(id)
    const session = await this.#publish(log, { preset: log.state(agentPreset).current ?? undefined, pinned: false })
    const cold = await this.#cold.get(id)?.catch(() => undefined)
    this.#cold.delete(id)
    await cold?.close()
    // Tabs that read the cold log get what the repair added; from here on they hear the live one.
    if (cold && cold.events.length < log.events.length) this.feeds.events(id, log.events.slice(cold.events.length))
    this.feeds.writer(id, session.writer(), session.readOnly())
    return session
  }

  async #publish(
    log: SessionLog,
    { preset, pinned }: { preset: string | undefined; pinned: boolean },
  ): Promise<LiveSession> {
    const { agents, hooks, presets, defaultModel, sandbox, modelNotice } = this.#options
    const { id, cwd } = log.header
    const selection = new ModelSelection(log, () => defaultModel?.currentSelection())
    if (pinned && sandbox) log.append(draft('sandbox/mode', sandbox))
    try {
      const handle = await agents.create({
        id,
        log,
        options: { cwd: cwd ?? process.cwd() },
        ...composeAgent({ hooks, selection, presets, preset, modelNotice }),
      })
      const session = new LiveSession({
        handle,
        log,
        selection,
        hooks,
        feed: this.feeds,
        onCommit: (events) => this.#committed(id, events),
      })
      this.#live.set(id, session)
      return session
    } catch (error) {
      await log.close().catch(() => {
        // The composition's error is the one to report.
      })
      throw error
    }
  }

  #committed(id: string, events: readonly LogEvent[]): void {
    this.#roll.committed(id, events)
  }

  async #adopt(id: string, preset: string | undefined): Promise<LiveSession> {
    const session = await this.#resume(id)
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

  async #openCold(id: string): Promise<ColdView> {
    const view = await ColdView.open(id, {
      store: this.#options.store,
      onEvents: (events) => this.feeds.events(id, events),
      onReleased: () => this.#cold.delete(id),
    })
    view.refuse(await this.#presetRefusal(view.state().preset.current))
    return view
  }

  async #presetRefusal(preset: string | null): Promise<WireError | undefined> {
    const { presets } = this.#options
    if (!presets || preset === null) return undefined
    try {
      const { id, broken } = await presets.resolve(preset)
      if (broken === undefined) return undefined
      return {
        code: 'agent-preset/invalid',
        message: `The preset ${id} cannot be used: ${broken}`,
        details: { agentPreset: id, reason: broken },
      }
    } catch (error) {
      return refusalOf(error)
    }
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
