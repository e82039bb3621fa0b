import { describe, expect, test } from 'vitest'
import { draft, type EventType, type LogEvent } from '../wire/events.ts'
import { textOf, type RequestHeader } from '../wire/messages.ts'
import { SessionLog } from '../log/session-log.ts'
import { header, ScriptedModel } from '../turn/turn.fixture.ts'
import { ModelSelection } from './selection.ts'
import { A, B, MemoryDefault, created, rig, turn, type Rig } from './session.fixture.ts'

const requestHeader = (config: RequestHeader['config'], marks?: RequestHeader['adapterDefaults']) =>
  draft('request/header', {
    header: { config, ...(marks && { adapterDefaults: marks }) },
    compositionDigest: 'd',
    reason: 'initial',
  })

const selectionOn = (log: SessionLog, fallback = new MemoryDefault(A)) =>
  new ModelSelection(log, () => fallback.currentSelection())

const live = (from: Rig, id: string) => from.sessions.live(id)!
const ofType = <T extends EventType>(from: Rig, id: string, type: T) =>
  live(from, id).events.filter((event) => event.type === type) as unknown as LogEvent<T>[]
const notices = (from: Rig, id: string) =>
  ofType(from, id, 'user/message').filter(({ data }) => data.message.source.kind === 'model-selection')

describe('which model comes next', () => {
  test('L-02 pending, then the last request, then the default', () => {
    const log = SessionLog.memory(header())
    const selection = selectionOn(log)
    expect([selection.current, selection.source]).toEqual([A, 'default'])
    log.append(requestHeader({ ...B }))
    expect([selection.current, selection.source]).toEqual([B, 'last-request'])
    selection.selectForNextRequest({ provider: 'route-a', model: 'model-a', reasoningEffort: 'high' })
    expect([selection.current, selection.source]).toEqual([{ ...A, reasoningEffort: 'high' }, 'pending'])
  })

  test('L-03 a blank session follows the default, one with history keeps its route', () => {
    const fallback = new MemoryDefault(A)
    const blank = selectionOn(SessionLog.memory(header()), fallback)
    const used = SessionLog.memory(header())
    used.append(requestHeader({ ...A }))
    fallback.selection = B
    expect(blank.current).toEqual(B)
    expect(selectionOn(used, fallback).current).toEqual(A)
  })

  test('L-04 L-09 the event comes first, and every listener of that append already sees the new value', () => {
    const log = SessionLog.memory(header())
    const selection = selectionOn(log)
    const seen: unknown[] = []
    log.observe((events) => seen.push([events[0]!.type, selection.current]))
    selection.selectForNextRequest(B)
    log.append(requestHeader({ ...B }))
    expect(seen).toEqual([
      ['model/selection', B],
      ['request/header', B],
    ])
  })

  test('L-07 a header of A leaves pending B; B of all three consumes it', () => {
    const log = SessionLog.memory(header())
    const selection = selectionOn(log)
    selection.selectForNextRequest(B)
    log.append(requestHeader({ ...A }))
    expect(selection.source).toBe('pending')
    log.append(requestHeader({ ...B }))
    expect([selection.current, selection.source]).toEqual([B, 'last-request'])
  })

  test('L-10 after consumption a new default does not override the history', () => {
    const fallback = new MemoryDefault(A)
    const log = SessionLog.memory(header())
    const selection = selectionOn(log, fallback)
    selection.selectForNextRequest(B)
    log.append(requestHeader({ ...B }))
    fallback.selection = { provider: 'route-c', model: 'model-c' }
    expect(selection.current).toEqual(B)
  })

  test('L-11 an effort that the adapter filled in is not asked for again', () => {
    const log = SessionLog.memory(header())
    log.append(requestHeader({ ...A, reasoningEffort: 'high' }, { reasoningEffort: true }))
    expect(selectionOn(log).current).toEqual(A)
  })
})

