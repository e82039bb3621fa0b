import { CoreError } from '../wire/errors.ts'
import type { CommandResults, ParsedArgs } from '../wire/commands.ts'
import type { Selection } from '../wire/messages.ts'
import type { ModelsView, ProviderView } from '../wire/views.ts'
import type { Route } from '../model/port.ts'
import { oneWord } from './connection-test.ts'
import { isLocal } from './local.ts'
import { ModelLists } from './model-lists.ts'
import type { ProvidersOptions } from './providers-options.ts'
import { OldProviders } from './old-providers.ts'
import { foreignView, providerView, type ViewDeps } from './provider-view.ts'
import { ProviderKeys } from './provider-keys.ts'
import { RecentModels } from './recent-models.ts'
import { newSettings, saved, withEntry, withFacts, withoutEntry, type Written } from './route-edits.ts'
import { type RouteEntries } from './route-entry.ts'
import { RouteTable } from './route-table.ts'
import { within } from './within.ts'

/** A route that has not listed its models after this many ms is shown without them; a late list is still taken. */
const ASK_MS = 6_000
/** A command that changed one provider waits this long for its list; what comes later is announced. */
const ANSWER_MS = 1_000
const TEST_MS = 30_000

const invalid = (provider: string, message: string): CoreError =>
  new CoreError('provider/invalid', message, { provider })

/** Model providers as a person configures them: routes, write-only keys, the deployment default. */
export class Providers {
  readonly #options: ProvidersOptions
  readonly #table: RouteTable
  readonly #lists: ModelLists
  readonly #old: OldProviders
  readonly #keys: ProviderKeys
  readonly #recent: RecentModels
  readonly #view: ViewDeps
  readonly #observers = new Set<(view: ModelsView) => void>()
  #telling = false
  #closed = false

  constructor(options: ProvidersOptions) {
    this.#options = options
    const { warn = console.warn, limits, state, credentials, defaults, file } = options
    this.#table = new RouteTable({ ...options, file: file.path, warn })
    this.#lists = new ModelLists(limits?.ask ?? ASK_MS, () => this.announce())
    this.#old = new OldProviders(state)
    this.#keys = new ProviderKeys(credentials, state, options.now)
    this.#recent = new RecentModels(state, warn)
    this.#view = { keys: this.#keys, lists: this.#lists, defaults }
  }

