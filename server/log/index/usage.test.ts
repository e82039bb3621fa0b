import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { draft, type Draft, type Header } from '../../wire/events.ts'
import type { Usage } from '../../wire/messages.ts'
import type { Price } from '../../wire/models.ts'
import { sessionState } from '../../projection/session-state.ts'
import { header, requestHeader, temporary, turn } from '../samples.ts'
import type { SessionLog } from '../session-log.ts'
import { SessionStore } from '../store.ts'
import { IndexDb } from './index-db.ts'
import { REQUEST_COLUMNS } from './requests.ts'
import { SessionIndex } from './session-index.ts'
import { CELLS } from './usage-cells.ts'
import { localDays } from './usage.ts'

let root: string
let remove: () => void
let store: SessionStore
let index: SessionIndex
let clock: number

const HOUR = 3_600_000
/** Noon of this machine's clock. */
const NOW = new Date(2026, 10, 30, 12).getTime()
const at = { turn: 1, step: 1 }

beforeEach(() => {
  ;({ root, remove } = temporary())
  clock = NOW
  store = new SessionStore(root, { now: () => clock })
  index = new SessionIndex({ root })
})
afterEach(async () => {
  await index.close()
  await store.close()
  remove()
})

interface Call {
  provider?: string
  model?: string
  usage?: Usage
  price?: Price
  firstDeltaMs?: number
}
const answered = ({ provider = 'p', model = 'm', ...more }: Call): Draft =>
  draft('assistant/message', {
    ...at,
    message: { id: 'a', role: 'assistant', content: [], source: { kind: 'model', provider, model } },
    stream: [],
    ...more,
  })
const failed = (call: Call, status = 500): Draft =>
  draft('assistant/attempt', {
    ...at,
    attempt: 1,
    stream: [],
    provider: 'p',
    model: 'm',
    error: { code: 'SERVER', message: 'no', status },
    ...call,
  })
const again: Draft = draft('llm/retry-started', { ...at, attempt: 2 })
const titled = (call: Call): Draft =>
  draft('session/title-llm-request', { provider: 'p', model: 'small', ms: 3, ...call })

const DOLLAR: Price = { in: 1, out: 2, cacheRead: 0.5 }
const MILLION: Usage = { inputTokens: 1e6, cacheReadTokens: 1e6, outputTokens: 1e6 }

/** A finished session whose events were logged at `time`. */
async function session(id: string, drafts: Draft[], fields: Partial<Header> = {}, time = NOW): Promise<void> {
  clock = time
  const log = store.create(header({ id, createdAt: time, ...fields }))
  log.append(...turn(1).slice(0, 3), ...drafts)
  await log.close()
  clock = NOW
}
const report = (query: { days?: number; cwd?: string; preset?: string } = {}, now = NOW) =>
  index.usage({ days: 7, now, ...query })