test('LH-f a pick waits through a foreign header, and one without effort is consumed by the header it caused', () => {
  const log = SessionLog.memory(header())
  const selection = selectionOn(log)
  selection.selectForNextRequest(B)
  log.append(requestHeader({ ...A }))
  expect(selection.source).toBe('pending')
  log.append(requestHeader({ ...B, reasoningEffort: 'high' }, { reasoningEffort: true }))
  expect([selection.current, selection.source]).toEqual([B, 'last-request'])
})

describe('in a session', () => {
  test('L-01 one selection per agent, restored from the log', async () => {
    const from = await rig()
    const id = await created(from)
    expect(live(from, id).selection.current).toEqual(A)
    await from.sessions.selectModel(id, B, false)
    expect(live(from, id).selection.source).toBe('pending')
  })

  test('L-12 a pick is recorded and saved as the default', async () => {
    const from = await rig()
    const id = await created(from)
    expect(await from.sessions.selectModel(id, B, true)).toEqual({ default: { saved: true } })
    expect(ofType(from, id, 'model/selection')[0]!.data).toEqual(B)
    expect(from.fallback.saves).toEqual([B])
  })

  test('L-13 a default that cannot be saved is one warning; the pick stands', async () => {
    const from = await rig()
    from.fallback.save = async () => {
      throw new Error('read-only config')
    }
    const id = await created(from)
    expect(await from.sessions.selectModel(id, B, true)).toEqual({
      default: { saved: false, reason: 'read-only config' },
    })
    expect(from.warnings).toHaveLength(1)
    expect(live(from, id).selection.current).toEqual(B)
  })

  test.each([
    ['an unknown route', { provider: 'nowhere', model: 'x' }],
    ['an empty id', { provider: 'route-a', model: '' }],
    ['an effort that the card does not offer', { ...A, reasoningEffort: 'extreme' }],
    ['an effort on an unlisted id', { provider: 'route-a', model: 'unlisted', reasoningEffort: 'low' }],
  ])('L-14 %s is refused, nothing is logged, the default untouched', async (_name, pick) => {
    const from = await rig()
    const id = await created(from)
    await expect(from.sessions.selectModel(id, pick, true)).rejects.toMatchObject({
      code: 'session/model-unavailable',
      details: { provider: pick.provider, model: pick.model },
    })
    expect(ofType(from, id, 'model/selection')).toEqual([])
    expect(from.fallback.saves).toEqual([])
  })

  test('L-14 an unlisted id is accepted, and a catalog that fails refuses nothing', async () => {
    const from = await rig()
    const id = await created(from)
    await from.sessions.selectModel(id, { provider: 'route-a', model: 'unlisted' }, false)
    const broken = {
      ...from.routes.get('route-a')!,
      id: 'broken',
      describe: () => Promise.reject(new Error('no catalog')),
    }
    from.routes.add(broken)
    await from.sessions.selectModel(id, { provider: 'broken', model: 'x', reasoningEffort: 'any' }, false)
    expect(live(from, id).selection.current).toEqual({ provider: 'broken', model: 'x', reasoningEffort: 'any' })
  })

  test('L-15 a slow save of the default does not hold up the second switch', async () => {
    const from = await rig()
    const gate = Promise.withResolvers<void>()
    from.fallback.save = () => gate.promise
    const id = await created(from)
    const first = from.sessions.selectModel(id, B, true)
    await from.sessions.selectModel(id, { ...A, reasoningEffort: 'high' }, false)
    expect(ofType(from, id, 'model/selection').map(({ data }) => data.model)).toEqual(['model-b', 'model-a'])
    gate.resolve()
    await expect(first).resolves.toEqual({ default: { saved: true } })
  })

  test('L-16 without any model a prompt is refused and nothing enters the queue', async () => {
    const from = await rig({ fallback: new MemoryDefault() })
    const id = await created(from)
    await expect(from.sessions.prompt(id, 'go', 'queue')).rejects.toMatchObject({
      code: 'session/model-not-configured',
    })
    expect(ofType(from, id, 'agent/inbox/spliced')).toEqual([])
    await expect(from.sessions.create({ workspace: from.workspace, prompt: 'go' })).rejects.toMatchObject({
      code: 'session/model-not-configured',
    })
  })

  test('L-17 a pick that no request used survives a restart', async () => {
    const first = await rig()
    const id = await created(first)
    await first.sessions.selectModel(id, B, false)
    await first.sessions.close()
    const second = await rig({ dataDir: first.dataDir })
    expect((await second.sessions.view(id)).state().model.pending).toEqual(B)
    await turn(second, id)
    expect(ofType(second, id, 'request/header')[0]!.data.header.config).toMatchObject(B)
  })

  test('L-18 a fork follows the copied header or pick', async () => {
    const from = await rig()
    const id = await created(from)
    await from.sessions.selectModel(id, B, false)
    await turn(from, id)
    from.fallback.selection = { provider: 'route-a', model: 'other' }
    const { session } = await from.sessions.fork(id, {})
    expect(live(from, session).selection.current).toEqual(B)
  })

  test('L-19 M-07 an agent without the listeners keeps its own options', async () => {
    const from = await rig()
    const log = SessionLog.memory(header({ id: 'direct' }))
    const { agent } = await from.agents.create({
      id: 'direct',
      log,
      options: { cwd: '/tmp', provider: 'route-b', model: 'model-b' },
    })
    await agent.followup('go')
    await agent.whenIdle()
    expect(log.events.find((event) => event.type === 'request/header')?.data.header.config).toMatchObject(B)
  })
})

