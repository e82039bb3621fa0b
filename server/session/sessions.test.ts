import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { draft, type LogEvent } from '../wire/events.ts'
import type { ScopeKey } from '../scope/scope.ts'
import { CoreError } from '../wire/errors.ts'
import { ScriptedModel } from '../turn/turn.fixture.ts'
import type { Presets } from './ports.ts'
import { A, B, MemoryDefault, created, rig, turn, type Rig } from './session.fixture.ts'

/** Presets by name: `broken` is broken, `gone` is unknown. */
class FakePresets implements Presets {
  readonly mounted = new Map<ScopeKey, string>()
  readonly order: string[] = []
  known = new Set(['standard', 'minimal', 'broken'])
  async resolve(id = 'standard') {
    if (!this.known.has(id))
      throw new CoreError('agent-preset/not-found', `There is no preset "${id}".`, {
        agentPreset: id,
        available: [...this.known],
      })
    return id === 'broken' ? { id, broken: 'row x: never started' } : { id }
  }
  async mount(scope: ScopeKey, id = 'standard') {
    const { broken } = await this.resolve(id)
    if (broken) throw new CoreError('agent-preset/invalid', broken, { agentPreset: id, reason: broken })
    this.order.push(`mount ${id}`)
    this.mounted.set(scope, id)
    return id
  }
  async leave(scope: ScopeKey) {
    this.mounted.delete(scope)
  }
  async select(agent: Parameters<Presets['select']>[0], id: string) {
    await this.mount(agent.scope, id)
    agent.log.append({ type: 'agent-preset/selected', data: { agentPreset: id } })
    return id
  }
  declarationDigest(scope: ScopeKey) {
    return this.mounted.get(scope)
  }
  composition(scope: ScopeKey) {
    const preset = this.mounted.get(scope)
    return preset === undefined ? undefined : { preset, generation: 1, digest: preset }
  }
  generations() {
    return []
  }
  generationOf() {
    return 1
  }
  async describe() {
    return { sections: [], contexts: [], tools: [], services: [], tokens: { prompt: 0, tools: 0 } }
  }
  onChange() {
    return () => {}
  }
}

const withPresets = async (options: Parameters<typeof rig>[0] = {}) => {
  const presets = new FakePresets()
  return { presets, from: await rig({ ...options, presets }) }
}
const live = (from: Rig, id: string) => from.sessions.live(id)!
const types = (events: readonly LogEvent[]) => events.map(({ type }) => type)
const files = (from: Rig) =>
  existsSync(join(from.dataDir, 'sessions'))
    ? readdirSync(join(from.dataDir, 'sessions'), { recursive: true }).filter((name) =>
        String(name).endsWith('log.jsonl'),
      )
    : []

