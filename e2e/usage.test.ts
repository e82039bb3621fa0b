import { afterEach, beforeEach, expect, test } from 'vitest'
import { waiting } from '../server/projection/inbox.ts'
import type { UsageReport } from '../server/wire/models.ts'
import type { Client } from './client.ts'
import { startHost, type TestHost } from './host.ts'
import { startMock, type Mock } from './mock-llm/server.ts'

let mock: Mock
let host: TestHost
let client: Client
let workspace: string
beforeEach(async () => {
  mock = await startMock()
  host = await startHost()
  client = await host.connect()
  workspace = await host.workspace(client)
  await provider('priced', { in: 1, out: 2, cacheRead: 0.1 })
}, 60_000)
afterEach(async () => {
  await host?.remove()
  await mock?.close()
})

/** US dollars per million tokens; a call of `USAGE` costs 1 + 2 + 0.1 dollars. */
const USAGE = { input: 1_000_000, cacheRead: 1_000_000, output: 1_000_000 }
const COST = 3.1

async function provider(id: string, price?: { in: number; out: number; cacheRead?: number }): Promise<void> {
  await client.command('provider.save', {
    id,
    label: id,
    wire: 'chat',
    baseURL: `${mock.url}/v1`,
    options: { models: ['mock-model'], ...(price && { facts: { 'mock-model': { price } } }) },
  })
  await client.command('credential.set', { provider: id, key: 'test-key' })
}

async function session(from = client, id = 'priced'): Promise<string> {
  const made = await from.command('session.create', {
    workspace,
    selection: { provider: id, model: 'mock-model', alsoDefault: false },
  })
  await from.attach(made.session)
  return made.session
}

/** Sends a prompt and tells how its turn ended. */
async function turn(id: string, number: number, from = client, text = `prompt ${number}`) {
  await from.command('session.prompt', { session: id, text })
  return (await from.turnEnd(id, number)).data.reason
}

const usage = async (query = '', from = host): Promise<UsageReport> =>
  (await from.get(`/api/usage${query}`)).json() as Promise<UsageReport>

const state = async (id: string, from = host) => {
  const watcher = await from.connect()
  const frame = await watcher.attach(id)
  await watcher.close()
  if (frame.t !== 'snapshot') throw new Error('no snapshot')
  return frame.state
}

test('every request of a session is priced in its log, and the report, the table and the session agree', async () => {
  mock.script('*', [
    { behavior: 'server_error' },
    { text: 'Done.', usage: USAGE },
    { text: 'Unknown.', usage: { input: 5, output: 7 } },
  ])
  await client.command('provider.save', {
    id: 'priced',
    options: {
      models: ['mock-model'],
      facts: { 'mock-model': { price: { in: 1, out: 2, cacheRead: 0.1 } } },
      retry: { mode: 'normal', retries: 2, baseMs: 1, capMs: 1 },
    },
  })
  const id = await session()
  expect(await turn(id, 1)).toEqual({ kind: 'completed' })
  await provider('free-of-price')
  const other = await session(client, 'free-of-price')
  expect(await turn(other, 1)).toEqual({ kind: 'completed' })
  const answer = await client.event(id, 'assistant/message')
  expect(answer.data).toMatchObject({ price: { in: 1, out: 2, cacheRead: 0.1 }, ms: expect.any(Number) })
  const attempt = await client.event(id, 'assistant/attempt')
  expect(attempt.data).toMatchObject({
    provider: 'priced',
    model: 'mock-model',
    price: { in: 1 },
    ms: expect.any(Number),
  })
  expect((await state(id)).usage.own).toMatchObject({ calls: 2, failed: 1, cost: COST, unpriced: 0 })

  // A row follows its log by a moment.
  await expect.poll(async () => (await usage()).total.requests).toBe(3)
  const report = await usage('?days=7')
  expect(report.total).toMatchObject({ requests: 3, failed: 1, retried: 1, unpriced: 1, outputTokens: 1_000_007 })
  expect(report.total.cost.total).toBeCloseTo(COST, 9)
  expect(report.total.saved).toBeCloseTo(0.9, 9)
  expect(report.days).toHaveLength(7)
  expect(report.days.at(-1)).toMatchObject({ day: report.to, requests: 3 })
  expect(report.rows.map((row) => [row.provider, row.preset, row.requests])).toEqual([
    ['priced', 'standard', 2],
    ['free-of-price', 'standard', 1],
  ])
  expect(report.folders).toMatchObject([{ cwd: host.work, requests: 3 }])
  expect(report.sessions.map((row) => row.session)).toEqual([id, other])
  expect(report.filters).toEqual({ folders: [host.work], presets: ['standard'] })
  expect(report.today).toMatchObject({ unpriced: 1 })
  expect((await usage('?preset=minimal')).total.requests).toBe(0)
  expect(((await usage('?days=8')) as unknown as { error: object }).error).toMatchObject({
    code: 'gateway/bad-request',
  })

  const table = await host.get('/api/usage.csv?days=7')
  expect(table.headers.get('content-disposition')).toBe('attachment; filename="usage-7-days.csv"')
  const [head, ...lines] = (await table.text()).trimEnd().split('\r\n')
  expect(head).toMatch(/^day,provider,model,preset,folder,requests,/)
  expect(lines.map((line) => line.split(',').slice(1, 6))).toEqual([
    ['free-of-price', 'mock-model', 'standard', host.work, '1'],
    ['priced', 'mock-model', 'standard', host.work, '2'],
  ])
  expect(lines[1]).toContain(',3.1,0,')

  // The trash holds what is not counted.
  await client.command('session.delete', { session: id })
  expect((await usage()).total).toMatchObject({ requests: 1, cost: { total: 0 } })
  await client.command('session.restore', { session: id })
  expect((await usage()).total).toMatchObject({ requests: 3 })
  const stranger = await fetch(new URL('/api/usage', host.base))
  expect(stranger.status).toBe(401)
})

