import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextRound } from 'node:timers/promises'
import { effortCard, fillHeader, stripMarked } from '../../server/model/header.ts'
import type { BuiltRequest, ModelFacts, Route, StreamEvent } from '../../server/model/port.ts'
import { sameSelection, selectionOf } from '../../server/projection/model-selection.ts'
import { request as requestFold } from '../../server/projection/request.ts'
import { sessionState, type SessionState } from '../../server/projection/session-state.ts'
import { MemoryDefault, rig, type Rig } from '../../server/session/session.fixture.ts'
import type { LogEvent } from '../../server/wire/events.ts'
import type { RequestHeader, Selection } from '../../server/wire/messages.ts'
import type { ModelsView } from '../../server/wire/views.ts'
import { effective } from '../../web/src/models/selection.ts'

/** How one attempt of the model goes; `ticks` pass before it ends. */
export interface Say {
  how: 'text' | 'tool' | 'busy' | 'refused'
  ticks: number
}

/** Lets others go first: mostly for a microtask, now and then for a round of the event loop. */
export async function pass(ticks: number): Promise<void> {
  for (let tick = 1; tick <= ticks; tick++) await (tick % 4 === 0 ? nextRound() : Promise.resolve())
}

const overTheWire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
export const words = (selection: Selection | undefined): string =>
  selection ? [selection.provider, selection.model, selection.reasoningEffort ?? '-'].join('/') : 'none'

/** An attached page without its pixels: the snapshot, what came after it, and the page's own rule of what comes next. */
class Page {
  state: SessionState
  readonly #fallback: MemoryDefault

  constructor(state: SessionState, fallback: MemoryDefault) {
    this.state = overTheWire(state)
    this.#fallback = fallback
  }

  hear(events: readonly LogEvent[]): void {
    for (const event of events) {
      if (event.seq <= this.state.seq) continue
      if (event.seq !== this.state.seq + 1) throw new Error(`a page missed the events before ${event.seq}`)
      this.state = sessionState.apply(this.state, overTheWire(event))
    }
  }

  get shown(): Selection | undefined {
    const selection = this.#fallback.currentSelection()
    const models = { providers: [], recent: [], ...(selection && { default: selection }) } as unknown as ModelsView
    return effective(this.state, models).selection
  }
}

/** The rule in a person's words, without the folds: the last pick, else what the last request asked for, else the default. */
function byHand(events: readonly LogEvent[], fallback: Selection | undefined): Selection | undefined {
  const picked = events.findLast((event) => event.type === 'model/selection')
  if (picked?.type === 'model/selection') return picked.data
  const sent = events.findLast((event) => event.type === 'request/header')
  if (sent?.type !== 'request/header') return fallback
  const { config, adapterDefaults } = sent.data.header
  const { reasoningEffort, provider, model } = config
  const asked = reasoningEffort !== undefined && !adapterDefaults?.reasoningEffort
  return { provider, model, ...(asked && { reasoningEffort }) }
}

const RETRY = { mode: 'normal' as const, retries: 3, baseMs: 0, capMs: 0, jitter: 0 }

/** One session on a real log, two pages on it, and a model of two providers that answers as it was told. */
export class World {
  readonly wrong: string[] = []
  /** What each request used. */
  readonly used: Selection[] = []
  readonly fallback = new MemoryDefault({ provider: 'route-a', model: 'model-a' })
  readonly #root: string
  #answers: readonly Say[]
  #rig!: Rig
  #pages: Page[] = []
  #expected: Selection | undefined
  id = ''

  private constructor(root: string, answers: readonly Say[]) {
    this.#root = root
    this.#answers = answers
    this.fallback.save = () => pass(3)
  }

