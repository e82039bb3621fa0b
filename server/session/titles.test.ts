import { describe, expect, test } from 'vitest'
import { draft, type EventType, type LogEvent } from '../wire/events.ts'
import type { CallConfig, Selection } from '../wire/messages.ts'
import type { BuiltRequest, Failure, PreparedCall, Route, StreamEvent } from '../model/port.ts'
import { formatCassette, parseCassette, type CassetteHead } from '../model/replay/cassette.ts'
import { Player } from '../model/replay/player.ts'
import { Recorder } from '../model/replay/recorder.ts'
import { Routes } from '../model/routes.ts'
import { SessionLog } from '../log/session-log.ts'
import { header, ScriptedModel } from '../turn/turn.fixture.ts'
import { A, created, MemoryDefault, rig, scriptedRoute, turn, type Rig, type RigOptions } from './session.fixture.ts'
import { Titles } from './titles.ts'

const NAMING: Selection = { provider: 'naming', model: 'small', reasoningEffort: 'low' }
const USAGE = { inputTokens: 40, outputTokens: 6 }
const PRICE = { in: 1, out: 2 }

type Answer = string | Failure | { gate: Promise<void>; text: string }

/** A route whose calls are answered in order; the last answer repeats. */
class Naming {
  readonly requests: BuiltRequest[] = []
  readonly configs: CallConfig[] = []
  readonly asked = Promise.withResolvers<void>()
  readonly #answers: Answer[]
  wire: Route['wire'] = 'chat'
  constructor(...answers: Answer[]) {
    this.#answers = answers
  }

  get route(): Route {
    const facts = { ...NAMED, price: PRICE }
    const retry = { mode: 'normal' as const, retries: 1, baseMs: 1, capMs: 5, jitter: 0 }
    const prepare = async (config: CallConfig): Promise<PreparedCall> => {
      this.configs.push(config)
      return { header: { config }, facts, retry, stream: (request) => this.#say(request) }
    }
    return {
      id: 'naming',
      label: 'Naming',
      wire: this.wire,
      retry,
      models: async () => [],
      describe: async () => facts,
      prepare,
    }
  }

  async *#say(request: BuiltRequest): AsyncIterable<StreamEvent> {
    this.requests.push(request)
    this.asked.resolve()
    const answer = this.#answers[Math.min(this.requests.length, this.#answers.length) - 1]!
    if (typeof answer === 'object' && 'code' in answer)
      return yield { t: 'end', finish: { kind: 'error', failure: answer } }
    // Deaf to the abort, as some providers are.
    if (typeof answer === 'object') await answer.gate
    yield { t: 'open', i: 0, kind: 'reasoning' }
    yield { t: 'delta', i: 0, s: 'Which words?' }
    yield { t: 'close', i: 0 }
    yield { t: 'open', i: 1, kind: 'text' }
    yield { t: 'delta', i: 1, s: typeof answer === 'object' ? answer.text : answer }
    yield { t: 'close', i: 1 }
    yield { t: 'usage', usage: USAGE }
    yield { t: 'end', finish: { kind: 'stop' } }
  }
}

const NAMED = {
  id: 'small',
  name: 'Small',
  inputs: ['text' as const],
  reasoning: true,
  efforts: [{ id: 'low' }],
  listed: true,
}

async function titled(naming: Naming, over: RigOptions = {}): Promise<Rig> {
  const from = await rig({ ...over, options: { titles: () => NAMING, ...over.options } })
  from.routes.add(naming.route)
  return from
}

const live = (from: Rig, id: string) => from.sessions.live(id)!
const ofType = <T extends EventType>(from: Rig, id: string, type: T) =>
  live(from, id).events.filter((event) => event.type === type) as unknown as LogEvent<T>[]
const titlesOf = (from: Rig, id: string) => ofType(from, id, 'session/title').map(({ data }) => data)
const asksOf = (from: Rig, id: string) => ofType(from, id, 'session/title-llm-request').map(({ data }) => data)
const rule = (title: string) => ({ title, source: 'rule' })