describe('creating', () => {
  test('A-03 a bare agent has neither preset nor selection listeners', async () => {
    const { from } = await withPresets()
    const log = from.store.create({
      type: 'session',
      version: 1,
      id: 'bare',
      createdAt: 1,
      cwd: '/tmp',
      isSeeded: false,
      writer: 't',
    })
    const { agent, dispose } = await from.agents.create({ id: 'bare', log, options: { cwd: '/tmp' } })
    expect(from.hooks.has('agent/request')).toBe(false)
    expect(agent.phase).toBe('idle')
    await dispose()
  })

  test('A-04 the entry installs the selection first and mounts the preset second', async () => {
    const { from, presets } = await withPresets()
    let listening: boolean | undefined
    const mount = presets.mount.bind(presets)
    presets.mount = async (scope, id) => {
      listening = from.hooks.has('system-prompt/assemble')
      return mount(scope, id)
    }
    await created(from, { preset: 'minimal' })
    expect(listening).toBe(true)
    expect(presets.order).toEqual(['mount minimal'])
  })

  test('A-05 without presets the selection is installed and the header names none', async () => {
    const from = await rig()
    const result = await from.sessions.create({ workspace: from.workspace })
    expect(result).not.toHaveProperty('preset')
    expect(live(from, result.session).header).not.toHaveProperty('agentPreset')
    expect(from.hooks.has('agent/request')).toBe(true)
  })

  test('A-06 nothing is visible until setup has settled; a throwing one leaves the id free', async () => {
    const { from, presets } = await withPresets()
    const gate = Promise.withResolvers<void>()
    const mount = presets.mount.bind(presets)
    const entered = Promise.withResolvers<void>()
    presets.mount = async (scope, id) => {
      entered.resolve()
      await gate.promise
      return mount(scope, id)
    }
    const pending = from.sessions.create({ session: 'one', workspace: from.workspace })
    await entered.promise
    expect(from.agents.get('one')).toBeUndefined()
    expect(from.sessions.live('one')).toBeUndefined()
    gate.reject(new Error('setup failed'))
    await expect(pending).rejects.toThrow('setup failed')
    presets.mount = mount
    await expect(from.sessions.create({ session: 'one', workspace: from.workspace })).resolves.toMatchObject({
      session: 'one',
    })
  })

  test('A-08 the resolved preset is in the header and the answer', async () => {
    const { from } = await withPresets()
    const standard = await from.sessions.create({ workspace: from.workspace })
    const minimal = await from.sessions.create({ workspace: from.workspace, preset: 'minimal' })
    expect([standard.preset, minimal.preset]).toEqual(['standard', 'minimal'])
    expect(live(from, minimal.session).header.agentPreset).toBe('minimal')
  })

  test('A-09 an unknown preset is refused with what there is, and no session exists', async () => {
    const { from } = await withPresets()
    await expect(
      from.sessions.create({ session: 'x', workspace: from.workspace, preset: 'gone' }),
    ).rejects.toMatchObject({
      code: 'agent-preset/not-found',
      details: { agentPreset: 'gone', available: ['standard', 'minimal', 'broken'] },
    })
    expect(from.agents.list()).toEqual([])
    await expect(from.sessions.view('x')).rejects.toMatchObject({ code: 'session/not-found' })
  })

  test('A-10 a broken preset rolls back: no live agent, no log', async () => {
    const { from } = await withPresets()
    await expect(
      from.sessions.create({ workspace: from.workspace, preset: 'broken', prompt: 'go' }),
    ).rejects.toMatchObject({
      code: 'agent-preset/invalid',
      details: { agentPreset: 'broken', reason: 'row x: never started' },
    })
    expect([from.agents.list(), files(from)]).toEqual([[], []])
  })

  test('A-11 the same id under another preset conflicts; naming none adopts, live or stored', async () => {
    const { from } = await withPresets()
    await created(from, { session: 'one', preset: 'standard' })
    await from.sessions.selectPreset('one', 'minimal')
    const conflict = {
      code: 'agent-preset/conflict',
      details: { sessionId: 'one', requestedPreset: 'standard', existingPreset: 'minimal' },
    }
    await expect(
      from.sessions.create({ session: 'one', workspace: from.workspace, preset: 'standard' }),
    ).rejects.toMatchObject(conflict)
    await turn(from, 'one')
    await from.sessions.close()
    const second = await withPresets({ dataDir: from.dataDir })
    await expect(
      second.from.sessions.create({ session: 'one', workspace: second.from.workspace, preset: 'standard' }),
    ).rejects.toMatchObject(conflict)
    await expect(second.from.sessions.create({ session: 'one' })).resolves.toMatchObject({ preset: 'minimal' })
  })

  test('A-11 a session without a preset has no existingPreset to name', async () => {
    const first = await rig()
    await created(first, { session: 'one' })
    await turn(first, 'one')
    await first.sessions.close()
    const { from } = await withPresets({ dataDir: first.dataDir })
    const refusal = await from.sessions.create({ session: 'one', preset: 'minimal' }).catch((error: CoreError) => error)
    expect(refusal).toMatchObject({ code: 'agent-preset/conflict', details: { requestedPreset: 'minimal' } })
    expect((refusal as CoreError).details).not.toHaveProperty('existingPreset')
  })

  test('A-12 two creates of one id share one creation, two prompts to a cold one share one resume', async () => {
    const { from, presets } = await withPresets()
    await Promise.all([created(from, { session: 'one' }), created(from, { session: 'one' })])
    expect(presets.order).toHaveLength(1)
    await turn(from, 'one')
    await from.sessions.close()
    const second = await withPresets({ dataDir: from.dataDir })
    await Promise.all([
      second.from.sessions.prompt('one', 'a', 'queue'),
      second.from.sessions.prompt('one', 'b', 'queue'),
    ])
    expect(second.presets.order).toHaveLength(1)
  })

  test('A-01 A-02 switching the preset keeps the pick, and a new default moves no used session', async () => {
    const { from } = await withPresets()
    const id = await created(from, { selection: B })
    await from.sessions.selectPreset(id, 'minimal')
    expect(live(from, id).selection.current).toEqual(B)
    await turn(from, id)
    from.fallback.selection = { provider: 'route-a', model: 'later' }
    expect(live(from, id).selection.current).toEqual(B)
  })

  const PINS = {
    pins: () => [draft('sandbox/mode', { mode: 'full' as const })],
    chosen: () => [],
    changed: async () => {},
  }

  test('SL-08 a session that is only opened and looked at leaves nothing on disk', async () => {
    const from = await rig({ options: { permissions: PINS } })
    const id = await created(from)
    await from.sessions.view(id)
    expect(files(from)).toEqual([])
    await turn(from, id)
    expect(files(from)).toHaveLength(1)
    expect(types(live(from, id).events)[0]).toBe('sandbox/mode')
  })

  test('without a workspace only the demo has a folder of its own', async () => {
    const from = await rig()
    await expect(from.sessions.create({})).rejects.toMatchObject({ code: 'workspace/not-found' })
  })
})

