import { CoreError } from '../wire/errors.ts'
import type { CommandResults, ParsedArgs } from '../wire/commands.ts'
import type { Selection } from '../wire/messages.ts'
import type { ModelsView, ProviderView } from '../wire/views.ts'
import type { Credentials } from '../credential/credentials.ts'
import type { Route } from '../model/port.ts'
import type { ProviderConfig } from '../model/adapters/config.ts'
import type { Routes } from '../model/routes.ts'
import type { StateStore } from '../workspace/state.ts'
import { oneWord, testResult } from './connection-test.ts'
import { modelView } from './model-view.ts'
import { checkBaseURL, configOf, type StoredProvider } from './stored-provider.ts'
import { within } from './within.ts'

const KEY = 'providers'
/** A route that has not listed its models after this many ms is shown without them; a late list is still taken. */
const ASK_MS = 6_000
/** A command that changed one provider waits this long for its list; what comes later is announced. */
const ANSWER_MS = 1_000
const TEST_MS = 30_000

export interface ProvidersOptions {
  routes: Routes
  credentials: Credentials
  state: StateStore
  /** Shipped providers: always listed, never removed. */
  shipped: readonly ProviderConfig[]
  /** False leaves out a person's own providers too. */
  own?: boolean
  makeRoute: (config: ProviderConfig) => Route
  defaultModel: { currentSelection(): Selection | undefined; saveSelection(selection: Selection): Promise<void> }
  warn?: (message: string) => void
  now?: () => number
  /** Milliseconds: list of a route, answer of a command, connection test. */
  limits?: { ask?: number; answer?: number; test?: number }
}

interface Listed {
  models: ProviderView['models']
  problem?: string
}

/** Model providers as a person configures them: routes, write-only keys, the deployment default. */
export class Providers {
  readonly #options: ProvidersOptions
  readonly #own = new Map<string, () => void>()
  readonly #observers = new Set<(view: ModelsView) => void>()
  /** What each route answered last. */
  readonly #listed = new WeakMap<Route, Listed>()
  readonly #asking = new WeakMap<Route, Promise<void>>()
  #telling = false
  /** Endpoints that are asked over the network wait until somebody looks: a host without a tab starts no connection. */
  #unasked: Route[] = []

  constructor(options: ProvidersOptions) {
    this.#options = options
  }

