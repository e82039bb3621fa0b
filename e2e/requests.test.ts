import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WireFamily } from '../server/wire/messages.ts'
import type { RequestRow, RequestView } from '../server/wire/presets.ts'
import type { Client } from './client.ts'
import { startHost, type TestHost } from './host.ts'
import { startMock, type Mock } from './mock-llm/server.ts'

let mock: Mock
let host: TestHost
let client: Client
let workspace: string
beforeAll(async () => {
  mock = await startMock()
  host = await startHost()
  client = await host.connect()
  workspace = await host.workspace(client)
}, 60_000)
afterAll(async () => {
  await host?.remove()
  await mock?.close()
})

type Failure = { error: { code: string; message: string } }

const json = async (path: string, from: TestHost = host) => {
  const answer = await from.get(path)
  return { status: answer.status, body: await answer.json() }
}
const rows = async (session: string, from?: TestHost) =>
  (await json(`/api/sessions/${session}/requests`, from)).body as RequestRow[]
const view = async (session: string, at: string, from?: TestHost) =>
  (await json(`/api/sessions/${session}/requests/${at}`, from)).body as RequestView

/** A standard session that wrote a file with `write` and looked at it with `bash`, then its fork into minimal. */
async function forked(wire: WireFamily) {
  const provider = `mock-${wire}`
  const saved = { id: provider, label: wire, wire, baseURL: `${mock.url}/v1`, options: { models: ['mock-model'] } }
  await client.command('provider.save', saved)
  await client.command('credential.set', { provider, key: 'test-key' })
  const path = `${host.work}/${wire}.txt`
  const write = { id: 'call_w', name: 'write', arguments: JSON.stringify({ file_path: path, content: 'one\n' }) }
  const look = { id: 'call_b', name: 'bash', arguments: JSON.stringify({ command: `cat ${path}` }) }
  mock.script('*', [
    { text: 'Both.', toolCalls: [write, look], finish: 'tool-calls' },
    { text: 'Done.' },
    { text: 'Forked.' },
  ])
  const selection = { provider, model: 'mock-model' }
  const { session } = await client.command('session.create', {
    workspace,
    preset: 'standard',
    selection,
    prompt: 'Go.',
  })
  await client.attach(session)
  await client.turnEnd(session, 1)
  const fork = (await client.command('session.fork', { session, preset: 'minimal' })).session
  await client.attach(fork)
  await client.command('session.prompt', { session: fork, text: 'And now?' })
  const end = await client.turnEnd(fork, 2)
  expect(end.data.reason).toEqual({ kind: 'completed' })
  return { session, fork, write, look, body: mock.requests.at(-1)!.body }
}

const NAMED = '[Earlier call of the tool "write", which is not available any more, with '
const TOLD = '[Result of the earlier call of the tool "write". It returned:]'
interface Part {
  [key: string]: unknown
}

/** Calls and results of a body in order, and the roles of its messages. */
const READ: { [W in WireFamily]: (body: Part) => { calls: unknown[]; results: unknown[]; roles: unknown[] } } = {
  chat: (body) => {
    const messages = body['messages'] as Part[]
    return {
      calls: messages.flatMap((each) => ((each['tool_calls'] ?? []) as Part[]).map((call) => call['id'])),
      results: messages.flatMap((each) => (each['role'] === 'tool' ? [each['tool_call_id']] : [])),
      roles: messages.map((each) => each['role']),
    }
  },
  responses: (body) => {
    const input = body['input'] as Part[]
    const ids = (type: string) => input.flatMap((each) => (each['type'] === type ? [each['call_id']] : []))
    const roles = input.map((each) => each['role'] ?? each['type'])
    return { calls: ids('function_call'), results: ids('function_call_output'), roles }
  },
  messages: (body) => {
    const messages = body['messages'] as (Part & { content: Part[] })[]
    const blocks = messages.flatMap((each) => each.content)
    return {
      calls: blocks.flatMap((each) => (each['type'] === 'tool_use' ? [each['id']] : [])),
      results: blocks.flatMap((each) => (each['type'] === 'tool_result' ? [each['tool_use_id']] : [])),
      roles: messages.map((each) => each['role']),
    }
  },
  gemini: (body) => {
    const contents = body['contents'] as (Part & { parts: Part[] })[]
    const parts = contents.flatMap((each) => each.parts)
    const ids = (key: string) => parts.flatMap((each) => (each[key] ? [(each[key] as Part)['id']] : []))
    return { calls: ids('functionCall'), results: ids('functionResponse'), roles: contents.map((each) => each['role']) }
  },
}

