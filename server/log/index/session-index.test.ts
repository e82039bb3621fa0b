import { existsSync, rmSync, writeFileSync, appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { draft, type Draft, type Header } from '../../wire/events.ts'
import { sessionState } from '../../projection/session-state.ts'
import { answer, header, message, temporary, turn } from '../samples.ts'
import type { SessionLog } from '../session-log.ts'
import { SessionStore } from '../store.ts'
import { SessionIndex } from './session-index.ts'

let root: string
let remove: () => void
let store: SessionStore
let index: SessionIndex

beforeEach(() => {
  ;({ root, remove } = temporary())
  store = new SessionStore(root, { now: () => ++clock })
  index = new SessionIndex({ root })
})
afterEach(async () => {
  await index.close()
  await store.close()
  remove()
})

let clock = 1000
const titled = (title: string): Draft => draft('session/title', { title, source: 'user' })

async function session(id: string, drafts: Draft[], fields: Partial<Header> = {}): Promise<void> {
  const log = store.create(header({ id, createdAt: ++clock, ...fields }))
  log.append(...drafts)
  await log.close()
}
const ids = async (): Promise<string[]> => (await index.list({ limit: 100 })).rows.map((row) => row.id)
const found = async (text: string): Promise<string[]> =>
  (await index.search(text)).map((hit) => `${hit.session}:${hit.seq}:${hit.kind}`)
const follow = (log: SessionLog): (() => void) =>
  log.observe((events) => index.note(log.header, log.state(sessionState), events))

test('SL-21 rows and texts are read from the logs at start, latest first', async () => {
  await session('old', [...turn(1), titled('Older')], { agentPreset: 'minimal', cwd: '/tmp/x' })
  await session('new', turn(1, 'needle in the haystack'))
  expect(await index.start()).toEqual({ read: 2, removed: 0 })
  const { rows } = await index.list({ limit: 10 })
  expect(rows.map((row) => row.id)).toEqual(['new', 'old'])
  expect(rows[1]).toMatchObject({
    title: 'Older',
    cwd: '/tmp/x',
    preset: 'minimal',
    provider: 'p',
    model: 'm',
    status: 'idle',
    turns: 1,
    lastSeq: 7,
    tokensIn: null,
    pinned: false,
  })
  expect(await found('needle')).toEqual(['new:2:prompt'])
})

test('SL-21 B27 a second start opens only what changed, and forgets what is gone', async () => {
  await session('a', turn(1))
  await session('b', turn(1))
  await session('c', turn(1))
  await index.start()
  await index.close()
  const { log } = await store.openWrite('b')
  log.append(...turn(2, 'second prompt'))
  await log.close()
  await store.remove('c')
  index = new SessionIndex({ root })
  expect(await index.start()).toEqual({ read: 1, removed: 1 })
  expect(await ids()).toEqual(['b', 'a'])
  expect((await index.list({ limit: 1 })).rows[0]).toMatchObject({ id: 'b', turns: 2, lastSeq: 13 })
  expect(await found('second prompt')).toEqual(['b:9:prompt'])
})

test('SL-21 a deleted or damaged index is built anew, and marks survive', async () => {
  await session('a', [...turn(1), titled('Kept')])
  await index.start()
  expect(await index.patch('a', { pinned: true })).toMatchObject({ id: 'a', pinned: true, archived: false })
  const before = await index.list({ limit: 10 })
  await index.close()
  for (const damage of [
    () => rmSync(join(root, 'index.db')),
    () => writeFileSync(join(root, 'index.db'), 'not a database'),
  ]) {
    for (const end of ['-wal', '-shm']) rmSync(join(root, `index.db${end}`), { force: true })
    damage()
    index = new SessionIndex({ root })
    await index.start()
    expect(await index.list({ limit: 10 })).toEqual(before)
    await index.close()
  }
})

test('SL-21 running sessions are indexed as they go, without a read of the file', async () => {
  await index.start()
  const log = store.create(header({ id: 'live' }))
  follow(log)
  log.append(...turn(1, 'a live prompt').slice(0, 5))
  expect((await index.list({ limit: 10 })).rows).toMatchObject([{ id: 'live', status: 'running', turns: 1 }])
  log.append(titled('Named'), ...turn(1).slice(5))
  expect(await index.get('live')).toMatchObject({ title: 'Named', status: 'idle' })
  expect(await found('live prompt')).toEqual(['live:2:prompt'])
  await log.close()
})

test('SL-23 a cache that is ahead of its log is discarded, never believed', async () => {
  await session('a', turn(1))
  await index.start()
  const { log } = await store.openWrite('a')
  const ahead = sessionState.apply(log.state(sessionState), {
    ...titled('never written'),
    seq: 99,
    time: 9_999_999,
  })
  index.note(log.header, ahead, [])
  await index.flush()
  log.append(...turn(2))
  await log.close()
  await index.close()
  index = new SessionIndex({ root })
  await index.start()
  expect(await index.get('a')).toMatchObject({ title: null, lastSeq: 13, turns: 2 })
})

test('SL-22 short queries and CJK are found, and no character is query syntax', async () => {
  await session('cjk', turn(1, '修复登录页面的问题'))
  await session('code', turn(1, 'say "x AND y" 100% of a_b \\ done NEAR( OR * -'))
  await index.start()
  expect(await found('登录')).toEqual(['cjk:2:prompt'])
  expect(await found('登')).toEqual(['cjk:2:prompt'])
  expect(await found('登录页面')).toEqual(['cjk:2:prompt'])
  expect(await found('%')).toEqual(['code:2:prompt'])
  expect(await found('a_b')).toEqual(['code:2:prompt'])
  expect(await found('_')).toEqual(['code:2:prompt'])
  for (const text of ['"x AND', 'NEAR(', 'OR', '*', '"', 'y" 100%', '\\', 'SAY']) {
    expect([text, await found(text)]).toEqual([text, ['code:2:prompt']])
  }
  expect(await found('x OR z')).toEqual([])
  expect(await found('   ')).toEqual([])
})

test('a hit tells where its word stands', async () => {
  await session('a', turn(1, `${'long '.repeat(50)}Needle${' tail'.repeat(50)}`))
  await index.start()
  const [hit] = await index.search('needle')
  expect(hit!.snippet.slice(hit!.match!.start, hit!.match!.start + hit!.match!.length)).toBe('Needle')
  expect(hit!.snippet.length).toBeLessThan(140)
})

test('pages are stable while rows move: every session comes once', async () => {
  for (let number = 0; number < 25; number++) await session(`s${number}`, turn(1))
  await index.start()
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await index.list({ limit: 7, ...(cursor !== undefined && { cursor }) })
    seen.push(...page.rows.map((row) => row.id))
    cursor = page.next
  } while (cursor !== undefined)
  expect(seen).toEqual(Array.from({ length: 25 }, (_, number) => `s${24 - number}`))
})