/** A first turn and the title that was asked for beside it. */
async function firstTurn(from: Rig, text = 'please look into the flaky login test'): Promise<string> {
  const id = await created(from)
  await turn(from, id, text)
  await live(from, id).whenTitled()
  return id
}

describe('the title that a model writes', () => {
  test('replaces the rule title, is cleaned, and its call is in the log with usage and price', async () => {
    const naming = new Naming('\n**Title: “Flaky login test.”**\nand more')
    const from = await titled(naming)
    const id = await firstTurn(from)
    expect(titlesOf(from, id)).toEqual([
      rule('please look into the flaky login test'),
      { title: 'Flaky login test', source: 'model' },
    ])
    expect(live(from, id).state().title).toEqual({ title: 'Flaky login test', source: 'model' })
    const [ask, ...more] = ofType(from, id, 'session/title-llm-request')
    expect(more).toEqual([])
    expect(ask).toMatchObject({ ignorable: true })
    expect(ask!.data).toEqual({
      provider: 'naming',
      model: 'small',
      usage: USAGE,
      price: PRICE,
      ms: expect.any(Number),
      title: 'Flaky login test',
    })
  })

  test('is asked for once, in a lane of its own, without tools or history, after the prompt is on disk', async () => {
    const naming = new Naming('A name')
    const from = await titled(naming)
    const id = await firstTurn(from, 'x'.repeat(1999) + '😀 and the rest')
    const [request] = naming.requests
    expect(request).toMatchObject({ lane: 'title', tools: [], sessionId: id, turn: 1, step: 1, attempt: 1 })
    expect(request!.messages.map(({ role, content }) => ({ role, content }))).toEqual([
      { role: 'user', content: [{ type: 'text', text: `${'x'.repeat(1999)}\ufffd` }] },
    ])
    expect(request!.system).toMatch(/title/)
    expect(naming.configs).toEqual([{ ...NAMING, maxTokens: 400 }])
    await turn(from, id, 'second')
    await live(from, id).whenTitled()
    expect(naming.requests).toHaveLength(1)
  })

  test('holds up neither the prompt nor the turn', async () => {
    const gate = Promise.withResolvers<void>()
    const naming = new Naming({ gate: gate.promise, text: 'Late name' })
    const from = await titled(naming)
    const id = await created(from)
    await turn(from, id, 'first')
    expect(live(from, id).state().lastEnd).toMatchObject({ turn: 1, reason: { kind: 'completed' } })
    expect(titlesOf(from, id)).toEqual([rule('first')])
    gate.resolve()
    await live(from, id).whenTitled()
    expect(live(from, id).state().title?.title).toBe('Late name')
  })

  test('a name that a person gave meanwhile stays, and the call is logged all the same', async () => {
    const gate = Promise.withResolvers<void>()
    const from = await titled(new Naming({ gate: gate.promise, text: 'Late name' }))
    const id = await created(from)
    await turn(from, id, 'first')
    await from.sessions.rename(id, 'Mine')
    gate.resolve()
    await live(from, id).whenTitled()
    expect(live(from, id).state().title).toEqual({ title: 'Mine', source: 'user' })
    expect(asksOf(from, id)).toMatchObject([{ title: 'Late name' }])
  })

  test('two prompts at once are one call, about the first', async () => {
    const naming = new Naming('A name')
    const from = await titled(naming)
    const id = await created(from)
    await Promise.all([from.sessions.prompt(id, 'first', 'queue'), from.sessions.prompt(id, 'second', 'queue')])
    await live(from, id).agent.whenIdle()
    await live(from, id).whenTitled()
    expect(naming.requests.map(({ messages }) => messages[0]!.content)).toEqual([[{ type: 'text', text: 'first' }]])
  })

  test('comes through the retries of its route', async () => {
    const naming = new Naming({ code: 'SERVER', message: 'busy' }, 'Second try')
    const from = await titled(naming)
    const id = await firstTurn(from)
    expect(naming.requests.map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(live(from, id).state().title?.title).toBe('Second try')
    expect(from.warnings).toEqual([])
  })
})

describe('no title from a model', () => {
  test.each<[string, Answer, string]>([
    ['that fails', { code: 'AUTH', message: 'The key was refused.' }, 'AUTH'],
    ['that answers nothing', '```\n``` ', 'EMPTY_RESPONSE'],
  ])('of a provider %s: the rule title stands, the failure is logged, and told once', async (_name, answer, code) => {
    const from = await titled(new Naming(answer))
    const id = await firstTurn(from)
    expect(titlesOf(from, id)).toEqual([rule('please look into the flaky login test')])
    const [ask] = asksOf(from, id)
    expect(ask).toMatchObject({ error: { code } })
    expect(ask).not.toHaveProperty('title')
    await firstTurn(from)
    expect(from.warnings).toEqual([expect.stringMatching(/^naming\/small wrote no title: .*Settings > Models\.$/)])
  })

  test('of a provider that is gone: logged, told, and told again after it worked', async () => {
    const naming = new Naming('A name')
    const from = await rig({ options: { titles: () => NAMING } })
    const gone = await firstTurn(from)
    expect(asksOf(from, gone)).toMatchObject([{ error: { code: 'NO_ADAPTER' } }])
    expect(asksOf(from, gone)[0]).not.toHaveProperty('price')
    expect(live(from, gone).state().lastEnd?.reason).toEqual({ kind: 'completed' })
    const remove = from.routes.add(naming.route)
    await firstTurn(from)
    remove()
    await firstTurn(from)
    expect(from.warnings).toHaveLength(2)
  })

  test('of an adapter that throws: its message is logged, cut', async () => {
    const naming = new Naming('never')
    const from = await rig({ options: { titles: () => NAMING } })
    from.routes.add({ ...naming.route, prepare: () => Promise.reject(new Error('z'.repeat(400))) })
    const id = await firstTurn(from)
    expect(asksOf(from, id)[0]!.error).toEqual({ code: 'UNKNOWN', message: 'z'.repeat(300) })
  })

  test('when none is configured', async () => {
    const naming = new Naming('A name')
    const from = await titled(naming, { options: { titles: () => undefined } })
    const id = await firstTurn(from)
    expect([naming.requests, asksOf(from, id)]).toEqual([[], []])
  })

  test('in the demo, or by it', async () => {
    const naming = new Naming('A name')
    const from = await titled(naming)
    from.routes.add({ ...scriptedRoute('toy', new ScriptedModel({ text: 'done' }), ['toy']), wire: 'demo' })
    const id = await created(from, { selection: { provider: 'toy', model: 'toy', alsoDefault: false } })
    await turn(from, id)
    const byDemo = new Naming('A name')
    byDemo.wire = 'demo'
    const other = await titled(byDemo)
    await firstTurn(other)
    expect([...naming.requests, ...byDemo.requests]).toEqual([])
  })

  test('in a fork, which has the name of its parent', async () => {
    const naming = new Naming('A name')
    const from = await titled(naming)
    const id = await firstTurn(from)
    const { session } = await from.sessions.fork(id, {})
    await turn(from, session)
    await live(from, session).whenTitled()
    expect(naming.requests).toHaveLength(1)
  })

  test('in a session that a person or a model has named', async () => {
    const naming = new Naming('A name')
    const from = await titled(naming)
    const named = await created(from)
    await from.sessions.rename(named, 'Mine')
    await turn(from, named)
    const known = await created(from)
    live(from, known).log.append(draft('session/title', { title: 'Known', source: 'model' }))
    await turn(from, known)
    expect(naming.requests).toEqual([])
  })

  test('later than the first turn', async () => {
    const naming = new Naming('A name')
    let chosen: Selection | undefined
    const from = await titled(naming, { options: { titles: () => chosen } })
    const id = await firstTurn(from)
    chosen = NAMING
    await turn(from, id, 'second')
    await live(from, id).whenTitled()
    expect(naming.requests).toEqual([])
  })
})

describe('over the end of a session', () => {
  test('it is stopped at once, logged as such, and not asked for again after a restart', async () => {
    const gate = Promise.withResolvers<void>()
    const naming = new Naming({ gate: gate.promise, text: 'Too late' })
    const first = await titled(naming)
    const id = await created(first)
    await first.sessions.prompt(id, 'first', 'queue')
    await naming.asked.promise
    await live(first, id).agent.whenIdle()
    await first.sessions.close()
    expect(naming.requests[0]!.signal.aborted).toBe(true)
    gate.resolve()
    const again = new Naming('A name')
    const second = await titled(again, { dataDir: first.dataDir })
    await turn(second, id, 'second')
    await live(second, id).whenTitled()
    expect(again.requests).toEqual([])
    expect(asksOf(second, id)).toMatchObject([{ error: { code: 'ABORTED' } }])
    expect(titlesOf(second, id)).toEqual([rule('first')])
    expect(first.warnings).toEqual([])
  })

  const asker = (over: Partial<ConstructorParameters<typeof Titles>[0]> = {}) => {
    const naming = new Naming('A name')
    const routes = new Routes()
    routes.add(naming.route)
    return { naming, titles: new Titles({ routes, titles: () => NAMING, ...over }) }
  }
  const subject = (log: SessionLog) => ({ id: log.header.id, log, current: A })
  const prompt = (text: string) =>
    draft('agent/inbox/spliced', {
      target: 'next-turn',
      start: 0,
      inserted: [{ id: text, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } }],
    })
  const noted = draft('agent/inbox/spliced', {
    target: 'next-step',
    start: 0,
    inserted: [
      { id: 'n', role: 'user', content: [{ type: 'text', text: 'note' }], source: { kind: 'runtime-context' } },
    ],
  })
  const open = draft('turn/start', { turn: 1 })
  const end = (kind: 'completed' | 'interrupted') => draft('turn/end', { turn: 1, reason: { kind } })

  test('a first turn that a crash cut off is still the first, and the first prompt names it', async () => {
    const { naming, titles } = asker()
    const log = SessionLog.memory(header())
    const wants: boolean[] = []
    for (const event of [prompt('what it is about'), open, end('interrupted'), draft('turn/start', { turn: 2 })]) {
      log.append(event)
      wants.push(titles.wants(subject(log)))
    }
    expect(wants).toEqual([true, true, true, false])
    const other = SessionLog.memory(header())
    other.append(noted, prompt('what it is about'), prompt('go on'), open)
    await titles.write(subject(other), new AbortController().signal)
    expect(naming.requests[0]!.messages[0]!.content).toEqual([{ type: 'text', text: 'what it is about' }])
    expect(titles.wants(subject(other))).toBe(false)
    other.append(end('completed'))
  })

  test.each([
    ['completed', [open, end('completed')], {}],
    ['of a fork', [], { parentSession: 'p' }],
    ['of seeded history', [], { isSeeded: true }],
    ['of a delegated agent', [], { origin: 'subagent' as const }],
  ])('a first turn %s asks for none', (_name, events, over) => {
    const { titles } = asker()
    const log = SessionLog.memory(header(over))
    if (events.length > 0) log.append(...events)
    expect(titles.wants(subject(log))).toBe(false)
  })

  test('one that has ended, has no prompt, or may spend nothing is not asked about', async () => {
    const { naming, titles } = asker()
    const log = SessionLog.memory(header())
    await titles.write(subject(log), new AbortController().signal)
    log.append(prompt('go'))
    await titles.write(subject(log), AbortSignal.abort())
    const poor = asker({ overBudget: async () => ({ code: 'BUDGET_EXCEEDED', message: 'spent' }) })
    await poor.titles.write(subject(log), new AbortController().signal)
    const lost = asker({ overBudget: () => Promise.reject(new Error('no index')) })
    await lost.titles.write(subject(log), new AbortController().signal)
    const ending = new AbortController()
    const slow = asker({ overBudget: () => new Promise(() => {}) })
    const waiting = slow.titles.write(subject(log), ending.signal)
    ending.abort()
    await waiting
    expect([naming, poor.naming, lost.naming, slow.naming].flatMap(({ requests }) => requests)).toEqual([])
    expect(log.events).toHaveLength(1)
    const rich = asker({ overBudget: async () => undefined })
    await rich.titles.write(subject(log), new AbortController().signal)
    expect(rich.naming.requests).toHaveLength(1)
  })

  test('the time of the call is told in whole ms, and a log that takes nothing more is no failure', async () => {
    const times = [1000, 1250.4]
    const { titles } = asker({ now: () => times.shift()! })
    const log = SessionLog.memory(header())
    log.append(prompt('go'))
    await titles.write(subject(log), new AbortController().signal)
    expect(log.events.find((event) => event.type === 'session/title-llm-request')?.data.ms).toBe(250)
    const closed = SessionLog.memory(header())
    closed.append(prompt('go'))
    closed.append = () => {
      throw new Error('read-only')
    }
    await expect(asker().titles.write(subject(closed), new AbortController().signal)).resolves.toBeUndefined()
  })
})