  /** Registers every configured route. Rows are there at once; resolves when each that needs no network told its models. */
  async start(): Promise<void> {
    this.reread()
    const asked = this.#options.routes.list().filter((route) => this.#lists.isNew(route))
    await Promise.all(asked.map((route) => this.#lists.ask(route)))
  }

  /** Takes over what the settings file says now; routes that did not change go on as they are. */
  reread(): void {
    const { own = true, file } = this.#options
    for (const { route, before } of this.#table.apply(own ? { ...this.#oldEntries(), ...file.read() } : {})) {
      const discovers = this.#table.get(route.id)?.config?.discover ?? false
      if (before) this.#lists.follow(route, before, discovers)
      else if (discovers) this.#lists.later(route)
    }
    this.announce()
  }

  /** Moves own providers of earlier versions into the settings file, once. The file comes first: a crash in between loses none. */
  async moveOld(): Promise<void> {
    const { own = true, file } = this.#options
    const old = own ? this.#oldEntries() : {}
    if (Object.keys(old).length === 0) return
    await file.edit(({ raw }) => ({ ...old, ...raw }))
    this.#old.forget(Object.keys(old))
    this.reread()
  }

  /** As somebody looks at it: endpoints that were not asked for their models yet are asked now. */
  current(): ModelsView {
    this.#lists.look()
    return this.#now()
  }

  onChange(observer: (view: ModelsView) => void): () => void {
    this.#observers.add(observer)
    return () => this.#observers.delete(observer)
  }

  /** Tells observers once, after what runs now: many changes in one tick are one view. */
  announce(): void {
    if (this.#telling) return
    this.#telling = true
    queueMicrotask(() => {
      this.#telling = false
      if (this.#closed) return
      // Whoever registered a route by itself is asked for its models, too.
      for (const route of this.#options.routes.list()) if (this.#lists.isNew(route)) void this.#lists.ask(route)
      const view = this.#now()
      for (const observer of this.#observers) observer(view)
    })
  }

  /** Lists that come later are told to nobody: the stores behind the view may be closed by then. */
  close(): void {
    this.#closed = true
  }

  /** Asks the endpoint of one provider again. A failure is in the row. */
  async refresh(id: string): Promise<CommandResults['provider.refresh']> {
    this.#find(id)
    const route = this.#route(id)
    if (route) await this.#lists.ask(route)
    return { provider: this.#find(id) }
  }

  async save(args: ParsedArgs<'provider.save'>): Promise<CommandResults['provider.save']> {
    const { id } = args
    if (this.#table.isForeign(id)) throw invalid(id, `"${id}" is the id of another provider. Choose another id.`)
    if (this.#keys.occursIn(args))
      throw invalid(id, 'These settings hold a stored key in plain text. Write {{key}} in its place.')
    const base = this.#table.base(id)
    if (base && ((args.label ?? base.label) !== base.label || (args.wire ?? base.wire) !== base.wire))
      throw invalid(id, `"${id}" is the id of ${base.label}, which keeps its name and API. Choose another id.`)
    const start = newSettings(args)
    await this.#edit((written) => withEntry(written, id, base, { change: saved(args), ...(start && { start }) }))
    return { provider: await this.#answer(id) }
  }

  async reset(id: string): Promise<CommandResults['provider.reset']> {
    this.#find(id)
    if (!this.#table.base(id)) throw invalid(id, `${id} does not ship with this server. Remove it instead.`)
    await this.#edit(({ raw }) => withoutEntry(raw, id))
    return { provider: await this.#answer(id) }
  }

  async remove(id: string): Promise<CommandResults['provider.remove']> {
    const { own, label } = this.#find(id)
    if (!own) throw invalid(id, `${label} ships with this server and cannot be removed. Remove its key instead.`)
    // The key first: left behind, it would go to whoever gets this id next.
    await this.#keys.remove(id)
    await this.#edit(({ raw }) => withoutEntry(raw, id))
    return { provider: id }
  }

  async saveFacts(args: ParsedArgs<'model.facts'>): Promise<CommandResults['model.facts']> {
    const { provider: id, model, facts } = args
    this.#find(id)
    if (!this.#table.get(id)) throw invalid(id, `The models of ${id} cannot be changed.`)
    await this.#edit((written) =>
      withEntry(written, id, this.#table.base(id), {
        change: withFacts(model, facts),
      }),
    )
    return { provider: await this.#answer(id) }
  }

  async setKey(id: string, key: string): Promise<CommandResults['credential.set']> {
    this.#find(id)
    await this.#keys.set(id, key)
    return { provider: await this.#answer(id) }
  }

  async removeKey(id: string): Promise<CommandResults['credential.remove']> {
    this.#find(id)
    await this.#keys.remove(id)
    return { provider: await this.#answer(id) }
  }

  /** One real call of one word, through the same adapter that sessions use. */
  async test(id: string, model?: string): Promise<CommandResults['provider.test']> {
    const { limits, probe, now = Date.now } = this.#options
    const { label, problem, models } = this.#find(id)
    const limitMs = limits?.test ?? TEST_MS
    const config = this.#table.get(id)?.config
    const route = this.#route(id)
    if (!route) throw invalid(id, problem ?? `${label} is not configured.`)
    const tested = config
      ? await probe(config, { limitMs, ...(model !== undefined && { model }) })
      : await oneWord(route, model ?? models[0]?.id ?? id, limitMs, now)
    // A server that answers by now may also have a new list.
    void this.#lists.ask(route)
    return tested
  }

  async findLocal(): Promise<CommandResults['provider.find-local']> {
    const found = await this.#options.findLocal()
    return {
      servers: found.map((server) => {
        const provider = this.#table.list().find(({ config }) => config && isLocal(config.baseURL, server.port))
        return { ...server, ...(provider && { provider: provider.id }) }
      }),
    }
  }

  async saveDefault(selection: Selection): Promise<CommandResults['model.default']> {
    const route = this.#route(selection.provider)
    if (!route || route.neverDefault)
      throw new CoreError(
        'session/model-unavailable',
        `${selection.provider} cannot be the default for new sessions. Choose a model of a configured provider.`,
        { ...selection },
      )
    try {
      await this.#options.defaultModel.saveSelection(selection)
    } catch (error) {
      throw new CoreError(
        'settings/not-saved',
        `The default model was not saved: ${(error as Error).message}`,
        undefined,
        { cause: error },
      )
    }
    this.picked(selection)
    this.announce()
    return { saved: true, models: this.#now() }
  }

  /** A person chose this model, wherever that was. */
  picked(pick: { provider: string; model: string }): void {
    if (this.#recent.add(pick)) this.announce()
  }

  #now(): ModelsView {
    const { routes, defaultModel } = this.#options
    const selection = defaultModel.currentSelection()
    const managed = this.#table.list()
    const others = routes.list().filter(({ id }) => !this.#table.get(id))
    return {
      providers: [
        ...others.map((route) => foreignView(route, this.#view)),
        ...managed.map((row) => providerView(row, this.#view)),
      ],
      ...(selection && { default: selection }),
      recent: this.#recent.list(),
    }
  }

  /** As it was registered: what stands in front of the routes for sessions is no part of the list. */
  #route(id: string): Route | undefined {
    return this.#table.get(id)?.route ?? this.#options.routes.list().find((route) => route.id === id)
  }

  /** Own providers that still stand in the state table count as written: the first edit moves them. */
  async #edit(derive: (written: Written) => RouteEntries): Promise<void> {
    const old = this.#oldEntries()
    await this.#options.file.edit(({ raw, evaluated }) =>
      derive({ raw: { ...old, ...raw }, evaluated: { ...old, ...evaluated } }),
    )
    this.#old.forget(Object.keys(old))
    this.reread()
  }

  /** One whose id ships by now stays where it is; its key and address must not become another provider's. */
  #oldEntries(): RouteEntries {
    return Object.fromEntries(Object.entries(this.#old.entries()).filter(([id]) => !this.#table.base(id)))
  }

  /** The row after a change, with its models when they come soon. */
  async #answer(id: string): Promise<ProviderView> {
    this.announce()
    const route = this.#route(id)
    if (route) await within(this.#lists.ask(route), this.#options.limits?.answer ?? ANSWER_MS)
    return this.#find(id)
  }

  #find(id: string): ProviderView {
    const managed = this.#table.get(id)
    if (managed) return providerView(managed, this.#view)
    const route = this.#route(id)
    if (route) return foreignView(route, this.#view)
    throw new CoreError('provider/not-found', `There is no model provider "${id}". Add it in Settings > Models.`, {
      provider: id,
    })
  }
}
