import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Selection } from '../../server/wire/messages.ts'
import type { ServerFrame } from '../../server/wire/protocol.ts'
import type { ModelsView } from '../../server/wire/views.ts'
import { effective } from '../../web/src/models/selection.ts'
import type { Client } from '../client.ts'
import { startHost, type TestHost } from '../host.ts'
import { startMock, type Mock } from '../mock-llm/server.ts'

const ONE: Selection = { provider: 'one', model: 'alpha' }
const TWO: Selection = { provider: 'two', model: 'beta' }
const DEEP: Selection = { ...TWO, reasoningEffort: 'deep' }

let mock: Mock
let host: TestHost
let tab: Client
let workspace: string

beforeAll(async () => {
  mock = await startMock({ repeatLast: true })
  mock.script('*', [{ text: 'ok' }])
  host = await startHost()
  tab = await host.connect()
  workspace = await host.workspace(tab)
  for (const { provider, model } of [ONE, TWO]) await addProvider(provider, model)
  await tab.command('model.default', ONE)
}, 60_000)
afterAll(async () => {
  await host?.remove()
  await mock?.close()
})

const addProvider = (id: string, model: string) =>
  tab.command('provider.save', {
    id,
    label: id,
    wire: 'chat',
    baseURL: `${mock.url}/v1`,
    key: 'none',
    options: {
      models: [model],
      efforts: [{ id: 'deep', body: { reasoning_effort: 'high' } }],
      retry: { mode: 'normal', retries: 2, baseMs: 1, capMs: 5 },
    },
  })

const pick = (session: string, selection: Selection, { by = tab, alsoDefault = false } = {}) =>
  by.command('model.select', { session, ...selection, alsoDefault })

/** A session of a lane of its own at the mock, attached; nothing is sent yet. */
async function made(selection?: Selection): Promise<string> {
  const args = selection && { selection: { ...selection, alsoDefault: false } }
  const { session } = await tab.command('session.create', { workspace, ...args })
  await tab.attach(session)
  return session
}

/** The numbers of turns that the tab has been told of. */
const turns = (session: string) => tab.events(session).filter(({ type }) => type === 'turn/end').length

async function prompted(session: string, text = 'go') {
  const before = turns(session)
  await tab.command('session.prompt', { session, text })
  await tab.until(() => turns(session) > before)
}

/** Model and effort of the requests that the mock was sent since `from`. */
const sent = (from: number) =>
  mock.requests.slice(from).map(({ body }) => [body['model'], body['reasoning_effort'] ?? '-'].join(' '))

const headers = (session: string) =>
  tab.events(session).flatMap((event) => (event.type === 'request/header' ? [event.data.header.config] : []))

const lastEnd = (session: string) => {
  const end = tab.events(session).findLast(({ type }) => type === 'turn/end')
  return end?.type === 'turn/end' ? end.data.reason : undefined
}

/** What a page shows: the snapshot's state and the models the server told of last. */
async function shown(session: string, by: Client): Promise<Selection | undefined> {
  const view = await by.attach(session)
  if (view.t !== 'snapshot') throw new Error('no snapshot')
  return effective(view.state, modelsOf(by)).selection
}

function modelsOf(by: Client): ModelsView {
  const told = by.frames.flatMap((frame: ServerFrame) => {
    if (frame.t === 'hello') return [frame.models]
    return frame.t === 'global' && frame.models ? [frame.models] : []
  })
  return told.at(-1)!
}

async function digests(folder: string): Promise<{ [path: string]: string }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const rows = await Promise.all(
    files.map(
      async (file) =>
        [
          file,
          createHash('sha256')
            .update(await readFile(file))
            .digest('hex'),
        ] as const,
    ),
  )
  return Object.fromEntries(rows)
}