test('requests are counted by day, model, folder and session; money only where it is known', async () => {
  const cheap = { usage: { inputTokens: 1000, outputTokens: 10 }, price: { in: 0.1, out: 0.1 }, firstDeltaMs: 50 }
  await session(
    'a',
    [
      failed({}),
      again,
      answered({ usage: MILLION, price: DOLLAR, firstDeltaMs: 100 }),
      answered({ usage: { outputTokens: 5 }, firstDeltaMs: 300 }),
      titled(cheap),
      draft('session/title', { title: 'Costly', source: 'model' }),
    ],
    { cwd: '/work/a', agentPreset: 'standard' },
  )
  await session(
    'b',
    [answered({ ...cheap, provider: 'q' })],
    { cwd: '/work/b', agentPreset: 'minimal' },
    NOW - 24 * HOUR,
  )
  await session('old', [answered({ usage: MILLION, price: DOLLAR })], {}, NOW - 8 * 24 * HOUR)
  await session('older', [answered({ usage: MILLION, price: DOLLAR })], {}, NOW - 30 * 24 * HOUR)
  await index.start()
  const all = await report()
  expect(all).toMatchObject({ from: '2026-11-24', to: '2026-11-30', before: { requests: 1, cost: { total: 3.5 } } })
  expect(all.total).toEqual({
    requests: 5,
    failed: 1,
    retried: 1,
    inputTokens: 1_002_000,
    cacheReadTokens: 1e6,
    outputTokens: 1_000_025,
    cost: {
      input: 1.0002,
      cacheRead: 0.5,
      cacheWrite: 0,
      output: expect.closeTo(2.000002, 9),
      total: expect.closeTo(3.500202, 9),
    },
    unpriced: 1,
    saved: 0.5,
    firstMs: 100,
  })
  expect(all.days.map((day) => [day.day, day.requests])).toEqual([
    ['2026-11-24', 0],
    ['2026-11-25', 0],
    ['2026-11-26', 0],
    ['2026-11-27', 0],
    ['2026-11-28', 0],
    ['2026-11-29', 1],
    ['2026-11-30', 4],
  ])
  expect(all.days[0]).toEqual({
    day: '2026-11-24',
    requests: 0,
    failed: 0,
    retried: 0,
    cost: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, total: 0 },
    unpriced: 0,
    saved: 0,
  })
  expect(all.rows.map((row) => [row.provider, row.model, row.preset, row.requests])).toEqual([
    ['p', 'm', 'standard', 3],
    ['q', 'm', 'minimal', 1],
    ['p', 'small', 'standard', 1],
  ])
  expect(all.rows[0]).toMatchObject({ firstMs: 200, unpriced: 1 })
  expect(all.folders.map((row) => [row.cwd, row.requests])).toEqual([
    ['/work/a', 4],
    ['/work/b', 1],
  ])
  expect(all.sessions).toMatchObject([
    { session: 'a', title: 'Costly', cwd: '/work/a', preset: 'standard', turns: 1, requests: 4 },
    { session: 'b', title: '', requests: 1 },
  ])
  expect(all.filters).toEqual({ folders: ['/work/a', '/work/b'], presets: ['minimal', 'standard'] })
  expect(all.today).toEqual({ cost: expect.closeTo(3.500101, 9), unpriced: 1 })

  const some = await report({ preset: 'minimal' })
  expect(some).toMatchObject({ total: { requests: 1 }, before: { requests: 0 }, today: { unpriced: 1 } })
  expect(some.filters).toEqual(all.filters)
  expect((await report({ cwd: '/work/a', preset: 'minimal' })).total.requests).toBe(0)
  expect(
    (await index.usageTable({ days: 7, now: NOW })).map((line) => [
      line.day,
      line.provider,
      line.model,
      line.preset,
      line.cwd,
      line.requests,
    ]),
  ).toEqual([
    ['2026-11-29', 'q', 'm', 'minimal', '/work/b', 1],
    ['2026-11-30', 'p', 'm', 'standard', '/work/a', 3],
    ['2026-11-30', 'p', 'small', 'standard', '/work/a', 1],
  ])
  const midnight = new Date(2026, 10, 30).getTime()
  expect(await index.spent(midnight)).toEqual([
    { session: 'a', seq: 7, cost: expect.closeTo(3.500101, 9), unpriced: 1 },
  ])
})

test('ten sessions at most, the costliest; what has no known cost goes by its requests', async () => {
  for (let n = 0; n < 12; n++)
    await session(`s${n}`, [answered({ usage: { inputTokens: n * 1000, outputTokens: 0 }, price: DOLLAR })])
  await session('free', [answered({}), answered({})])
  await index.start()
  const { sessions, folders, filters } = await report()
  expect(sessions.map((row) => row.session)).toEqual(['s11', 's10', 's9', 's8', 's7', 's6', 's5', 's4', 's3', 's2'])
  expect(folders).toMatchObject([{ cwd: null, requests: 14 }])
  expect(filters).toEqual({ folders: [], presets: [] })
})