test.each<[WireFamily, string[]]>([
  ['chat', ['system', 'user', 'assistant', 'tool', 'user', 'assistant', 'user']],
  [
    'responses',
    ['system', 'user', 'assistant', 'assistant', 'function_call', 'function_call_output', 'user', 'assistant', 'user'],
  ],
  ['messages', ['user', 'assistant', 'user', 'assistant', 'user']],
  ['gemini', ['user', 'model', 'user', 'user', 'model', 'user']],
])(
  'over %s a fork carries the calls it cannot make as text, the others as calls, each with its result',
  async (wire, roles) => {
    const { body, session, fork } = await forked(wire)
    const read = READ[wire](body)
    expect(read.calls).toEqual(['call_b'])
    expect(read.results).toEqual(['call_b'])
    // Runs of one role are the wire's own form of several messages.
    expect(read.roles).toEqual(roles)
    const text = JSON.stringify(body)
    for (const part of [NAMED, TOLD]) expect(text.split(JSON.stringify(part).slice(1, -1))).toHaveLength(2)
    expect(text).not.toContain('call_w')
    // The origin of the copy is as it was.
    expect(client.events(session).some(({ type }) => type === 'session/end-seed')).toBe(false)
    expect(client.events(fork).some(({ type }) => type === 'request/origins')).toBe(true)
    expect(mock.left()).toBe(0)
  },
  60_000,
)

test('what a request was made of reads the same live, closed, and in the fork that inherited it', async () => {
  const { session, fork } = await forked('chat')
  const [first, second, last] = await rows(fork)
  expect([first, second, last].map((row) => [row!.turn, row!.step, row!.changed, row!.prompt])).toEqual([
    [1, 1, false, 'Go.'],
    [1, 2, false, 'Go.'],
    [2, 1, true, 'And now?'],
  ])
  expect(await rows(session)).toEqual([first, second])
  const own = await view(session, '1/2')
  expect({ ...(await view(fork, '1/2')), session }).toEqual(own)
  expect(own.sections.filter(({ fate }) => fate === 'shown').map(({ owner, scope }) => [owner, scope])).toContainEqual([
    'persona',
    'preset',
  ])
  const owners = Object.fromEntries(own.tools.map(({ name, owner }) => [name, owner]))
  expect(owners).toEqual({
    bash: 'bash',
    edit: 'files',
    glob: 'search',
    grep: 'search',
    read: 'files',
    todo_write: 'todo',
    write: 'files',
  })
  const minimal = await view(fork, '2/1')
  expect(minimal.system).toBe('You are a helpful software engineer assistant.')
  expect(minimal.origins).toBe(true)
  expect(minimal.tools.map(({ name, owner }) => [name, owner])).toEqual([
    ['bash', 'bash'],
    ['str_replace_editor', 'editor'],
  ])
  expect(minimal.sections[0]).toMatchObject({
    name: 'harness:identity',
    owner: 'system-prompt',
    fate: 'discarded',
    by: 'persona',
  })
  for (const shown of minimal.sections.filter(({ fate }) => fate === 'shown'))
    expect(minimal.system).toContain(shown.text)

  const ids = [session, fork] as const
  const before = await Promise.all(ids.map((id) => rows(id)))
  await client.close()
  await host.close()
  host = await startHost({ dataDir: host.dataDir, work: host.work })
  client = await host.connect()
  workspace = await host.workspace(client)
  expect(await Promise.all(ids.map((id) => rows(id)))).toEqual(before)
  expect(await view(session, '1/2')).toEqual(own)
  expect(await view(fork, '2/1')).toEqual(minimal)
  expect(host.host.service('sessions')!.live(fork)).toBeUndefined()
}, 60_000)

test('what is not there is said in words: the session, the turn, and numbers that are none', async () => {
  const missing = await json('/api/sessions/nobody/requests')
  expect([missing.status, (missing.body as Failure).error.code]).toEqual([404, 'session/not-found'])
  const { session } = await client.command('session.create', { workspace, preset: 'minimal' })
  expect(await rows(session)).toEqual([])
  const none = await json(`/api/sessions/${session}/requests/3/2`)
  expect([none.status, (none.body as Failure).error]).toEqual([
    404,
    { code: 'gateway/not-found', message: 'This session made no request in step 2 of turn 3.' },
  ])
  expect((await json(`/api/sessions/${session}/requests/0/1`)).status).toBe(400)
  expect((await json('/api/sessions/nobody/requests/1/1')).status).toBe(404)
})
