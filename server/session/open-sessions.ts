import { CoreError, type WireError } from '../wire/errors.ts'
import type { Draft, LogEvent } from '../wire/events.ts'
import type { EventLog } from '../log/port.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { ScopeKey } from '../scope/scope.ts'
import { LOG_VERSION } from '../log/jsonl/upgrade.ts'
import { agentPreset } from '../projection/agent-preset.ts'
import { budgetRefusal, type BudgetOptions } from './budget.ts'
import { refusalOf } from './cold.ts'
import { ColdViews } from './cold-views.ts'
import { composeAgent } from './compose.ts'
import type { Feed } from './feed.ts'
import { LiveSession } from './live.ts'
import { noticesFor } from './notices.ts'
import { lastPage, PAGE_CHARS } from './page.ts'
import { ModelSelection } from './selection.ts'
import { Titles } from './titles.ts'
import type { Spend } from './spend.ts'
import type { PresetEvent } from './ports.ts'
import type { SessionsOptions } from './options.ts'
import type { SessionView } from './view.ts'

export interface OpenSessionsOptions extends SessionsOptions {
  feed: Feed
  spend: Spend
  onCommit(id: string, events: readonly LogEvent[]): void
}

const noop = (): void => {
  // The caller of the work has its error; who only waits for its end does not need it.
}

const noTitles = (): undefined => undefined

/** Which sessions this process has open, for writing or for reading only, and how one state becomes the other. */
export class OpenSessions {
  readonly #options: OpenSessionsOptions
  readonly #live = new Map<string, LiveSession>()
  readonly #opening = new Map<string, Promise<LiveSession>>()
  readonly #removing = new Map<string, Promise<void>>()
  /** Switches under way, by session. */
  readonly #switching = new Map<string, number>()
  readonly #cold: ColdViews
  readonly #titles: Titles
  readonly #budget: BudgetOptions
  readonly #stop: (() => void) | undefined

