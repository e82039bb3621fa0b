import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CORE_ROWS, REGISTRY_ROW, declare, tool } from '../boot-testing.ts'
import { HOST_FILE } from '../boot.ts'
import { plugin } from '../preset/kernel.ts'
import { SessionStore, newHeader } from '../log/store.ts'
import { draft } from '../wire/events.ts'
import type { HostLoader } from '../preset/loader.ts'
import { LLM, STORE, agentsOf, codeOf, idsOf, loopHost, loopRow, stored, titles } from './configured-agents.fixture.ts'

test('N-01 entries of the config are agents with the options of their entry once the host is up', async () => {
  const options = { provider: 'route-a', model: 'model-a', reasoningEffort: 'high', maxTokens: 1000, cwd: '/tmp' }
  const made = await loopHost([{ id: 'main', sessionId: 's1', ...options }, { id: 'bare' }])
  expect(made.host.report.rows).toEqual([])
  expect(agentsOf(made).get('s1')!.options).toEqual(options)
  expect(agentsOf(made).get('s1')!.log.header).toMatchObject({ id: 's1', cwd: '/tmp' })
  const bare = agentsOf(made)
    .list()
    .find(({ id }) => id !== 's1')!
  expect(bare.options).toEqual({ cwd: process.cwd() })
})

test('N-02 without an exact identity every start is a new session named after the entry', async () => {
  const made = await loopHost([{ id: 'main' }])
  const [first] = idsOf(made)
  expect(first).toMatch(/^main-session-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  await made.write(HOST_FILE, CORE_ROWS + LLM + loopRow([{ id: 'main' }], { maxParallelToolCalls: 3 }) + STORE)
  await made.host.reload()
  const [second, ...others] = idsOf(made)
  expect(others).toEqual([])
  expect(second).toMatch(/^main-session-/)
  expect(second).not.toBe(first)
})

test('N-03 an exact session is resumed where it has history and created under that id where it has none', async () => {
  const dataDir = await stored('old')
  const made = await loopHost(
    [
      { id: 'a', sessionId: 'old' },
      { id: 'b', sessionId: 'new' },
    ],
    { dataDir },
  )
  expect(idsOf(made).toSorted()).toEqual(['new', 'old'])
  expect(titles(made, 'old')).toEqual(['kept'])
  // The session's own folder holds where the entry names none.
  expect(agentsOf(made).get('old')!.options.cwd).toBe(dataDir)
  expect(agentsOf(made).get('new')!.log.events).toEqual([])
  agentsOf(made)
    .get('new')!
    .log.append(draft('session/title', { title: 'first', source: 'user' }))
  await made.host.close()
  const again = await loopHost([{ id: 'b', sessionId: 'new' }], { dataDir })
  expect(titles(again, 'new')).toEqual(['first'])
})

test('N-03 without a persistence backend an exact session is created, in memory', async () => {
  const dataDir = await stored('old')
  const made = await loopHost([{ id: 'a', sessionId: 'old' }, { id: 'fresh' }], { dataDir, store: '' })
  expect([made.host.report.rows, made.failures]).toEqual([[], []])
  expect(idsOf(made).length).toBe(2)
  const { log } = agentsOf(made).get('old')!
  expect(log.events).toEqual([])
  log.append(draft('session/title', { title: 'unsaved', source: 'user' }))
  await made.host.close()
  const after = await loopHost([{ id: 'a', sessionId: 'old' }], { dataDir })
  expect(titles(after, 'old')).toEqual(['kept'])
})

test('N-03 persistence that is still waiting is not the absence of it', async () => {
  const dataDir = await stored('old')
  const entries = [{ id: 'a', sessionId: 'old' }]
  const made = await loopHost(entries, { dataDir, store: '\n- {id: session-store, name: session-store}\n' })
  expect([idsOf(made), made.failures]).toEqual([[], []])
  await made.write(HOST_FILE, CORE_ROWS + LLM + loopRow(entries) + STORE)
  await made.host.reload()
  expect(titles(made, 'old')).toEqual(['kept'])
})

test('N-03 a backend whose row takes long to load is waited for, whatever its name', async () => {
  const dataDir = await stored('old')
  const gate = Promise.withResolvers<void>()
  const load = async (): Promise<unknown> => {
    await gate.promise
    return (await import('./session-store.ts')).default
  }
  const made = await loopHost([{ id: 'a', sessionId: 'old' }], {
    dataDir,
    store: '\n- {id: data-folder, name: data-folder}\n- {id: other-store, name: other-store}\n',
    catalog: { 'other-store': { plane: 'host', load } },
    settleMs: 100,
  })
  expect([idsOf(made), made.failures]).toEqual([[], []])
  gate.resolve()
  await (made.host.ctx.loader as HostLoader).settled()
  expect(titles(made, 'old')).toEqual(['kept'])
})

test('N-04 only a session that is not there is created: damage stays a failure, and so does a foreign owner', async () => {
  const dataDir = await stored('held')
  const store = new SessionStore(dataDir, { allowNetworkDisk: true })
  await store.prepare()
  const damaged = store.create(newHeader({ id: 'damaged', createdAt: 1, cwd: dataDir, writer: 'test' }))
  for (const title of ['one', 'two', 'three']) damaged.append(draft('session/title', { title, source: 'user' }))
  await damaged.close()
  const place = (await store.list()).find(({ id }) => id === 'damaged')!
  const file = join(place.directory, 'log.jsonl')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('"two"', '"owt"'))
  const holder = await store.openWrite('held')
  const made = await loopHost(
    [
      { id: 'a', sessionId: 'damaged' },
      { id: 'b', sessionId: 'held' },
    ],
    { dataDir },
  )
  expect(idsOf(made)).toEqual([])
  expect(Object.fromEntries(made.failures.map((failure) => [failure.sessionId, codeOf(failure)]))).toEqual({
    damaged: 'session/corrupt',
    held: 'session/writer-held',
  })
  await holder.log.close()
  await store.close()
})

