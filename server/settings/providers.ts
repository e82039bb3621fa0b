import { CoreError } from '../wire/errors.ts'
import { newId } from '../wire/ids.ts'
import type { CommandResults, ParsedArgs } from '../wire/commands.ts'
import type { Selection } from '../wire/messages.ts'
import type { ModelsView, ProviderView } from '../wire/views.ts'
import type { Credentials } from '../credential/credentials.ts'
import type { ModelCard, Route } from '../model/port.ts'
import type { ProviderConfig } from '../model/adapters/config.ts'
import type { Routes } from '../model/routes.ts'
import type { StateStore } from '../workspace/state.ts'

const KEY = 'providers'

type Stored = {
  id: string
  label: string
  wire: 'chat' | 'responses' | 'messages' | 'gemini'
  baseURL: string
  keyless: boolean
  models?: string[]
}

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
  now?: () => number
}

/** Model providers as a person configures them: routes, write-only keys, the deployment default. */
export class Providers {
  readonly #options: ProvidersOptions
  readonly #added = new Map<string, () => void>()
  readonly #observers = new Set<(view: ModelsView) => void>()
  #view: ModelsView = { providers: [] }
  #refreshing: Promise<void> = Promise.resolve()

  constructor(options: ProvidersOptions) {
    this.#options = options
  }

