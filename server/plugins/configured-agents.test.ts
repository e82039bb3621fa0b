import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { CORE_ROWS, REGISTRY_ROW, declare, testHost, tool } from '../boot-testing.ts'
import { HOST_FILE } from '../boot.ts'
import { dumpRows } from '../preset/document.ts'
import { plugin } from '../preset/kernel.ts'
import { SessionStore, newHeader } from '../log/store.ts'
import { draft } from '../wire/events.ts'
import type { TestHost } from '../boot-testing.ts'
import type { BootOptions } from '../boot.ts'
import type { HostLoader } from '../preset/loader.ts'
import type { CoreError } from '../wire/errors.ts'

const STORE = '\n- {id: data-folder, name: data-folder}\n- {id: session-store, name: session-store}\n'
const LLM = '\n- {id: llm, name: llm}\n'

const loopRow = (agents: object[], more: object = {}): string =>
  dumpRows([{ id: 'agent-loop', name: 'agent-loop', config: { agents, ...more } }])

interface Failure {
  sessionId: string
  error: unknown
}

/** Hears of failed starts from the first row on. */
function listener(): { failures: Failure[]; catalog: NonNullable<BootOptions['catalog']>; row: string } {
  const failures: Failure[] = []
  const heard = plugin({
    name: 'failure-listener',
    apply(ctx) {
      ctx.on('agent-loop/config-start-failed', () => {
        throw new Error('an observer')
      })
      ctx.on('agent-loop/config-start-failed', (event) => void failures.push(event))
    },
  })
  return {
    failures,
    catalog: { 'failure-listener': { plane: 'host', load: () => Promise.resolve(heard) } },
    row: '- {id: failure-listener, name: failure-listener}\n',
  }
}

interface LoopHost extends TestHost {
  failures: Failure[]
  log: string[]
}

/** A host whose loop stands before its store, as in the shipped host file. */
async function loopHost(
  agents: object[],
  { store = STORE, more = '', ...options }: Partial<BootOptions> & { store?: string; more?: string } = {},
): Promise<LoopHost> {
  const { failures, catalog, row } = listener()
  const log: string[] = []
  const made = await testHost(
    { [HOST_FILE]: row + CORE_ROWS + LLM + loopRow(agents) + store + more },
    { log: (line) => log.push(line), ...options, catalog: { ...catalog, ...options.catalog } },
  )
  return { ...made, failures, log }
}

const agentsOf = ({ host }: TestHost) => host.service('agents')!
const idsOf = (made: TestHost) =>
  agentsOf(made)
    .list()
    .map(({ id }) => id)
const causeOf = ({ host }: TestHost): string =>
  host.report.rows.find(({ row }) => row === 'agent-loop')?.cause ?? 'started'
const codeOf = ({ error }: Failure) => (error as CoreError).code

/** A data folder in which the session has one title; returns the folder. */
async function stored(id: string, title = 'kept'): Promise<string> {
  const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'core-web-loop-')))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const store = new SessionStore(dataDir, { allowNetworkDisk: true })
  await store.prepare()
  const log = store.create(newHeader({ id, createdAt: 1, cwd: dataDir, writer: 'test' }))
  log.append(draft('session/title', { title, source: 'user' }))
  await log.close()
  await store.close()
  return dataDir
}

const titles = (made: TestHost, id: string) =>
  agentsOf(made)
    .get(id)!
    .log.events.flatMap((event) => (event.type === 'session/title' ? [event.data.title] : []))

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

test('N-06 one entry with both identities rejects the config, and nothing starts', async () => {
  const made = await loopHost([
    { id: 'fine', sessionId: 's0' },
    { id: 'main', sessionId: 's1', resumeSessionId: 's2' },
  ])
  expect(causeOf(made)).toContain('invalid config')
  expect(causeOf(made)).toContain('entry main has both sessionId and resumeSessionId (at agents.1)')
  expect(made.host.service('agents')).toBe(undefined)
})

test.each([
  ['sessionId', 'sessionId'],
  ['sessionId', 'resumeSessionId'],
  ['resumeSessionId', 'resumeSessionId'],
])('N-07 two entries of one session (%s, %s) reject the config before any start', async (first, second) => {
  const made = await loopHost([
    { id: 'one', [first]: 's1' },
    { id: 'two', [second]: 's1' },
  ])
  expect(causeOf(made)).toContain(`session s1 is already taken by entry one (at agents.1.${second})`)
  expect([made.host.service('agents'), made.failures]).toEqual([undefined, []])
})