test('A-07 an entry of its own, without the session setup, does not inherit the precedence of sessions', async () => {
  const { from } = await withPresets()
  const log = from.store.create({
    type: 'session',
    version: 1,
    id: 'own',
    createdAt: 1,
    cwd: '/tmp',
    isSeeded: false,
    writer: 't',
  })
  const { agent, dispose } = await from.agents.create({ id: 'own', log, options: { cwd: '/tmp', ...B } })
  await agent.followup('go')
  await agent.whenIdle()
  const headers = log.events.filter((event) => event.type === 'request/header')
  expect(headers.map(({ data }) => data.header.config.model)).toEqual(['model-b'])
  await dispose()
})

describe('continuing', () => {
  test('B16 B15 model and effort of the last request hold after a restart', async () => {
    const first = await rig()
    const id = await created(first)
    await first.sessions.selectModel(id, { ...B, reasoningEffort: 'high' }, false)
    await turn(first, id)
    await first.sessions.close()
    const from = await rig({ dataDir: first.dataDir, fallback: new MemoryDefault(A) })
    await turn(from, id)
    const headers = live(from, id).events.filter((event) => event.type === 'request/header')
    expect(
      headers.map(({ data }) => [data.header.config.model, data.header.config.reasoningEffort, data.reason]),
    ).toEqual([
      ['model-b', 'high', 'initial'],
      ['model-b', 'high', 'resume'],
    ])
  })

  test('H-09 H-16 a resume composes from the projection; a broken preset opens read-only and refuses with its reason', async () => {
    const first = await withPresets()
    const id = await created(first.from, { preset: 'standard' })
    await first.from.sessions.selectPreset(id, 'minimal')
    await turn(first.from, id)
    await first.from.sessions.close()
    const second = await withPresets({ dataDir: first.from.dataDir })
    await turn(second.from, id)
    expect(second.presets.mounted.get(live(second.from, id).agent)).toBe('minimal')
    await second.from.sessions.close()
    const third = await withPresets({ dataDir: first.from.dataDir })
    third.presets.known = new Set(['standard'])
    const view = await third.from.sessions.view(id)
    expect(view.events.length).toBeGreaterThan(5)
    expect(view.readOnly()).toMatchObject({ code: 'agent-preset/not-found' })
    await expect(third.from.sessions.prompt(id, 'go', 'queue')).rejects.toMatchObject({
      code: 'agent-preset/not-found',
    })
    const fork = await third.from.sessions.fork(id, { preset: 'standard' })
    expect(live(third.from, fork.session).state().preset.current).toBe('standard')
  })

  test('a cold view follows into the live session without gap or repeat', async () => {
    const first = await rig()
    const id = await created(first)
    await turn(first, id)
    await first.sessions.close()
    const from = await rig({ dataDir: first.dataDir })
    const view = await from.sessions.view(id)
    const before = view.events.length
    await turn(from, id)
    const told = from.feed.committed
      .filter(({ session }) => session === id)
      .flatMap(({ events }) => events.map(({ seq }) => seq))
    expect(told[0]).toBe(before)
    expect(told).toEqual(told.map((_seq, index) => before + index))
  })

  test('B67 stopping keeps the queue, parked, and the next prompt works', async () => {
    const gate = Promise.withResolvers<void>()
    const model = new ScriptedModel(
      {
        async *stream(request) {
          gate.resolve()
          await new Promise((_resolve, reject) =>
            request.signal.addEventListener('abort', () => reject(request.signal.reason)),
          )
          yield { t: 'end', finish: { kind: 'stop' } }
        },
      },
      { text: 'done' },
    )
    const from = await rig({ model })
    const id = await created(from, { prompt: 'first' })
    await gate.promise
    const { message } = await from.sessions.prompt(id, 'second', 'queue')
    expect(await from.sessions.stop(id)).toEqual({ stopped: true })
    await live(from, id).agent.whenIdle()
    expect(
      live(from, id)
        .state()
        .inbox['next-turn'].map((row) => [row.message.id, row.parked]),
    ).toEqual([[message, 'cancelled']])
    await from.sessions.sendQueuedNow(id, message)
    await live(from, id).agent.whenIdle()
    expect(live(from, id).state().lastEnd?.reason).toEqual({ kind: 'completed' })
  })

  test('a queued message can be edited and taken back with its text', async () => {
    const from = await rig()
    const id = await created(from)
    const held = from.hooks.on(null, 'agent/pre-step', async () => ({ kind: 'reject' as const, reason: 'held' }))
    await turn(from, id, 'draft')
    held()
    const [row] = live(from, id).state().inbox['next-turn']
    await from.sessions.editQueued(id, row!.message.id, 'better')
    expect(await from.sessions.removeQueued(id, row!.message.id)).toEqual({ message: row!.message.id, text: 'better' })
    await expect(from.sessions.removeQueued(id, row!.message.id)).rejects.toMatchObject({
      code: 'session/queue-item-not-found',
    })
  })

  test('the first prompt names the session by the rule, a person by hand', async () => {
    const from = await rig()
    const id = await created(from)
    await turn(from, id, '# Fix the **split** remainder\nmore')
    expect(live(from, id).state().title).toEqual({ title: 'Fix the split remainder', source: 'rule' })
    await from.sessions.rename(id, 'Mine')
    await turn(from, id, 'another')
    expect(live(from, id).state().title).toEqual({ title: 'Mine', source: 'user' })
  })

  test('a removed session leaves every list and comes back whole', async () => {
    const from = await rig()
    const id = await created(from)
    await turn(from, id)
    await from.sessions.remove(id)
    expect(from.feed.removed).toEqual([id])
    await expect(from.sessions.view(id)).rejects.toMatchObject({ code: 'session/not-found' })
    expect((await from.sessions.restore(id)).row).toMatchObject({ id, title: 'go', turns: 1 })
    expect((await from.sessions.view(id)).events.length).toBeGreaterThan(5)
  })

  test('B21 B23 two hosts on one data folder: the second reads and refuses to write with a sentence', async () => {
    const first = await rig()
    const id = await created(first)
    await turn(first, id)
    const second = await rig({ dataDir: first.dataDir })
    const view = await second.sessions.view(id)
    expect(view.writer()).toMatchObject({ kind: 'elsewhere', pid: process.pid })
    const refusal = second.sessions.prompt(id, 'me too', 'queue')
    await expect(refusal).rejects.toMatchObject({ code: 'session/writer-held' })
    await expect(refusal).rejects.toThrow(/process \d+ on .+ since/)
    const seen = Promise.withResolvers<void>()
    second.sessions.feeds.add({
      ...second.feed,
      events: (_id, events) => void (events.some(({ type }) => type === 'turn/end') && seen.resolve()),
      delta() {},
      output() {},
      writer() {},
      rows() {},
    })
    await turn(first, id, 'more')
    await seen.promise
    expect(view.events.length).toBe(live(first, id).events.length)
  })
})

test('a limit of its own is on disk when it is acknowledged, and null takes it back', async () => {
  const first = await rig()
  const id = await created(first)
  expect(await first.sessions.setBudget(id, 2.5)).toEqual({ limit: 2.5 })
  const limits = async (from: Rig) => {
    const { events } = await from.store.readPage(id, { maxEvents: 100, maxBytes: 100_000 })
    return events.flatMap((event) => (event.type === 'session/budget' ? [event.data.limit] : []))
  }
  expect(await limits(first)).toEqual([2.5])
  await first.sessions.close()
  const second = await rig({ dataDir: first.dataDir })
  expect(await second.sessions.setBudget(id, null)).toEqual({ limit: null })
  expect(await limits(second)).toEqual([2.5, null])
})