  /** Registers every configured route; answers once the first view is made. */
  async start(): Promise<void> {
    for (const config of this.#options.shipped) this.#add(config)
    const { own = true } = this.#options
    if (own) for (const stored of this.#stored()) this.#add(configOf(stored))
    await this.refresh()
  }

  current(): ModelsView {
    const selection = this.#options.defaultModel.currentSelection()
    return { ...this.#view, ...(selection && { default: selection }) }
  }

  onChange(observer: (view: ModelsView) => void): () => void {
    this.#observers.add(observer)
    return () => this.#observers.delete(observer)
  }

  /** Asks every route for its models again; a route that fails keeps its row and says why. */
  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.then(async () => {
      const routes = this.#options.routes.list()
      this.#view = { providers: await Promise.all(routes.map((route) => this.#row(route))) }
      for (const observer of this.#observers) observer(this.current())
    })
    return this.#refreshing
  }

  async save(args: ParsedArgs<'provider.save'>): Promise<CommandResults['provider.save']> {
    if (this.#options.shipped.some(({ id }) => id === args.id) || args.id === 'demo')
      throw new CoreError('provider/invalid', `"${args.id}" is the id of a shipped provider. Choose another id.`, {
        provider: args.id,
      })
    const { models, ...rest } = args
    const stored: Stored = { ...rest, ...(models && { models }) }
    this.#options.state.update<Stored[]>(KEY, (rows = []) => [...rows.filter(({ id }) => id !== args.id), stored])
    this.#added.get(args.id)?.()
    this.#add(configOf(stored))
    await this.refresh()
    return { provider: this.#find(args.id) }
  }

  async remove(id: string): Promise<CommandResults['provider.remove']> {
    if (!this.#find(id).own)
      throw new CoreError(
        'provider/invalid',
        `${id} ships with this server and cannot be removed. Remove its key instead.`,
        { provider: id },
      )
    this.#options.state.update<Stored[]>(KEY, (rows = []) => rows.filter((row) => row.id !== id))
    this.#added.get(id)?.()
    this.#added.delete(id)
    await this.#options.credentials.remove(id)
    await this.refresh()
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
    await this.refresh()
    return { provider: this.#find(id) }
  }

  async removeKey(id: string): Promise<CommandResults['credential.remove']> {
    this.#find(id)
    await this.#options.credentials.remove(id)
    await this.refresh()
    return { provider: this.#find(id) }
  }

  /** One real call of one word, through the same adapter that sessions use. */
  async test(id: string, model?: string): Promise<CommandResults['provider.test']> {
    const row = this.#find(id)
    const route = this.#options.routes.get(id)!
    const chosen = model ?? row.models[0]?.id ?? (await route.models().catch(() => []))[0]?.id
    const asked = { method: 'POST', url: row.baseURL ?? id, ...(chosen !== undefined && { model: chosen }) }
    if (chosen === undefined)
      return {
        ok: false,
        code: 'UNKNOWN_MODEL',
        message: `${row.label} lists no model. Enter a model id to test with.`,
        asked,
      }
    const { now = Date.now } = this.#options
    const started = now()
    const outcome = await oneWord(route, chosen)
    const ms = now() - started
    if ('text' in outcome)
      return {
        ok: true,
        message: `${chosen} answered in ${ms} ms.`,
        asked,
        answered: { ms, text: outcome.text.slice(0, 200) },
      }
    const { code, message, status } = outcome.failure
    return { ok: false, code, message, asked, answered: { ms, ...(status !== undefined && { status }) } }
  }

  async saveDefault(selection: Selection): Promise<CommandResults['model.default']> {
    const route = this.#options.routes.get(selection.provider)
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
    await this.refresh()
    return { saved: true, models: this.current() }
  }

  #stored(): Stored[] {
    return (this.#options.state.get(KEY) as Stored[] | undefined) ?? []
  }

  #add(config: ProviderConfig): void {
    this.#added.set(config.id, this.#options.routes.add(this.#options.makeRoute(config)))
  }

  #find(id: string): ProviderView {
    const row = this.#view.providers.find((candidate) => candidate.id === id)
    if (row) return row
    throw new CoreError('provider/not-found', `There is no model provider "${id}". Add it in Settings > Models.`, {
      provider: id,
    })
  }

  async #row(route: Route): Promise<ProviderView> {
    const config = this.#options.shipped.find(({ id }) => id === route.id) ?? this.#storedConfig(route.id)
    const base = {
      id: route.id,
      label: route.label,
      wire: route.wire,
      ...(config && { baseURL: config.baseURL }),
      key: this.#keyState(config),
      own: config !== undefined && !this.#options.shipped.some(({ id }) => id === route.id),
    }
    try {
      return { ...base, models: (await route.models()).map(modelView) }
    } catch (error) {
      return { ...base, models: [], problem: (error as Error).message }
    }
  }

  #storedConfig(id: string): ProviderConfig | undefined {
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

const configOf = ({ id, label, wire, baseURL, keyless, models }: Stored): ProviderConfig => ({
  id,
  label,
  wire,
  baseURL,
  ...(!keyless && { apiKeyRef: id }),
  // Without ids of a person's own, the endpoint is asked for its list.
  ...(models
    ? { models: models.map((model) => ({ id: model, name: model, inputs: ['text'], reasoning: false, efforts: [] })) }
    : { discover: true }),
})

const modelView = (card: ModelCard): ProviderView['models'][number] => ({
  id: card.id,
  name: card.name,
  ...(card.contextWindow !== undefined && { contextWindow: card.contextWindow }),
  inputs: card.inputs,
  reasoning: card.reasoning,
  efforts: card.efforts.map(({ id, default: byDefault }) => ({ id, ...(byDefault && { default: true }) })),
  ...(card.price && { price: { in: card.price.in, out: card.price.out } }),
})

async function oneWord(
  route: Route,
  model: string,
): Promise<{ text: string } | { failure: { code: string; message: string; status?: number } }> {
  const signal = AbortSignal.timeout(30_000)
  let text = ''
  try {
    const call = await route.prepare({ provider: route.id, model, maxTokens: 16 }, signal)
    const content = [{ type: 'text' as const, text: 'Reply with the word OK.' }]
    const stream = call.stream({
      system: '',
      messages: [{ id: newId(), role: 'user', content, source: { kind: 'user' } }],
      tools: [],
      signal,
      sessionId: 'connection-test',
      lane: 'test',
      turn: 0,
      step: 0,
      attempt: 1,
    })
    for await (const event of stream) {
      if (event.t === 'delta') text += event.s
      if (event.t === 'end' && (event.finish.kind === 'error' || event.finish.kind === 'aborted'))
        return { failure: event.finish.failure }
    }
    return { text }
  } catch (error) {
    const failure = (error as { failure?: { code: string; message: string } }).failure
    return { failure: failure ?? { code: 'UNKNOWN', message: (error as Error).message } }
  }
}