test('archived sessions leave the list, filters look at title, folder and id', async () => {
  await session('a', [...turn(1), titled('Fix 100% of it')])
  await session('b', turn(1), { cwd: '/home/me/project' })
  await index.start()
  await index.patch('a', { archived: true })
  expect(await ids()).toEqual(['b'])
  expect((await index.list({ limit: 9, archived: true })).rows.map((row) => row.id)).toEqual(['a'])
  expect((await index.list({ limit: 9, query: 'PROJECT' })).rows.map((row) => row.id)).toEqual(['b'])
  expect((await index.list({ limit: 9, archived: true, query: '100%' })).rows.map((row) => row.id)).toEqual(['a'])
  expect((await index.list({ limit: 9, query: '%' })).rows).toEqual([])
})

test('a damaged log is listed as damaged with what can be read, and hides no other', async () => {
  await session('good', turn(1))
  await session('bad', [...turn(1), titled('Half')])
  await session('worse', turn(1))
  const file = (id: string): string => join(root, 'sessions', '1970-01', id, 'log.jsonl')
  appendFileSync(file('bad'), 'garbage\nmore garbage\n')
  writeFileSync(file('worse'), 'no header\n')
  await index.start()
  const { rows } = await index.list({ limit: 9 })
  expect(Object.fromEntries(rows.map((row) => [row.id, [row.status, row.title]]))).toEqual({
    good: ['idle', null],
    bad: ['damaged', 'Half'],
    worse: ['damaged', null],
  })
})

test('a log that nobody runs but that ends in an open turn is interrupted', async () => {
  await session('cut', turn(1).slice(0, 4))
  await index.start()
  expect(await index.get('cut')).toMatchObject({ status: 'interrupted' })
})

test('a fork is listed once with its parent, and inherited texts are found in the parent only', async () => {
  await session('parent', turn(1, 'original wording'))
  const log = await store.fork('parent', { id: 'child' })
  log.append(
    draft('user/message', { message: message('x', 'child wording') }),
    answer('y', [{ type: 'text', text: 'ok' }]),
  )
  await log.close()
  await index.start()
  expect(await index.get('child')).toMatchObject({ parent: 'parent', turns: 1 })
  expect(await found('original wording')).toEqual(['parent:2:prompt'])
  expect(await found('child wording')).toEqual(['child:8:prompt'])
})

test('a removed and a restored session leave and re-enter the index', async () => {
  await session('a', turn(1, 'findable'))
  await index.start()
  await store.remove('a')
  await index.remove('a')
  expect([await ids(), await found('findable')]).toEqual([[], []])
  await store.restore('a')
  await index.refresh('a')
  expect([await ids(), await found('findable')]).toEqual([['a'], ['a:2:prompt']])
})

test('an index of another version is built anew', async () => {
  const other = new DatabaseSync(join(root, 'index.db'))
  other.exec('create table session(x); pragma user_version=999')
  other.close()
  await session('a', turn(1))
  await index.start()
  expect(await ids()).toEqual(['a'])
})

test('no worker and no file before the first use', async () => {
  expect(existsSync(join(root, 'index.db'))).toBe(false)
  await index.close()
  expect(existsSync(join(root, 'index.db'))).toBe(false)
})
