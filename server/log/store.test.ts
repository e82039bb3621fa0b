import { existsSync, readdirSync, readFileSync, statSync, writeFileSync, appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { draft, type Header } from '../wire/events.ts'
import { encodeLine } from './jsonl/line.ts'
import { header, message, temporary, turn, userMessage } from './samples.ts'
import type { StoreOptions } from './store-options.ts'
import { SessionStore } from './store.ts'
import { Vocabulary } from './vocabulary.ts'

let root: string
let remove: () => void
const stores: SessionStore[] = []
const open = (options: StoreOptions = {}): SessionStore => {
  const store = new SessionStore(root, options)
  stores.push(store)
  return store
}
const directory = (id = 's1'): string => join(root, 'sessions', '2026-11', id)
const file = (id = 's1'): string => join(directory(id), 'log.jsonl')
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'resolved',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  )

beforeEach(() => {
  ;({ root, remove } = temporary())
})
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close().catch(() => {})
  remove()
})

async function written(store: SessionStore, turns: number, fields: Partial<Header> = {}): Promise<void> {
  const log = store.create(header(fields))
  for (let number = 1; number <= turns; number++) log.append(...turn(number))
  await log.close()
}

describe('files', () => {
  test('SL-01 each line is plain JSON whose last key is the CRC-32 of the record without it', async () => {
    const store = open()
    await written(store, 1)
    const lines = readFileSync(file(), 'utf8').trimEnd().split('\n')
    expect(lines).toHaveLength(8)
    for (const line of lines) {
      const { crc, ...record } = JSON.parse(line) as { crc: string }
      expect(Object.keys(JSON.parse(line) as object).at(-1)).toBe('crc')
      expect(encodeLine(record).trimEnd()).toBe(line)
      expect(crc).toMatch(/^[0-9a-f]{8}$/)
    }
    expect(lines[0]).toMatch(/^\{"type":"session"/)
  })

  test('SL-01 the checksum is the common CRC-32: a known value', () => {
    // Computed by another implementation (zlib.crc32 of Python).
    expect(encodeLine({ a: 1 })).toBe('{"a":1,"crc":"561bacaf"}\n')
  })

  test('SL-08 a blank session with pinned values only leaves nothing on disk', async () => {
    const store = open()
    const log = store.create(header())
    log.append(
      draft('permission/preset', { preset: 'default' }),
      draft('sandbox/mode', { mode: 'workspace-write' }),
      draft('approval/policy', { policy: 'prompt' }),
    )
    await log.barrier()
    await log.close()
    expect(existsSync(join(root, 'sessions'))).toBe(false)
    expect(await store.list()).toEqual([])
  })

  test('SL-08 the first real event publishes the pinned values before it, and no temporary file stays', async () => {
    const store = open()
    const log = store.create(header())
    log.append(draft('permission/preset', { preset: 'default' }))
    log.append(draft('agent-preset/selected', { agentPreset: 'minimal' }))
    await log.barrier()
    expect(readdirSync(directory()).sort()).toEqual(['log.jsonl', 'owner.json'])
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    const { log: read } = await store.openRead('s1')
    expect(read.events.map((event) => event.type)).toEqual(['permission/preset', 'agent-preset/selected'])
  })

  test('SL-08 a log that another process published first is never replaced', async () => {
    const [one, two] = [open(), open()]
    const first = one.create(header())
    const second = two.create(header())
    first.append(userMessage('first'))
    second.append(userMessage('second'))
    await first.barrier()
    expect(await codeOf(second.barrier())).toBe('session/conflict')
    const { log } = await open().openRead('s1')
    expect(log.events.map((event) => event.data)).toMatchObject([{ message: { id: 'first' } }])
  })

  test('an id that could leave the folder is refused', async () => {
    const store = open()
    expect(() => store.create(header({ id: '../x' }))).toThrow(/session id/)
    expect(() => store.create(header({ cwd: 'relative' }))).toThrow(/absolute/)
    expect(await store.exists('../../etc')).toBe(false)
    expect(await codeOf(store.openWrite('nothing'))).toBe('session/not-found')
  })

  test('what was written comes back equal, continues, and is monotonic', async () => {
    const store = open()
    const log = store.create(header({ agentPreset: 'standard', cwd: '/tmp' }))
    log.append(...turn(1, 'lone \ud800 and \u0000 and 😀'))
    await log.barrier()
    const before = JSON.parse(JSON.stringify(log.events)) as unknown
    await log.close()
    const again = await store.openWrite('s1')
    expect(JSON.parse(JSON.stringify(again.log.events))).toEqual(before)
    expect(again.log.header).toEqual(log.header)
    expect(again.repaired).toEqual({ torn: null, journal: false, closers: 0, upgradedFrom: null })
    again.log.append(...turn(2))
    await again.log.close()
    const { log: read } = await store.openRead('s1')
    expect(read.events.map((event) => event.seq)).toEqual(Array.from({ length: 14 }, (_, index) => index))
    expect(Object.isFrozen(read.events[3]!.data)).toBe(true)
  })

  test('opening for write twice in one process is refused, and possible again after closing', async () => {
    const store = open()
    await written(store, 1)
    const { log } = await store.openWrite('s1')
    expect(await codeOf(store.openWrite('s1'))).toBe('session/conflict')
    await log.close()
    expect(await codeOf(store.openWrite('s1'))).toBe('resolved')
  })
})

describe('one writer', () => {
  test('SL-15 B23 a session held by a living process is refused with its pid, host and since', async () => {
    const [one, two] = [open({ now: () => 1_700_000_000_000 }), open()]
    const log = one.create(header())
    log.append(userMessage('a'))
    await log.barrier()
    const error = await two.openWrite('s1').catch((caught: unknown) => caught)
    expect(error).toMatchObject({
      code: 'session/writer-held',
      details: { pid: process.pid, since: 1_700_000_000_000 },
    })
    expect((error as Error).message).toMatch(/process \d+ on .+ since 2023-11-14T/)
    expect((await two.openRead('s1')).log.events).toHaveLength(1)
  })

  test('SL-15 after the writer is gone another takes over, and what the owner file holds does not matter', async () => {
    const one = open()
    await written(one, 1)
    for (const content of [
      '{"writer":"00000000-0000-4000-8000-000000000000","pid":1,"host":"h","since":0}',
      '',
      '{"wri',
    ]) {
      writeFileSync(join(directory(), 'owner.json'), content)
      const two = open()
      const { log } = await two.openWrite('s1')
      await log.close()
      expect(existsSync(join(directory(), 'owner.json'))).toBe(false)
    }
  })

  test('B21 bytes that something else wrote stop the log instead of forking the sequence', async () => {
    const store = open()
    const log = store.create(header())
    log.append(...turn(1))
    await log.barrier()
    const foreign = encodeLine({ type: 'todo/write', seq: 7, time: 1, data: { todos: [] } })
    appendFileSync(file(), foreign)
    const told: (string | undefined)[] = []
    log.onRefusal((refusal) => told.push(refusal?.code))
    log.append(...turn(2))
    expect(await codeOf(log.barrier())).toBe('session/conflict')
    expect(told).toEqual(['session/conflict'])
    expect(() => log.append(userMessage('late'))).toThrow(/something else wrote/)
    expect(await codeOf(log.retry())).toBe('session/conflict')
    expect(readFileSync(file(), 'utf8').endsWith(foreign)).toBe(true)
  })

  test('B34 an acknowledged prompt is in the file before anything else happens', async () => {
    const store = open()
    const log = store.create(header())
    log.append(draft('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [message('u', 'hello')] }))
    await log.barrier()
    expect(readFileSync(file(), 'utf8')).toContain('"hello"')
  })
})

describe('versions and vocabulary', () => {
  const rewriteHeader = (change: object): void => {
    const [first, ...rest] = readFileSync(file(), 'utf8').split('\n')
    const { crc: _, ...head } = JSON.parse(first!) as Record<string, unknown>
    writeFileSync(file(), encodeLine({ ...head, ...change }) + rest.join('\n'))
  }

  test('SL-17 an older file is converted in memory for viewing and kept as a backup when it is continued', async () => {
    const store = open()
    await written(store, 1)
    rewriteHeader({ version: 0 })
    const old = readFileSync(file(), 'utf8')
    const viewed = await store.openRead('s1')
    expect(viewed.log.header.version).toBe(1)
    expect(readFileSync(file(), 'utf8')).toBe(old)
    const { log, repaired } = await store.openWrite('s1')
    expect(repaired.upgradedFrom).toBe(0)
    log.append(...turn(2))
    await log.close()
    expect(readFileSync(join(directory(), 'log.v0.bak'), 'utf8')).toBe(old)
    expect((await store.openRead('s1')).log.events).toHaveLength(14)
    expect(readFileSync(file(), 'utf8')).toMatch(/^\{"type":"session","version":1/)
  })

  test('SL-17 a newer file is refused with the way out, for viewing too', async () => {
    const store = open()
    await written(store, 1)
    rewriteHeader({ version: 2 })
    await expect(store.openRead('s1')).rejects.toThrow(/Upgrade core-web/)
    await expect(store.openWrite('s1')).rejects.toMatchObject({ code: 'session/read-only', details: { version: 2 } })
  })

  test('SL-18 an unknown type that is not ignorable refuses to continue and names the plugin; viewing works', async () => {
    const vocabulary = new Vocabulary()
    vocabulary.register({ types: ['foo/state'], plugin: 'foo', version: '^2' })
    const writing = open({ vocabulary })
    const log = writing.create(header())
    log.append(...turn(1))
    log.append({ type: 'foo/state', data: {} } as never)
    await log.close()
    const store = open()
    await expect(store.openWrite('s1')).rejects.toThrow(/unknown type foo\/state. It needs the plugin foo@\^2/)
    expect(existsSync(join(directory(), 'owner.json'))).toBe(false)
    const read = await store.openRead('s1')
    expect(read.unknown).toEqual({ type: 'foo/state', needs: 'foo@^2' })
    expect(read.log.events).toHaveLength(9)
    expect(await codeOf(open({ vocabulary }).openWrite('s1'))).toBe('resolved')
  })

  test('SL-18 an unknown type that is ignorable is passed over', async () => {
    const store = open()
    await written(store, 1)
    appendFileSync(file(), encodeLine({ type: 'bar/hint', seq: 7, time: 1, data: {}, ignorable: true }))
    const { log } = await store.openWrite('s1')
    expect(log.events).toHaveLength(8)
  })
})

describe('trash', () => {
  test('a removed session is gone from the list, comes back whole, and is purged by age', async () => {
    const store = open({ now: () => 1000 })
    await written(store, 1)
    await written(store, 1, { id: 's2' })
    await store.remove('s1')
    expect((await store.list()).map((each) => each.id)).toEqual(['s2'])
    expect((await store.listTrash()).map((each) => each.id)).toEqual(['s1'])
    expect(await codeOf(store.openRead('s1'))).toBe('session/not-found')
    await store.restore('s1')
    expect((await store.openWrite('s1')).log.events).toHaveLength(7)
    await store.remove('s2')
    expect(await store.purge(1000)).toEqual([])
    expect(await store.purge(1001)).toEqual(['s2'])
    expect(await codeOf(store.restore('s2'))).toBe('session/not-found')
  })

  test('a session that is open cannot be removed, here or elsewhere', async () => {
    const [one, two] = [open(), open()]
    const log = one.create(header())
    log.append(userMessage('a'))
    await log.barrier()
    expect(await codeOf(one.remove('s1'))).toBe('session/conflict')
    expect(await codeOf(two.remove('s1'))).toBe('session/writer-held')
  })
})

test('one damaged session never hides another', async () => {
  const store = open()
  await written(store, 1)
  await written(store, 1, { id: 's2' })
  writeFileSync(file(), 'garbage\n')
  expect((await store.list()).map((each) => each.id).sort()).toEqual(['s1', 's2'])
  expect((await store.openRead('s2')).damage).toBeNull()
  expect(await codeOf(store.openRead('s1'))).toBe('session/corrupt')
  expect(await codeOf(store.openWrite('s1'))).toBe('session/corrupt')
})