test('B11 going back and forth among ten sessions writes nothing, and each keeps its model', async () => {
  const picks = Array.from({ length: 10 }, (_, at) => [ONE, TWO, DEEP][at % 3]!)
  const ids: string[] = []
  for (const [at, selection] of picks.entries()) {
    ids.push(await made(at % 2 === 0 ? selection : undefined))
    if (at % 2 === 1) await pick(ids[at]!, selection)
    await prompted(ids[at]!)
  }
  const logs = join(host.dataDir, 'sessions')
  const settings = join(host.dataDir, 'user.cordis.yml')
  const before = [await digests(logs), await readFile(settings, 'utf8')]
  const other = await host.connect()
  const from = [tab.frames.length, other.frames.length] as const
  for (let round = 0; round < 3; round++)
    for (const [at, id] of (round % 2 === 0 ? [...ids.entries()] : [...ids.entries()].toReversed()).entries()) {
      const page = at % 2 === 0 ? tab : other
      expect(await shown(id[1], page)).toEqual(picks[id[0]])
      page.send({ t: 'detach', session: id[1] })
    }
  const heard = [...tab.frames.slice(from[0]), ...other.frames.slice(from[1])].map(({ t }) => t)
  // The list may still be told of the turns before.
  const answers = heard.filter((t) => t !== 'ping' && t !== 'writer' && t !== 'sessions')
  expect(answers).toEqual(Array(30).fill('snapshot'))
  expect([await digests(logs), await readFile(settings, 'utf8')]).toEqual(before)
  await other.close()
})

test('B12 a browser that has never seen the session shows its own model, not the default', async () => {
  const picked = await made()
  await pick(picked, DEEP)
  const used = await made(TWO)
  await prompted(used)
  const blank = await made()
  const fresh = await host.connect()
  expect(modelsOf(fresh).default).toEqual(ONE)
  expect(await shown(picked, fresh)).toEqual(DEEP)
  expect(await shown(used, fresh)).toEqual(TWO)
  expect(await shown(blank, fresh)).toEqual(ONE)
  await fresh.close()
})

test('B14 a pick stays over several prompts, until it is changed', async () => {
  const session = await made()
  await pick(session, DEEP)
  const from = mock.requests.length
  for (const text of ['first', 'second', 'third']) await prompted(session, text)
  await pick(session, ONE)
  await prompted(session, 'fourth')
  expect(sent(from)).toEqual(['beta high', 'beta high', 'beta high', 'alpha -'])
})

test('B15 B16 model and effort of each session are there after a restart, whatever the default is by then', async () => {
  const [deep, plain, waiting] = [await made(DEEP), await made(ONE), await made(ONE)]
  for (const id of [deep, plain, waiting]) await prompted(id)
  await pick(waiting, DEEP)
  await tab.command('model.default', TWO)
  const { dataDir, work } = host
  await host.close()
  host = await startHost({ dataDir, work })
  tab = await host.connect()
  workspace = await host.workspace(tab)
  expect(modelsOf(tab).default).toEqual(TWO)
  const from = mock.requests.length
  for (const [id, selection] of [
    [deep, DEEP],
    [plain, ONE],
    [waiting, DEEP],
  ] as const) {
    expect(await shown(id, tab)).toEqual(selection)
    await prompted(id, 'again')
  }
  expect(sent(from)).toEqual(['beta high', 'alpha -', 'beta high'])
  await tab.command('model.default', ONE)
})

test('B17 what confines a session is its own: hops, a restart and another default of the host change nothing', async () => {
  const modes = (session: string) =>
    tab.events(session).flatMap((event) => (event.type === 'sandbox/mode' ? [event.data] : []))
  const [first, second] = [await made(), await made()]
  for (const id of [first, second]) await prompted(id)
  const byDefault = { mode: 'workspace-write', network: true, source: 'default' }
  expect(modes(first)).toEqual([byDefault])
  await tab.command('permission.select', { session: first, preset: 'full' })
  const began = modes(first)
  expect(began).toEqual([byDefault, { mode: 'full', network: true }])
  for (let hop = 0; hop < 10; hop++) {
    tab.send({ t: 'detach', session: hop % 2 ? first : second })
    await tab.attach(hop % 2 ? second : first)
  }
  const { dataDir, work } = host
  await host.close()
  host = await startHost({ dataDir, work, env: { CORE_WEB_BOUNDARY: 'container' } })
  tab = await host.connect()
  workspace = await host.workspace(tab)
  await tab.attach(first)
  await prompted(first, 'again')
  expect(modes(first)).toEqual(began)
  const later = await made()
  await prompted(later)
  await tab.attach(second)
  expect(modes(second)).toEqual([byDefault])
  expect(modes(later)).toEqual([{ mode: 'full', network: true, source: 'container' }])
})