  constructor(options: OpenSessionsOptions) {
    this.#options = options
    const { store, feed, presets, titles = noTitles } = options
    this.#budget = { budget: () => options.budget?.() ?? {}, spend: options.spend }
    const overBudget = (log: EventLog) => budgetRefusal(log, this.#budget)
    this.#titles = new Titles({ ...options, titles, overBudget })
    this.#stop = presets?.onChange((change) => this.#presetsChanged(change))
    this.#cold = new ColdViews({ store, feed, refusal: (state) => this.#presetRefusal(state.preset.current) })
  }

  live(id: string): LiveSession | undefined {
    return this.#live.get(id)
  }

  /** Live, or about to be. */
  has(id: string): boolean {
    return this.#live.has(id) || this.#opening.has(id)
  }

  /** Live, or read from disk; answered by one `release`. */
  async view(id: string): Promise<SessionView> {
    await this.#removing.get(id)
    const live = this.#live.get(id) ?? (await this.#opening.get(id)?.catch(noop))
    if (live) return live
    const cold = await this.#cold.use(id)
    // Opened for writing while this one was being read.
    const now = this.#live.get(id)
    if (!now) return cold
    cold.release()
    return now
  }

  /** The latest events before `before`. A session that nobody shows is read from its file, the page's lines only. */
  async page(
    id: string,
    { before, limit }: { before?: number | undefined; limit: number },
  ): Promise<readonly LogEvent[]> {
    const open = this.#live.get(id) ?? this.#cold.peek(id)
    if (open) return lastPage(open.events, before, limit)
    try {
      const query = { maxEvents: limit, maxBytes: PAGE_CHARS, ...(before !== undefined && { before }) }
      const { header, events } = await this.#options.store.readPage(id, query)
      if (header.version === LOG_VERSION) return events
    } catch (error) {
      // Only the view knows how far a damaged log can be read.
      if (!(error instanceof CoreError) || error.code !== 'session/corrupt') throw error
    }
    const view = await this.view(id)
    const events = lastPage(view.events, before, limit)
    view.release()
    return events
  }

  /** The live session, opened for writing when it is not yet: the first mutating command takes ownership. */
  async ensure(id: string): Promise<LiveSession> {
    const live = this.#live.get(id)
    if (!live || this.#removing.has(id)) return this.once(id, () => this.resume(id))
    // What a full disk refused is still in memory: a person who acts is a reason to try again at once.
    if (live.log.refusal) await live.log.retry()
    return live
  }

  /** All who ask for one id meanwhile get the same session. */
  once(id: string, make: () => Promise<LiveSession>): Promise<LiveSession> {
    const removing = this.#removing.get(id)
    if (removing) return removing.then(() => this.once(id, make))
    const live = this.#live.get(id)
    if (live) return Promise.resolve(live)
    const pending = this.#opening.get(id)
    if (pending) return pending
    const opening = make().finally(() => this.#opening.delete(id))
    this.#opening.set(id, opening)
    return opening
  }

  async resume(id: string): Promise<LiveSession> {
    const { log } = await this.#options.store.openWrite(id)
    return this.publish(log, { preset: log.state(agentPreset).current ?? undefined })
  }

  all(): LiveSession[] {
    return [...this.#live.values()]
  }

  /**
   * Does `work` in the session, which may be blank and of a preset that is gone or broken: then it is opened without one,
   * and closed again when the work did not give it another. Any other session is opened as usual.
   */
  async switching<T>(id: string, work: (session: LiveSession) => Promise<T>): Promise<T> {
    this.#switching.set(id, (this.#switching.get(id) ?? 0) + 1)
    try {
      // No further hop: a prompt right behind this switch must not get to the agent first.
      return await work(await (this.has(id) || !(await this.#stranded(id)) ? this.ensure(id) : this.#openBare(id)))
    } finally {
      const others = this.#switching.get(id)! - 1
      if (others > 0) this.#switching.set(id, others)
      else this.#switching.delete(id)
      // Another tab may still be giving it a preset.
      if (others === 0 && this.#live.get(id)?.uncomposed()) await this.#close(id)
    }
  }

  #openBare(id: string): Promise<LiveSession> {
    return this.once(id, async () => {
      const { log } = await this.#options.store.openWrite(id)
      return this.publish(log, { preset: undefined })
    })
  }

  async #stranded(id: string): Promise<boolean> {
    const view = await this.view(id)
    try {
      const { lastTurn, openTurn, preset } = view.state()
      return lastTurn === 0 && openTurn === null && (await this.#presetRefusal(preset.current)) !== undefined
    } finally {
      view.release()
    }
  }

  /** Back to a session that is only read, for whoever looks at it. */
  async #close(id: string): Promise<void> {
    await this.takeAway(id, () => Promise.resolve())
    const view = await this.view(id)
    this.#options.feed.writer(id, view.writer(), view.readOnly())
    view.release()
  }

  async publish(
    log: SessionLog,
    { preset, pins }: { preset: string | undefined; pins?: readonly Draft[] },
  ): Promise<LiveSession> {
    const { agents, hooks, presets, defaultModel, modelNotice, feed, onCommit } = this.#options
    const { id, cwd } = log.header
    const selection = new ModelSelection(log, () => defaultModel?.currentSelection())
    if (pins && pins.length > 0) log.append(...pins)
    try {
      const handle = await agents.create({
        id,
        log,
        options: { cwd: cwd ?? process.cwd() },
        ...composeAgent({ hooks, selection, presets, preset, modelNotice, budget: this.#budget }),
      })
      if (!pins) for (const notice of noticesFor(log, presets?.composition(handle.agent))) log.append(notice)
      const session = new LiveSession({
        handle,
        log,
        selection,
        hooks,
        feed,
        composition: presets && (() => presets.composition(handle.agent)),
        titles: this.#titles,
        onCommit: (events) => onCommit(id, events),
      })
      this.#live.set(id, session)
      this.#handOver(session)
      return session
    } catch (error) {
      await log.close().catch(() => {
        // The composition's error is the one to report.
      })
      throw error
    }
  }

  /** Ends the live session, if any, then does `work` while nobody can open the session again. */
  takeAway(id: string, work: () => Promise<void>): Promise<void> {
    const opening = this.#opening.get(id)
    const before = this.#removing.get(id)
    const removal = (async () => {
      await before
      await opening?.catch(noop)
      const live = this.#live.get(id)
      this.#live.delete(id)
      this.#cold.end(id)
      await live?.dispose().catch((error: unknown) => {
        const { warn = console.warn } = this.#options
        warn(`session ${id} could not save its last events before it was removed: ${(error as Error).message}`)
      })
      await work()
    })()
    const settled = removal.catch(noop).finally(() => {
      if (this.#removing.get(id) === settled) this.#removing.delete(id)
    })
    this.#removing.set(id, settled)
    return removal
  }

  /** Ended sessions can still be asked for, so that their last state gets into the list. */
  async close(): Promise<void> {
    this.#stop?.()
    await Promise.allSettled([...this.#opening.values(), ...this.#removing.values()])
    const results = await Promise.allSettled([...this.#live.values()].map((session) => session.dispose()))
    await this.#cold.close()
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }

  /**
   * Tabs that read the cold log get what they have not seen yet, and hear the live one from here on. All in the tick that
   * made the session live: an event is told by exactly one of the two.
   */
  #handOver(session: LiveSession): void {
    const { feed } = this.#options
    const { id, events } = session
    const told = this.#cold.end(id)
    if (told === undefined) return
    if (told < events.length) feed.events(id, events.slice(told))
    session.tellStatus()
  }

  #presetsChanged(change: PresetEvent): void {
    if (change.kind === 'bound') this.#bound(change.scope)
    if (change.kind !== 'roster') return
    void this.#cold.reconsider().catch((error: unknown) => {
      const { warn = console.warn } = this.#options
      warn(`whether sessions can be continued could not be told: ${(error as Error).message}`)
    })
  }

  /** An agent's scope is the agent itself. */
  #bound(scope: ScopeKey): void {
    const id = 'id' in scope ? String(scope.id) : ''
    const session = this.#live.get(id)
    if (session?.agent === scope) session.tellStatus()
  }

  async #presetRefusal(preset: string | null): Promise<WireError | undefined> {
    const { presets } = this.#options
    if (!presets || preset === null) return undefined
    try {
      const { id, broken } = await presets.resolve(preset)
      if (broken === undefined) return undefined
      return refusalOf(brokenPreset(id, broken))
    } catch (error) {
      return refusalOf(error)
    }
  }
}

export const brokenPreset = (id: string, reason: string): CoreError =>
  new CoreError('agent-preset/invalid', `The preset ${id} cannot be used: ${reason}`, { agentPreset: id, reason })