test('a log with odd numbers keeps no other session out of the index', async () => {
  const odd = { inputTokens: 1.5, outputTokens: Number.MAX_VALUE }
  await session('odd', [answered({ usage: odd, price: DOLLAR, firstDeltaMs: 2.5 })], {}, NOW + 0.25)
  await session('plain', [answered({ usage: MILLION, price: DOLLAR })])
  await index.start()
  const { sessions } = await report()
  expect(sessions.map((row) => row.session).sort()).toEqual(['odd', 'plain'])
  expect((await index.list({ limit: 9 })).rows).toHaveLength(2)
})

test("a fork's inherited requests are its parent's; a session in the trash is not counted", async () => {
  await session('parent', [
    answered({ usage: MILLION, price: DOLLAR }),
    draft('turn/end', { turn: 1, reason: { kind: 'completed' } }),
  ])
  const fork = await store.fork('parent', { id: 'fork' })
  fork.append(requestHeader('p', 'm'), answered({ usage: MILLION, price: DOLLAR }))
  await fork.close()
  await index.start()
  expect((await report()).sessions.map((row) => [row.session, row.requests])).toEqual(
    expect.arrayContaining([
      ['parent', 1],
      ['fork', 1],
    ]),
  )
  await session('gone', [answered({ usage: MILLION, price: DOLLAR })])
  await index.refresh('gone')
  expect((await report()).total.requests).toBe(3)
  await store.remove('gone')
  await index.refresh('gone')
  expect((await report()).total.requests).toBe(2)
})

test('a session that is continued before the index has read its file is whole in it all the same', async () => {
  await session('a', [
    answered({ usage: MILLION, price: DOLLAR }),
    draft('turn/end', { turn: 1, reason: { kind: 'completed' } }),
  ])
  const { log } = await store.openWrite('a')
  const stop = log.observe((events) => index.note(log.header, log.state(sessionState), events))
  log.append(...turn(2, 'a second prompt'), answered({ usage: MILLION, price: DOLLAR }))
  expect((await report()).total).toMatchObject({ requests: 3 })
  expect((await index.search('turn 1')).map((hit) => hit.session)).toEqual(['a'])
  stop()
  await log.close()
  expect(await index.start()).toMatchObject({ removed: 0 })
  expect((await report()).total).toMatchObject({ requests: 3 })
})

const count = fc.option(fc.nat(50_000), { nil: undefined })
const call: fc.Arbitrary<Call> = fc
  .record({
    model: fc.constantFrom('m', 'n'),
    input: count,
    output: count,
    price: fc.option(fc.constant(DOLLAR), { nil: undefined }),
    firstDeltaMs: fc.option(fc.nat(3000), { nil: undefined }),
  })
  .map(({ model, input, output, price, firstDeltaMs }) => ({
    model,
    usage: {
      ...(input !== undefined && { inputTokens: input }),
      ...(output !== undefined && { outputTokens: output }),
    },
    ...(price && { price }),
    ...(firstDeltaMs !== undefined && { firstDeltaMs }),
  }))
const deed = fc.oneof(
  call.map((one) => [answered(one)]),
  call.map((one) => [failed(one)]),
  call.map((one) => [failed(one), again]),
  call.map((one) => [titled(one)]),
  fc.constant(turn(2)),
)
const story = fc.record({
  sessions: fc.array(fc.array(deed, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 }),
  fork: fc.array(deed, { maxLength: 4 }),
  hours: fc.integer({ min: 1, max: 20 }),
})

test('an index that was told of everything as it happened equals one that is built from the files', async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ sessions, fork, hours }) => {
      const place = temporary()
      const logs = new SessionStore(place.root, { now: () => clock })
      const told = new SessionIndex({ root: place.root })
      clock = NOW - 5 * 24 * HOUR
      const write = (log: SessionLog, deeds: Draft[][]) => {
        const stop = log.observe((events) => told.note(log.header, log.state(sessionState), events))
        for (const drafts of deeds) {
          clock += hours * 600_000
          log.append(...drafts)
        }
        stop()
      }
      for (const [n, deeds] of sessions.entries()) {
        const log = logs.create(header({ id: `s${n}`, createdAt: clock, cwd: `/w/${n % 2}` }))
        write(log, [turn(1), ...deeds])
        await log.close()
      }
      const branch = await logs.fork('s0', { id: 'fork' })
      write(branch, [turn(3), ...fork])
      await branch.close()
      await logs.close()
      const live = await everything(told)
      await told.close()
      for (const end of ['', '-wal', '-shm']) rmSync(join(place.root, `index.db${end}`), { force: true })
      const rebuilt = new SessionIndex({ root: place.root })
      await rebuilt.start()
      expect(await everything(rebuilt)).toEqual(live)
      await rebuilt.close()
      place.remove()
    }),
    { numRuns: 8 },
  )
})