  static async start(root: string, answers: readonly Say[]): Promise<World> {
    const world = new World(mkdtempSync(join(root, 'run-')), answers)
    mkdirSync(join(world.#root, 'work'))
    await world.#boot()
    const { sessions, workspace } = world.#rig
    world.id = (await sessions.create({ workspace })).session
    await world.#attach()
    return world
  }

  get sessions(): Rig['sessions'] {
    return this.#rig.sessions
  }

  get pages(): readonly Page[] {
    return this.#pages
  }

  rest(): Promise<void> {
    return this.sessions.live(this.id)?.agent.whenIdle() ?? Promise.resolve()
  }

  async restart(): Promise<void> {
    await this.#close()
    await this.#boot()
    // A blank session has no file yet: it is made again under its id, as the page's command is sent again.
    if (!(await this.#rig.store.exists(this.id)))
      await this.sessions.create({ workspace: this.#rig.workspace, session: this.id })
    await this.#attach()
  }

  /** A page that opens the session now. */
  async fresh(): Promise<Page> {
    const view = await this.sessions.view(this.id)
    const page = new Page(view.state(), this.fallback)
    view.release()
    return page
  }

  async end(): Promise<void> {
    await this.#close()
    rmSync(this.#root, { recursive: true, force: true })
  }

  async #close(): Promise<void> {
    await this.sessions.close()
    await this.#rig.store.close()
  }

  async #boot(): Promise<void> {
    const routes = [this.#route('route-a', 'model-a'), this.#route('route-b', 'model-b', 'low')]
    const { fallback } = this
    this.#rig = await rig({ dataDir: join(this.#root, 'data'), work: join(this.#root, 'work'), routes, fallback })
    const { hooks, world, sessions } = this.#rig
    world.prompt.section(null, { name: 'who', order: 5, text: 'You run {{provider}} {{model}}.' })
    world.tools.add(null, {
      spec: { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
      run: async () => {
        await pass(3)
        return { content: [{ type: 'text', text: 'seen' }] }
      },
    })
    hooks.on(null, 'system-prompt/assemble', async (_event, next) => {
      this.#expect()
      await pass(2)
      return next()
    })
    hooks.on(null, 'agent/pre-step', async (_event, next) => {
      await pass(2)
      return next()
    })
    sessions.feeds.add({
      events: (_session, events) => this.#pages.forEach((page) => page.hear(events)),
      delta() {},
      output() {},
      writer() {},
      rows() {},
    })
  }

  /** Two pages; those that were there before only ask for what they have missed. */
  async #attach(): Promise<void> {
    const view = await this.sessions.view(this.id)
    if (this.#pages.length === 0) this.#pages = [0, 1].map(() => new Page(view.state(), this.fallback))
    for (const page of this.#pages) page.hear(view.events)
  }

  /** An assembly begins: what the pages show now is what its request must use. */
  #expect(): void {
    const [one, other] = this.#pages.map(({ shown }) => shown)
    if (words(one) !== words(other)) this.wrong.push(`two pages show ${words(one)} and ${words(other)}`)
    const ruled = byHand(this.sessions.live(this.id)!.events, this.fallback.currentSelection())
    if (words(one) !== words(ruled)) this.wrong.push(`the pages show ${words(one)} where it should be ${words(ruled)}`)
    this.#expected = one
  }

  #route(id: string, listed: string, fills?: string): Route {
    const describe = async (model: string): Promise<ModelFacts> => ({
      id: model,
      name: model,
      inputs: ['text'],
      reasoning: model === listed,
      efforts: model === listed ? ['low', 'high'].map((each) => ({ id: each, default: each === fills })) : [],
      listed: model === listed,
    })
    return {
      id,
      label: id,
      wire: 'chat',
      retry: RETRY,
      models: async () => [await describe(listed)],
      describe,
      prepare: async (config) => {
        const facts = await describe(config.model)
        effortCard(facts, config.reasoningEffort)
        await pass(2)
        const header = fillHeader(config, facts)
        return { header, facts, retry: RETRY, stream: (request) => this.#answer({ id, header, request }) }
      },
    }
  }

  async *#answer(asked: { id: string; header: RequestHeader; request: BuiltRequest }): AsyncIterable<StreamEvent> {
    this.#judge(asked)
    const [say = { how: 'text', ticks: 0 }, ...rest] = this.#answers
    this.#answers = rest
    await pass(say.ticks)
    if (say.how === 'busy' || say.how === 'refused') {
      const code = say.how === 'busy' ? 'SERVER' : 'AUTH'
      return yield { t: 'end', finish: { kind: 'error', failure: { code, message: say.how } } }
    }
    yield { t: 'open', i: 0, kind: 'text' }
    yield { t: 'delta', i: 0, s: 'ok' }
    yield { t: 'close', i: 0 }
    if (say.how === 'text') return yield { t: 'end', finish: { kind: 'stop' } }
    yield { t: 'open', i: 1, kind: 'tool', callId: `call-${this.used.length}`, name: 'look' }
    yield { t: 'delta', i: 1, s: '{}' }
    yield { t: 'close', i: 1 }
    yield { t: 'end', finish: { kind: 'tool-calls' } }
  }

  /** At the moment of dispatch: prompt, route, config, logged header, and what the pages showed. */
  #judge({ id, header, request }: { id: string; header: RequestHeader; request: BuiltRequest }): void {
    const asked = stripMarked(header)
    this.used.push(selectionOf(header))
    const logged = this.sessions.live(this.id)!.log.state(requestFold).header
    const told = /You run (\S+) (\S+)\./.exec(request.system)
    const all = {
      prompt: `${told?.[1]}/${told?.[2]}/${asked.reasoningEffort ?? '-'}`,
      route: words({ ...asked, provider: id }),
      asked: words(asked),
      logged: words(logged ? selectionOf(logged) : undefined),
      shown: words(this.#expected),
    }
    const sent = logged && sameSelection(logged.config, header.config)
    if (new Set(Object.values(all)).size > 1 || !sent) this.wrong.push(JSON.stringify(all))
  }
}

/** A folder for many short-lived logs: in memory where the system has such a place. */
export function fastFolder(): { path: string; remove(): void } {
  const place = process.platform === 'linux' ? '/dev/shm' : tmpdir()
  const make = (parent: string) => realpathSync(mkdtempSync(join(parent, 'core-web-models-')))
  let path: string
  try {
    path = make(place)
  } catch {
    // No such place, or not for us.
    path = make(tmpdir())
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