test('B20 a new session starts with the pick that was also made the default, in every tab', async () => {
  const other = await host.connect()
  const session = await made()
  expect(await pick(session, DEEP, { alsoDefault: true })).toEqual({ default: { saved: true } })
  await other.until((frame) => frame.t === 'global' && frame.models?.default?.reasoningEffort === 'deep')
  const next = await made()
  expect(await shown(next, other)).toEqual(DEEP)
  const from = mock.requests.length
  await prompted(next)
  expect(sent(from)).toEqual(['beta high'])
  await tab.command('model.default', ONE)
  await other.close()
})

test('B20 a settings file that cannot be written does not cost the pick', async () => {
  const settings = join(host.dataDir, 'user.cordis.yml')
  await rename(settings, `${settings}.aside`)
  await mkdir(settings)
  await writeFile(join(settings, 'in the way'), '')
  const session = await made()
  const { default: saved } = await pick(session, TWO, { alsoDefault: true })
  expect(saved).toEqual({ saved: false, reason: expect.stringContaining('user.cordis.yml') })
  await rm(settings, { recursive: true })
  await rename(`${settings}.aside`, settings)
  const from = mock.requests.length
  await prompted(session)
  expect(sent(from)).toEqual(['beta -'])
  expect(modelsOf(tab).default).toEqual(ONE)
})

test('two tabs that pick at once come to the same model, and the next request uses it', async () => {
  const session = await made()
  const other = await host.connect()
  await other.attach(session)
  for (let round = 0; round < 5; round++) {
    await Promise.all([
      pick(session, ONE),
      pick(session, DEEP, { by: other }),
      pick(session, TWO),
      pick(session, round % 2 === 0 ? DEEP : ONE, { by: other }),
    ])
    const [mine, theirs] = [await shown(session, tab), await shown(session, other)]
    expect(theirs).toEqual(mine)
    const from = mock.requests.length
    await prompted(session)
    expect(sent(from)).toEqual([`${mine!.model} ${mine!.reasoningEffort ? 'high' : '-'}`])
  }
  expect(other.events(session).map(({ seq, type }) => [seq, type])).toEqual(
    tab
      .events(session)
      .filter(({ seq }) => seq <= other.events(session).at(-1)!.seq)
      .map(({ seq, type }) => [seq, type]),
  )
  await other.close()
})

test('a pick during the assembly waits for the next request, also while a retry comes in between', async () => {
  const session = await made(ONE)
  await prompted(session)
  const hooks = host.host.service('hooks')!
  const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const undo = hooks.on(null, 'system-prompt/assemble', async (_event, next) => {
    reached.resolve()
    await open.promise
    return next()
  })
  const from = mock.requests.length
  await tab.command('session.prompt', { session, text: 'second' })
  await reached.promise
  await pick(session, DEEP)
  open.resolve()
  await tab.turnEnd(session, 2)
  undo()
  expect(sent(from)).toEqual(['alpha -'])
  expect(headers(session)).toHaveLength(1)
  await prompted(session, 'third')
  expect(sent(from)).toEqual(['alpha -', 'beta high'])
  expect(headers(session).at(-1)).toMatchObject(DEEP)
})