test('N-04 a backend that could not start is a failure, not the absence of one', async () => {
  const broken = plugin({
    name: 'session-store',
    apply() {
      throw new Error('no disk')
    },
  })
  const catalog = { 'session-store': { plane: 'host' as const, load: () => Promise.resolve(broken) } }
  const made = await loopHost([{ id: 'a', sessionId: 's1' }], { catalog })
  expect(idsOf(made)).toEqual([])
  expect(made.failures).toMatchObject([{ sessionId: 's1', error: { message: expect.stringContaining('store') } }])
})

test('N-05 a demanded session is resumed, its absence is a failure, and an empty demand is none', async () => {
  const dataDir = await stored('old')
  const made = await loopHost(
    [
      { id: 'a', resumeSessionId: 'old' },
      { id: 'b', resumeSessionId: 'absent' },
      { id: 'c', sessionId: 'exact', resumeSessionId: '' },
      { id: 'd', resumeSessionId: '' },
    ],
    { dataDir },
  )
  expect(titles(made, 'old')).toEqual(['kept'])
  expect(
    idsOf(made)
      .map((id) => id.replace(/^d-session-.*/, 'fresh'))
      .toSorted(),
  ).toEqual(['exact', 'fresh', 'old'])
  expect(made.failures.map((failure) => [failure.sessionId, codeOf(failure)])).toEqual([
    ['absent', 'session/not-found'],
  ])
})

test('N-05 a demanded session waits for persistence, however late it comes', async () => {
  const dataDir = await stored('old')
  const made = await loopHost(
    [
      { id: 'a', resumeSessionId: 'old' },
      { id: 'b', sessionId: 'old-too' },
    ],
    {
      dataDir,
      store: '',
    },
  )
  expect([idsOf(made), made.failures]).toEqual([['old-too'], []])
  const rows =
    CORE_ROWS +
    LLM +
    loopRow([
      { id: 'a', resumeSessionId: 'old' },
      { id: 'b', sessionId: 'old-too' },
    ])
  await made.write(HOST_FILE, rows + STORE)
  await made.host.reload()
  // What runs in memory goes on; only what waited starts.
  expect(idsOf(made)).toEqual(['old-too', 'old'])
  expect(made.log.filter((line) => line.includes('could not start'))).toEqual([])
  expect(titles(made, 'old')).toEqual(['kept'])
})

test('N-10 a start that fails is a warning and an event, a throwing observer reaches nobody, and others start', async () => {
  const made = await loopHost([
    { id: 'a', resumeSessionId: 'absent' },
    { id: 'b', sessionId: 's1' },
  ])
  expect(made.host.report.rows).toEqual([])
  expect(made.failures.map((failure) => [failure.sessionId, codeOf(failure)])).toEqual([
    ['absent', 'session/not-found'],
  ])
  expect(made.log.some((line) => line.includes('agent a could not start with session absent'))).toBe(true)
  expect(idsOf(made)).toEqual(['s1'])
})