describe('prompt and request agree', () => {
  const prompted = async (model = new ScriptedModel({ text: 'done' })) => {
    const from = await rig({ model })
    from.world.prompt.section(null, { name: 'who', order: 5, text: 'You run {{provider}} {{model}}.' })
    return { from, model }
  }

  test('M-01 M-02 a pick made after assembly waits for the next one', async () => {
    const { from, model } = await prompted()
    const id = await created(from)
    const undo = from.hooks.on(null, 'agent/pre-step', async (_event, next) => {
      live(from, id).selection.selectForNextRequest(B)
      undo()
      return next()
    })
    await turn(from, id)
    expect(model.requests[0]!.system).toContain('You run route-a model-a.')
    expect(model.configs[0]).toMatchObject(A)
    await turn(from, id)
    expect(model.requests[1]!.system).toContain('You run route-b model-b.')
    expect(model.configs[1]).toMatchObject(B)
  })

  test('M-03 a pick made before assembly rules both', async () => {
    const { from, model } = await prompted()
    const id = await created(from)
    await from.sessions.selectModel(id, B, false)
    await turn(from, id)
    expect(model.requests[0]!.system).toContain('You run route-b model-b.')
    expect(model.configs[0]).toMatchObject(B)
    expect(live(from, id).selection.assembled).toEqual(B)
  })

  test('M-04 M-06 it is applied after inner handling, and other fields survive', async () => {
    const { from, model } = await prompted()
    const id = await created(from)
    from.hooks.on(null, 'agent/request', async (_event, next) => ({
      ...(await next()),
      provider: 'route-b',
      temperature: 0.2,
    }))
    await turn(from, id)
    expect(model.configs[0]).toMatchObject({ ...A, temperature: 0.2 })
  })

  test('M-05 an inherited effort is removed unless the selection has one', async () => {
    const { from, model } = await prompted()
    const id = await created(from)
    from.hooks.on(null, 'agent/request', async (_event, next) => ({ ...(await next()), reasoningEffort: 'low' }))
    await turn(from, id)
    expect(model.configs[0]).not.toHaveProperty('reasoningEffort')
    await from.sessions.selectModel(id, { ...A, reasoningEffort: 'high' }, false)
    await turn(from, id)
    expect(model.configs[1]).toMatchObject({ reasoningEffort: 'high' })
  })

  test('M-08 disposing removes all three listeners', async () => {
    const { from } = await prompted()
    const id = await created(from)
    const hooks = ['system-prompt/assemble', 'agent/request', 'agent/pre-step'] as const
    expect(hooks.map((name) => from.hooks.has(name))).toEqual([true, true, true])
    await live(from, id).dispose()
    expect(hooks.map((name) => from.hooks.has(name))).toEqual([false, false, false])
  })
})