test('a retry keeps the model of its assembly, whatever was picked while it waited', async () => {
  const session = await made(ONE)
  const lane = '[[lane:retried]]'
  mock.script('retried', [{ behavior: 'server_error' }, { text: 'ok' }])
  const hooks = host.host.service('hooks')!
  const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const undo = hooks.on(null, 'agent/request', async (event, next) => {
    if (event.attempt > 1) {
      reached.resolve()
      await open.promise
    }
    return next()
  })
  const from = mock.requests.length
  await tab.command('session.prompt', { session, text: lane })
  await reached.promise
  await pick(session, DEEP)
  open.resolve()
  await tab.turnEnd(session, 1)
  undo()
  expect(sent(from)).toEqual(['alpha -', 'alpha -'])
  expect(await shown(session, tab)).toEqual(DEEP)
  await prompted(session)
  expect(sent(from).at(-1)).toBe('beta high')
})

test('a pick while the turn is being cancelled is the model of the next one', async () => {
  const session = await made(ONE)
  mock.script('cancelled', [{ text: 'never all of it', gates: ['cancelled'] }, { text: 'ok' }])
  const from = mock.requests.length
  await tab.command('session.prompt', { session, text: '[[lane:cancelled]]' })
  await mock.held('cancelled')
  await Promise.all([tab.command('session.stop', { session }), pick(session, DEEP)])
  await tab.turnEnd(session, 1)
  expect(lastEnd(session)).toEqual({ kind: 'aborted', reason: { kind: 'user' } })
  mock.release('cancelled')
  expect(await shown(session, tab)).toEqual(DEEP)
  await prompted(session)
  expect(sent(from)).toEqual(['alpha -', 'beta high'])
})

test('a provider that is removed while its request runs ends that answer, and then says what to do', async () => {
  await addProvider('leaving', 'gamma')
  const session = await made({ provider: 'leaving', model: 'gamma' })
  mock.script('leaving', [{ text: 'The whole answer.', gates: ['leaving'] }, { text: 'ok' }])
  await tab.command('session.prompt', { session, text: '[[lane:leaving]]' })
  await mock.held('leaving')
  await tab.command('provider.remove', { provider: 'leaving' })
  mock.release('leaving')
  await tab.turnEnd(session, 1)
  expect(lastEnd(session)).toEqual({ kind: 'completed' })
  const from = mock.requests.length
  await prompted(session, 'and now')
  expect(lastEnd(session)).toMatchObject({ kind: 'error', error: { code: 'NO_ADAPTER' } })
  expect(JSON.stringify(lastEnd(session))).toMatch(/\\"leaving\\".*Settings > Models/)
  expect(sent(from)).toEqual([])
  // The choice is kept as it was, and the prompt with it.
  const view = await tab.attach(session)
  expect(view.t === 'snapshot' && view.state.model.next).toEqual({ provider: 'leaving', model: 'gamma' })
  expect(view.t === 'snapshot' && JSON.stringify(view.state.inbox)).toContain('and now')
})

test('K-12 a default whose provider is gone is shown as it is, refuses by name, and any pick goes on from there', async () => {
  await addProvider('gone', 'delta')
  await tab.command('model.default', { provider: 'gone', model: 'delta' })
  await tab.command('provider.remove', { provider: 'gone' })
  const fresh = await host.connect()
  expect(modelsOf(fresh).default).toEqual({ provider: 'gone', model: 'delta' })
  const session = await made()
  expect(await shown(session, fresh)).toEqual({ provider: 'gone', model: 'delta' })
  await prompted(session)
  expect(lastEnd(session)).toMatchObject({ kind: 'error', error: { code: 'NO_ADAPTER' } })
  await expect(pick(session, { provider: 'gone', model: 'delta' })).rejects.toMatchObject({
    code: 'session/model-unavailable',
  })
  await pick(session, TWO)
  const from = mock.requests.length
  await prompted(session, 'again')
  expect(sent(from)).toEqual(['beta -'])
  await tab.command('model.default', ONE)
  await fresh.close()
})