describe('replay', () => {
  const HEAD: CassetteHead = {
    k: 'cassette',
    v: 1,
    origin: 'scripted',
    scenario: 'titles',
    recorder: 'test',
    tokens: [],
    norm: 1,
  }

  async function recorded(): Promise<string> {
    const recorder = new Recorder({ head: HEAD, tokens: () => ({}) })
    const from = await titled(new Naming('Named by a model'))
    from.routes.decorate((route) => recorder.wrap(route))
    const id = await firstTurn(from)
    await turn(from, id, 'second')
    return formatCassette(recorder.cassette())
  }

  async function replayed(text: string, naming: Selection = NAMING) {
    const player = new Player(parseCassette(text, 'titles.jsonl'), { tokens: () => ({}) })
    const from = await rig({ fallback: new MemoryDefault(A), options: { titles: () => naming } })
    from.routes.decorate((route) => player.routes().find(({ id }) => id === route.id) ?? route)
    if (player.routes().some(({ id }) => id === 'naming')) from.routes.add(new Naming('live').route)
    const id = await firstTurn(from)
    await turn(from, id, 'second')
    return { from, id, player }
  }

  test('a session with a title is played again without a provider', async () => {
    const text = await recorded()
    const lanes = parseCassette(text, 'f').calls.map(({ head }) => [head.lane, head.n])
    expect(lanes.toSorted()).toEqual([
      ['main', 0],
      ['main', 1],
      ['title', 0],
    ])
    const { from, id, player } = await replayed(text)
    expect([player.misses, player.unused()]).toEqual([[], []])
    expect(live(from, id).state().title).toEqual({ title: 'Named by a model', source: 'model' })
    expect(ofType(from, id, 'assistant/message')).toHaveLength(2)
  })

  test('a recording without that lane leaves the rule title and says so; the turns are played', async () => {
    const cassette = parseCassette(await recorded(), 'f')
    const main = { ...cassette, calls: cassette.calls.filter(({ head }) => head.lane === 'main') }
    for (const [naming, code, said] of [
      [NAMING, 'NO_ADAPTER', /"naming"/],
      [A, 'UNKNOWN', /lane title is not in the cassette; lane title has no more recorded calls/],
    ] as const) {
      const { from, id, player } = await replayed(formatCassette(main), naming)
      expect(titlesOf(from, id)).toEqual([rule('please look into the flaky login test')])
      expect(asksOf(from, id)).toMatchObject([{ error: { code, message: expect.stringMatching(said) } }])
      expect(from.warnings).toEqual([expect.stringMatching(said)])
      expect(player.unused()).toEqual([])
      expect(ofType(from, id, 'turn/end').map(({ data }) => data.reason.kind)).toEqual(['completed', 'completed'])
    }
  })
})