test('N-08 an empty session id is named by row and key', async () => {
  const cause = causeOf(await loopHost([{ id: 'fine' }, { id: 'main', sessionId: '' }]))
  expect(cause).toContain('invalid config')
  expect(cause).toMatch(/>=1 characters \(at agents\.1\.sessionId\)/)
})

test('N-08 what else is wrong with an entry is named by row and key too', async () => {
  const cause = causeOf(await loopHost([{ sessionId: 'a/b', cwd: 'here', resumeSessionId: '../x', presets: [] }]))
  for (const key of ['id', 'sessionId', 'cwd', 'resumeSessionId']) expect(cause).toContain(`(at agents.0.${key})`)
  expect(cause).toContain('"presets"')
})

test('N-09 the launcher’s session replaces both keys of its entry and leaves the others alone', async () => {
  const dataDir = await stored('assigned')
  const made = await loopHost(
    [
      { id: 'main', sessionId: 's1', model: 'm' },
      { id: 'second', resumeSessionId: 'gone' },
      { id: 'third', sessionId: 's3' },
    ],
    {
      dataDir,
      configuredAgentIdentities: { main: { id: 'assigned', resume: true }, second: { id: 's2', resume: false } },
    },
  )
  expect(idsOf(made).toSorted()).toEqual(['assigned', 's2', 's3'])
  expect([titles(made, 'assigned'), agentsOf(made).get('assigned')!.options.model]).toEqual([['kept'], 'm'])
})

test('N-09 a layer that rewrites the models of the config cannot drop the launcher’s session', async () => {
  const patch = { id: 'agent-loop', config: { agents: [{ id: 'main', provider: 'route-b', model: 'model-b' }] } }
  const env = { CORE_WEB_AGENT_IDENTITIES: JSON.stringify({ main: { id: 'assigned', resume: false } }) }
  const made = await loopHost([{ id: 'main', sessionId: 's1', model: 'model-a' }], { env, patches: [patch] })
  expect(
    agentsOf(made)
      .list()
      .map(({ id, options }) => [id, options.provider, options.model]),
  ).toEqual([['assigned', 'route-b', 'model-b']])
})

test('N-09 a launcher’s session may be provided as a service; one that is taken, or no session, rejects the config', async () => {
  const launcher = plugin({
    name: 'launcher',
    apply: (ctx) => void ctx.provide('configuredAgentIdentities', { main: { id: 's2', resume: false } }),
  })
  const catalog = { launcher: { plane: 'host' as const, load: () => Promise.resolve(launcher) } }
  const entries = [
    { id: 'main', sessionId: 's1' },
    { id: 'other', sessionId: 's2' },
  ]
  const row = loopRow(entries).replace('name: agent-loop', 'name: agent-loop\n  inject: [configuredAgentIdentities]')
  const taken = await testHost(
    { [HOST_FILE]: `- {id: launcher, name: launcher}\n${CORE_ROWS}${LLM}${row}${STORE}` },
    { catalog },
  )
  expect(causeOf(taken)).toContain('session s2 is already taken by entry main (at agents.1.sessionId)')
  for (const [text, complaint] of [
    ['{', 'invalid CORE_WEB_AGENT_IDENTITIES'],
    ['{"main":{"id":"","resume":true}}', '(at main.id)'],
  ]) {
    const made = await loopHost([{ id: 'main' }], { env: { CORE_WEB_AGENT_IDENTITIES: text } })
    expect(causeOf(made)).toContain(complaint)
  }
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

test('N-13 a rejected config leaves neither service nor listener nor session behind', async () => {
  const dataDir = join(await stored('old'), 'data')
  await mkdir(dataDir, { recursive: true })
  const made = await loopHost(
    [
      { id: 'a', sessionId: 's1' },
      { id: 'b', sessionId: 's1' },
    ],
    { dataDir },
  )
  expect(made.host.service('agents')).toBe(undefined)
  expect(made.host.service('hooks')!.has('agent/status')).toBe(false)
  expect(await made.host.service('sessionStore')!.list()).toEqual([])
  await made.write(HOST_FILE, CORE_ROWS + LLM + loopRow([{ id: 'a', sessionId: 's1' }]) + STORE)
  await made.host.reload()
  expect([causeOf(made), idsOf(made)]).toEqual(['started', ['s1']])
})

test.each([0, -1, 1.5, 2 ** 53, 'many'])('N-14 maxTokens %s is refused by row and key', async (maxTokens) => {
  expect(causeOf(await loopHost([{ id: 'main', maxTokens }]))).toContain('(at agents.0.maxTokens)')
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