test('N-10 a start that fails because the host goes down is nobody’s news', async () => {
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<never>()
  const hanging = plugin({
    name: 'session-store',
    apply(ctx) {
      const openWrite = () => {
        reached.resolve()
        return gate.promise
      }
      ctx.provide('sessionStore', { openWrite } as never)
    },
  })
  const catalog = { 'session-store': { plane: 'host' as const, load: () => Promise.resolve(hanging) } }
  const made = await loopHost([{ id: 'a', sessionId: 's1' }], { catalog, settleMs: 200 })
  await reached.promise
  const closing = made.host.close()
  gate.reject(new Error('the disk went away'))
  await closing
  expect([made.failures, made.log.filter((line) => line.includes('could not start'))]).toEqual([[], []])
})

test('N-11 a restart of the loop waits for its agent of the same session to drain', async () => {
  const made = await loopHost([{ id: 'main', sessionId: 's1' }])
  const before = agentsOf(made).get('s1')!
  before.log.append(draft('session/title', { title: 'before', source: 'user' }))
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const draining = Promise.withResolvers<void>()
  before.onClose(async () => {
    draining.resolve()
    await gate.promise
    order.push('drained')
  })
  await made.write(HOST_FILE, CORE_ROWS + LLM + loopRow([{ id: 'main', sessionId: 's1' }], { stream: 'none' }) + STORE)
  const reloaded = made.host.reload().then(() => void order.push('reloaded'))
  await draining.promise
  expect(made.host.service('agents')).toBe(undefined)
  gate.resolve()
  await reloaded
  expect(order).toEqual(['drained', 'reloaded'])
  expect(agentsOf(made).get('s1')).not.toBe(before)
  expect([titles(made, 's1'), made.failures]).toEqual([['before'], []])
})

test('N-12 preset id, entry id and session id may read alike and stay three things', async () => {
  const dataDir = await stored('main')
  const presets = REGISTRY_ROW + declare('main', tool('alpha'))
  const made = await loopHost(
    [
      { id: 'main', sessionId: 'other' },
      { id: 'other', sessionId: 'main' },
    ],
    {
      dataDir,
      more: presets,
    },
  )
  const agents = agentsOf(made)
  expect([titles(made, 'main'), agents.get('other')!.log.events]).toEqual([['kept'], []])
  const registry = made.host.service('agentPresets')!
  for (const agent of agents.list()) {
    expect([agent.log.header.agentPreset, registry.composedPreset(agent.scope)]).toEqual([undefined, undefined])
    expect(made.host.service('tools')!.view(agent.scope)).toEqual([])
  }
  await registry.mount(agents.get('main')!.scope, 'main')
  expect([registry.composedPreset(agents.get('main')!), registry.composedPreset(agents.get('other')!)]).toEqual([
    'main',
    undefined,
  ])
})

test('A-07 an agent of the config has its own model and nothing of the session entry’s precedence', async () => {
  const rows =
    '\n- {id: agent-default-model, name: agent-default-model, config: {provider: route-b, model: model-b}}\n' +
    REGISTRY_ROW
  const made = await loopHost([{ id: 'main', sessionId: 's1', provider: 'route-a', model: 'model-a' }], {
    more: rows + declare('standard', tool('alpha')),
  })
  const agent = agentsOf(made).get('s1')!
  const { signal } = new AbortController()
  const assembly = await made.host.service('systemPrompt')!.assemble({ agent, scope: agent.scope, signal, tools: [] })
  expect([agent.options.model, assembly.selection, made.host.service('tools')!.view(agent.scope)]).toEqual([
    'model-a',
    undefined,
    [],
  ])
})

test('agents of the config end with the store that holds their logs, and come back with it', async () => {
  const made = await loopHost([{ id: 'main', sessionId: 's1' }])
  const before = agentsOf(made).get('s1')!
  before.log.append(draft('session/title', { title: 'before', source: 'user' }))
  await made.host.ctx.loader.update('host:session-store', { config: { allowNetworkDisk: true } })
  await made.host.reload()
  await expect.poll(() => agentsOf(made).get('s1')).not.toBe(before)
  await expect.poll(() => agentsOf(made).get('s1') && titles(made, 's1')).toEqual(['before'])
  expect(before.phase).toBe('closed')
})