test("a session's limit stops the next request before it goes out, says so, and a raised one goes on", async () => {
  mock.script('*', [
    { text: 'One.', usage: USAGE },
    { text: 'Two.', usage: USAGE },
  ])
  const id = await session()
  await client.command('session.budget', { session: id, limit: 3 })
  expect(await turn(id, 1)).toEqual({ kind: 'completed' })
  const stopped = await turn(id, 2)
  expect(stopped).toMatchObject({ kind: 'error', error: { code: 'BUDGET_EXCEEDED' } })
  expect(stopped.kind === 'error' && stopped.error.message).toBe(
    'This session has spent about $3.10 (estimated from list prices) of a limit of $3.00. To go on, raise the limit of this session or the one in Settings > Sessions, then send again.',
  )
  expect(mock.requests).toHaveLength(1)
  const held = await state(id)
  expect(held.budget).toEqual({ limit: 3 })
  const [row] = waiting(held.inbox, 'next-turn')
  expect(row).toMatchObject({ message: { content: [{ text: 'prompt 2' }] }, parked: expect.stringContaining('$3.10') })

  await client.command('session.budget', { session: id, limit: 10 })
  await client.command('queue.send-now', { session: id, message: row!.message.id })
  expect((await client.turnEnd(id, 3)).data.reason).toEqual({ kind: 'completed' })
  expect(mock.requests).toHaveLength(2)
})

test("the host's limits: each session's own wins, a null one gives it back, and unpriced requests are named", async () => {
  mock.script('*', [
    { text: 'One.', usage: USAGE },
    { text: 'Two.', usage: USAGE },
    { text: 'Three.', usage: USAGE },
  ])
  await client.command('budget.save', { session: 1 })
  const id = await session()
  expect(await turn(id, 1)).toEqual({ kind: 'completed' })
  expect(await turn(id, 2)).toMatchObject({ kind: 'error', error: { code: 'BUDGET_EXCEEDED' } })
  await client.command('session.budget', { session: id, limit: 100 })
  await provider('free-of-price')
  await client.command('model.select', {
    session: id,
    provider: 'free-of-price',
    model: 'mock-model',
    alsoDefault: false,
  })
  expect(await turn(id, 3)).toEqual({ kind: 'completed' })
  await client.command('session.budget', { session: id, limit: null })
  const stopped = await turn(id, 4)
  expect(stopped.kind === 'error' && stopped.error.message).toContain(
    'of a limit of $1.00. One more request has no known cost and is not counted.',
  )
  await client.command('budget.save', { session: null })
  expect(await turn(id, 5)).toEqual({ kind: 'completed' })
  expect(mock.requests).toHaveLength(3)
})

test('the limit of the day counts all sessions, those of before a restart too', async () => {
  mock.script('*', [
    { text: 'One.', usage: USAGE },
    { text: 'Two.', usage: USAGE },
  ])
  expect(await turn(await session(), 1)).toEqual({ kind: 'completed' })
  await host.close()
  const again = await startHost({ dataDir: host.dataDir, work: host.work })
  const tab = await again.connect()
  try {
    await tab.command('budget.save', { day: 3 })
    const id = await session(tab)
    const stopped = await turn(id, 1, tab)
    expect(stopped).toMatchObject({ kind: 'error', error: { code: 'BUDGET_EXCEEDED' } })
    expect(stopped.kind === 'error' && stopped.error.message).toMatch(
      /^All sessions together have spent about \$3\.10 \(estimated from list prices\) of a limit of \$3\.00 for today\./,
    )
    expect(mock.requests).toHaveLength(1)
    expect((await usage('', again)).budget).toEqual({ day: 3 })
    await tab.command('budget.save', { day: 6 })
    expect(await turn(id, 2, tab)).toEqual({ kind: 'completed' })
    expect(await turn(id, 3, tab)).toMatchObject({ kind: 'error', error: { code: 'BUDGET_EXCEEDED' } })
    expect(mock.requests).toHaveLength(2)
  } finally {
    await tab.close()
    await again.close()
  }
})

test('a step within a turn is stopped as well, and what the tools did stays', async () => {
  const call = { name: 'bash', arguments: '{"command":"echo done","description":"Say it"}' }
  mock.script('*', [{ toolCalls: [call], usage: USAGE }])
  await client.command('budget.save', { session: 2 })
  const id = await session()
  expect(await turn(id, 1)).toMatchObject({ kind: 'error', error: { code: 'BUDGET_EXCEEDED' } })
  expect(mock.requests).toHaveLength(1)
  expect(client.events(id).filter(({ type }) => type === 'tool/result')).toHaveLength(1)
})