  /** Registers every configured route. Rows are there at once; resolves when each that needs no network told its models. */
  async start(): Promise<void> {
    const { shipped, own = true } = this.#options
    for (const config of shipped) this.#contained(config.id, () => this.#add(config))
    const stored = own ? this.#stored() : []
    for (const row of stored) this.#contained(row.id, () => this.#own.set(row.id, this.#add(configOf(row))))
    this.announce()
    const routes = this.#options.routes.list()
    this.#unasked = routes.filter(({ id }) => this.#configOf(id)?.discover)
    await Promise.all(routes.filter((route) => !this.#unasked.includes(route)).map((route) => this.#ask(route)))
  }

  current(): ModelsView {
    for (const route of this.#unasked.splice(0)) void this.#ask(route)
    const selection = this.#options.defaultModel.currentSelection()
    const providers = this.#options.routes.list().map((route) => this.#row(route))
    return { providers, ...(selection && { default: selection }) }
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
      const view = this.current()
      for (const observer of this.#observers) observer(view)
    })
  }

  /** Routes came or went: the rows follow, and who is new is asked for its models. */
  routesChanged(): void {
    this.announce()
    for (const route of this.#options.routes.list()) if (!this.#listed.has(route)) void this.#ask(route)
  }

  /** Asks every route for its models again, each by itself; one that fails or hangs keeps its row and says why. */
  async refresh(): Promise<void> {
    this.announce()
    await Promise.all(this.#options.routes.list().map((route) => this.#ask(route)))
  }

  async save(args: ParsedArgs<'provider.save'>): Promise<CommandResults['provider.save']> {
    const { id, models = [], ...rest } = args
    if (this.#isShipped(id) || (this.#route(id) && !this.#own.has(id)))
      throw new CoreError('provider/invalid', `"${id}" is the id of a shipped provider. Choose another id.`, {
        provider: id,
      })
    checkBaseURL(id, args.baseURL)
    const stored: StoredProvider = { id, ...rest, ...(models.length > 0 && { models }) }
    this.#options.state.update<StoredProvider[]>(KEY, (rows = []) => [...rows.filter((row) => row.id !== id), stored])
    this.#own.get(id)?.()
    this.#own.set(id, this.#add(configOf(stored)))
    return { provider: await this.#answer(id) }
  }

  async remove(id: string): Promise<CommandResults['provider.remove']> {
    if (!this.#find(id).own)
      throw new CoreError(
        'provider/invalid',
        `${id} ships with this server and cannot be removed. Remove its key instead.`,
        { provider: id },
      )
    await this.#options.credentials.remove(id)
    this.#options.state.update<StoredProvider[]>(KEY, (rows = []) => rows.filter((row) => row.id !== id))
    this.#own.get(id)?.()
    this.#own.delete(id)
    this.announce()
    return { provider: id }
  }

  async setKey(id: string, key: string): Promise<CommandResults['credential.set']> {
    this.#find(id)
    if (!/^[\x21-\x7e]+$/.test(key))
      throw new CoreError(
        'credential/invalid',
        'The key holds blanks or characters that no HTTP header can carry. Paste it again without line ends.',
        { provider: id },
      )
    await this.#options.credentials.set(id, key)
    return { provider: await this.#answer(id) }
  }

  async removeKey(id: string): Promise<CommandResults['credential.remove']> {
    this.#find(id)
    await this.#options.credentials.remove(id)
    return { provider: await this.#answer(id) }
  }

  /** One real call of one word, through the same adapter that sessions use. */
  async test(id: string, model?: string): Promise<CommandResults['provider.test']> {
    const { limits, now = Date.now } = this.#options
    const row = this.#find(id)
    const route = this.#route(id)!
    if (model === undefined && row.models.length === 0) await this.#ask(route)
    const chosen = model ?? this.#row(route).models[0]?.id
    const asked = { method: 'POST', url: row.baseURL ?? id, ...(chosen !== undefined && { model: chosen }) }
    if (chosen === undefined) {
      const message = `${row.label} lists no model. Enter a model id to test with.`
      return { ok: false, code: 'UNKNOWN_MODEL', message, asked }
    }
    const started = now()
    const outcome = await oneWord(route, chosen, limits?.test ?? TEST_MS)
    // A server that answers by now may also have a new list.
    void this.#ask(route)
    return testResult(outcome, asked, now() - started)
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
    this.announce()
    return { saved: true, models: this.current() }
  }

  #stored(): StoredProvider[] {
    return (this.#options.state.get(KEY) as StoredProvider[] | undefined) ?? []
  }

  #add(config: ProviderConfig): () => void {
    return this.#options.routes.add(this.#options.makeRoute(config))
  }

  /** As it was registered: what stands in front of the routes for sessions is no part of the list. */
  #route(id: string): Route | undefined {
    return this.#options.routes.list().find((route) => route.id === id)
  }

  /** One provider that cannot be registered must not take the others, or the server, with it. */
  #contained(id: string, add: () => void): void {
    try {
      add()
    } catch (error) {
      const { warn = console.warn } = this.#options
      warn(`the provider ${id} is left out: ${(error as Error).message}`)
    }
  }

  /** Never rejects, and ends by itself; whoever asks meanwhile joins. */
  #ask(route: Route): Promise<void> {
    const running = this.#asking.get(route)
    if (running) return running
    const { ask: limit = ASK_MS } = this.#options.limits ?? {}
    const list = (listed: Listed) => {
      this.#listed.set(route, listed)
      this.announce()
    }
    const answer = (async () => {
      try {
        list({ models: (await route.models()).map(modelView) })
      } catch (error) {
        list({ models: [], problem: (error as Error).message })
      }
    })()
    const asking = within(answer, limit).then((inTime) => {
      this.#asking.delete(route)
      if (inTime) return
      const models = this.#listed.get(route)?.models ?? []
      list({ models, problem: `${route.label} did not list its models within ${limit / 1000} s.` })
    })
    this.#asking.set(route, asking)
    return asking
  }

  /** The row after a change, with its models when they come soon. */
  async #answer(id: string): Promise<ProviderView> {
    this.announce()
    const route = this.#route(id)
    if (route) await within(this.#ask(route), this.#options.limits?.answer ?? ANSWER_MS)
    return this.#find(id)
  }

  #find(id: string): ProviderView {
    const route = this.#route(id)
    if (route) return this.#row(route)
    throw new CoreError('provider/not-found', `There is no model provider "${id}". Add it in Settings > Models.`, {
      provider: id,
    })
  }

  #row(route: Route): ProviderView {
    const config = this.#configOf(route.id)
    const { models = [], problem } = this.#listed.get(route) ?? {}
    const base = {
      id: route.id,
      label: route.label,
      wire: route.wire,
      ...(config && { baseURL: config.baseURL }),
      own: this.#own.has(route.id),
      models,
    }
    try {
      return { ...base, key: this.#keyState(config), ...(problem !== undefined && { problem }) }
    } catch (error) {
      // The file of keys is damaged; the row says so, and everything that needs no key goes on.
      return { ...base, key: 'missing', problem: (error as Error).message }
    }
  }

  #isShipped(id: string): boolean {
    return id === 'demo' || this.#options.shipped.some((config) => config.id === id)
  }

  #configOf(id: string): ProviderConfig | undefined {
    if (!this.#own.has(id)) return this.#options.shipped.find((config) => config.id === id)
    const stored = this.#stored().find((row) => row.id === id)
    return stored && configOf(stored)
  }

  #keyState(config: ProviderConfig | undefined): ProviderView['key'] {
    if (!config?.apiKeyRef) return 'none-needed'
    const { credentials } = this.#options
    if (credentials.has(config.id)) return 'stored'
    return credentials.has(config.apiKeyRef) ? 'environment' : 'missing'
  }
}