/** Sums do not say in which order they were added up: their last digits are left out. */
async function everything(from: SessionIndex): Promise<unknown> {
  const query = { days: 7, now: NOW }
  const all = [await from.usage(query), await from.usageTable(query), await from.spent(0)]
  return JSON.parse(
    JSON.stringify(all, (_, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(10)) : value)),
  )
}

test('days begin where the clock says midnight, also when it is put forward or back', () => {
  const script = `import { localDays } from './server/log/index/usage.ts'
    const day = (text, days) => localDays(new Date(text).getTime(), days).map(({ name, from, to }) => name + ' ' + (to - from) / 3600000)
    console.log(JSON.stringify([day('2026-03-30T10:00:00+02:00', 3), day('2026-10-25T23:30:00+01:00', 2)]))`
  const run = (TZ: string): unknown =>
    JSON.parse(
      execFileSync(process.execPath, ['--input-type=module-typescript', '-e', script], {
        cwd: join(import.meta.dirname, '../../..'),
        env: { ...process.env, TZ },
        encoding: 'utf8',
      }),
    )
  expect(run('Europe/Berlin')).toEqual([
    ['2026-03-28 24', '2026-03-29 23', '2026-03-30 24'],
    ['2026-10-24 24', '2026-10-25 25'],
  ])
  expect(run('Asia/Tokyo')).toEqual([
    ['2026-03-28 24', '2026-03-29 24', '2026-03-30 24'],
    ['2026-10-25 24', '2026-10-26 24'],
  ])
})

test('the days follow each other without a gap', () => {
  const days = localDays(NOW, 400)
  for (const [n, day] of days.entries()) expect(days[n + 1]?.from ?? day.to).toBe(day.to)
  expect(days.at(-1)!.from).toBeLessThanOrEqual(NOW)
})

test('a hundred thousand requests are summed up in a moment, by the index on their time', async () => {
  const database = new IndexDb(root)
  const columns = (n: number) => [
    'p',
    `m${n % 6}`,
    'turn',
    1000,
    5000,
    null,
    300,
    null,
    0.1,
    0.2,
    0,
    0.3,
    0.1,
    1,
    0,
    200 + (n % 900),
    900,
  ]
  expect(columns(0)).toHaveLength(REQUEST_COLUMNS.length)
  database.transaction(() =>
    database.putRequests(
      Array.from({ length: 100_000 }, (_, n) => ({
        session: `s${Math.floor(n / 100)}`,
        seq: n,
        at: NOW - 170 * 24 * HOUR + n * 147_000,
        columns: columns(n),
      })),
    ),
  )
  const started = process.cpuUsage()
  const sums = database.usage({ days: 90, now: NOW })
  const { user, system } = process.cpuUsage(started)
  const ms = (user + system) / 1000
  expect(sums.total.requests + sums.before.requests).toBeGreaterThan(99_000)
  // About a tenth of a second of one processor; it runs on a thread of its own.
  expect(ms).toBeLessThan(1000)
  database.close()
  const plain = new DatabaseSync(join(root, 'index.db'))
  const plan = plain
    .prepare(`explain query plan ${CELLS}`)
    .all(0, 1)
    .map((step) => String(step['detail']))
  expect(plan[0]).toMatch(/^SEARCH request USING INDEX request_at \(at>\? AND at<\?\)/)
  plain.close()
})