describe('the notice', () => {
  test('M-09 M-15 names both models, with providers only where they differ, and stays in the history', async () => {
    const model = new ScriptedModel({ text: 'done' })
    const from = await rig({ model })
    const id = await created(from)
    await turn(from, id)
    await from.sessions.selectModel(id, { provider: 'route-a', model: 'other' }, false)
    await turn(from, id)
    await from.sessions.selectModel(id, B, false)
    await turn(from, id)
    expect(notices(from, id).map(({ data }) => data.message.source)).toEqual([
      { kind: 'model-selection', form: 'notice', summary: 'model-a → other' },
      { kind: 'model-selection', form: 'notice', summary: 'route-a/other → route-b/model-b' },
    ])
    expect(model.requests[2]!.messages.filter(({ source }) => source.kind === 'model-selection')).toHaveLength(2)
  })

  test('M-11 none on the first request, for an effort alone, or after a reject', async () => {
    const from = await rig()
    const id = await created(from)
    await from.sessions.selectModel(id, B, false)
    await turn(from, id)
    await from.sessions.selectModel(id, { ...B, reasoningEffort: 'high' }, false)
    await turn(from, id)
    await from.sessions.selectModel(id, A, false)
    const undo = from.hooks.on(null, 'agent/pre-step', async () => ({ kind: 'reject' as const, reason: 'not now' }))
    await turn(from, id)
    undo()
    expect(notices(from, id)).toEqual([])
  })

  test('M-11 none when a hook took out every offered message', async () => {
    const from = await rig()
    const id = await created(from)
    await turn(from, id)
    await from.sessions.selectModel(id, B, false)
    const undo = from.hooks.on(null, 'agent/pre-step', async () => ({ kind: 'enter' as const, messages: [] }))
    await turn(from, id)
    undo()
    expect(notices(from, id)).toEqual([])
  })

  test('M-12 M-10 a tool-continuation step gets it when the route changed meanwhile', async () => {
    const model = new ScriptedModel({ calls: [{ id: 'c1', name: 'pick', arguments: '{}' }] }, { text: 'done' })
    const from = await rig({ model })
    const id = await created(from)
    from.world.tools.add(null, {
      spec: { name: 'pick', description: '', parameters: { type: 'object' } },
      run: async () => {
        live(from, id).selection.selectForNextRequest(B)
        return { content: [{ type: 'text', text: 'picked' }] }
      },
    })
    await turn(from, id)
    expect(notices(from, id).map(({ data }) => data.step)).toEqual([2])
    expect(textOf(notices(from, id)[0]!.data.message)).toContain('route-a/model-a to route-b/model-b')
  })

  test('M-13 a request that fails before its header is logged leaves the notice for the next attempt', async () => {
    const from = await rig()
    const id = await created(from)
    await turn(from, id)
    await from.sessions.selectModel(id, B, false)
    const undo = from.hooks.on(null, 'agent/request', async () => {
      throw new Error('no request today')
    })
    await turn(from, id)
    expect(notices(from, id)).toEqual([])
    undo()
    await turn(from, id)
    expect(notices(from, id)).toHaveLength(1)
  })

  test('M-14 it is outermost: it sees the decision that all others made', async () => {
    const from = await rig()
    const id = await created(from)
    await turn(from, id)
    await from.sessions.selectModel(id, B, false)
    from.hooks.on(null, 'agent/pre-step', async (_event, next) => {
      const decision = await next()
      return decision.kind === 'enter' ? { ...decision, messages: decision.messages.slice(0, 1) } : decision
    })
    await turn(from, id)
    expect(notices(from, id)).toHaveLength(1)
  })

  test('O-26 is switched off in batch runs', async () => {
    const from = await rig({ options: { modelNotice: false } })
    const id = await created(from)
    await turn(from, id)
    await from.sessions.selectModel(id, B, false)
    await turn(from, id)
    expect(notices(from, id)).toEqual([])
  })
})
