import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { draft } from '../wire/events.ts'
import { faultDisk, ioError, noSpace, type Fault } from './fault-disk.ts'
import { header, temporary, turn, userMessage } from './samples.ts'
import type { StoreOptions } from './store-options.ts'
import { SessionStore } from './store.ts'

let root: string
let remove: () => void
let store: SessionStore
const fault: { current: Fault | null } = { current: null }
let disk: ReturnType<typeof faultDisk>
const make = (options: StoreOptions = {}): SessionStore => (store = new SessionStore(root, { disk, ...options }))
const file = (id = 's1'): string => join(root, 'sessions', '2026-11', id, 'log.jsonl')
const lines = (id = 's1'): number => readFileSync(file(id), 'utf8').split('\n').length - 1
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'resolved',
    (error: { code?: string }) => String(error.code),
  )

beforeEach(() => {
  ;({ root, remove } = temporary())
  fault.current = null
  disk = faultDisk(fault)
})
afterEach(async () => {
  fault.current = null
  await store.close().catch(() => {})
  remove()
})

async function published(id = 's1', options: StoreOptions = {}) {
  const log = make(options).create(header({ id }))
  log.append(...turn(1))
  await log.barrier()
  return log
}

describe('barriers', () => {
  test('SL-05 a barrier covers everything appended before it with one write and one fdatasync', async () => {
    const log = await published()
    const before = { ...disk.calls }
    log.append(...turn(2))
    log.append(...turn(3))
    await log.barrier()
    expect(lines()).toBe(22)
    expect((disk.calls['write'] ?? 0) - (before['write'] ?? 0)).toBe(1)
    expect((disk.calls['datasync'] ?? 0) - (before['datasync'] ?? 0)).toBe(1)
    await log.barrier()
    expect(disk.calls['datasync']).toBe((before['datasync'] ?? 0) + 1)
  })

  test('SL-04 events that no barrier covers reach the file by themselves, without a sync', async () => {
    const log = await published()
    const syncs = disk.calls['datasync']
    const reached = new Promise<void>((resolve) => {
      fault.current = (call, path) => {
        if (call === 'write' && path.includes('/s1/')) resolve()
        return null
      }
    })
    log.append(draft('todo/write', { todos: [] }))
    await reached
    expect(disk.calls['datasync']).toBe(syncs)
  })

  test.each([
    ['strict', 3],
    ['batch', 1],
    ['relaxed', 0],
  ] as const)('SL-06 durability %s syncs %i times for a turn with three barriers', async (durability, syncs) => {
    const log = await published('s1', { durability })
    const before = disk.calls['datasync'] ?? 0
    const [start, ...rest] = turn(2)
    log.append(start!)
    await log.barrier()
    log.append(...rest.slice(0, -1))
    await log.barrier()
    log.append(rest.at(-1)!)
    await log.barrier()
    expect((disk.calls['datasync'] ?? 0) - before).toBe(syncs)
    expect(lines()).toBe(15)
  })

  test('SL-09 a blocked sync of one session does not delay another', async () => {
    const slow = await published('slow')
    const quick = store.create(header({ id: 'quick' }))
    let release = (): void => {}
    const blocked = new Promise<void>((resolve) => (release = resolve))
    fault.current = (call, path) => (call === 'datasync' && path.includes('/slow/') ? blocked : null)
    let done = false
    slow.append(...turn(2))
    const waiting = slow.barrier().then(() => (done = true))
    for (let number = 1; number <= 20; number++) {
      quick.append(...turn(number))
      await quick.barrier()
    }
    expect(done).toBe(false)
    expect(lines('quick')).toBe(141)
    release()
    await waiting
  })
})

describe('a disk that refuses', () => {
  test.each([
    ['a full disk', 'write', noSpace, /disk is full.*free space/s],
    ['a failing write', 'write', ioError, /disk refused to write/],
    ['a failing sync', 'datasync', ioError, /disk refused to write/],
  ] as const)(
    'SL-07 %s: cut back, kept in memory, read-only, told, and recovered by retry',
    async (_, call, make, text) => {
      const log = await published()
      const size = statSync(file()).size
      const told: (string | null)[] = []
      log.onRefusal((refusal) => told.push(refusal?.code ?? null))
      fault.current = (name, path) => (name === call && path.includes('/s1/') ? make() : null)
      log.append(...turn(2))
      await expect(log.barrier()).rejects.toThrow(text)
      expect(statSync(file()).size).toBe(size)
      expect(log.events).toHaveLength(14)
      expect(() => log.append(userMessage('more'))).toThrow(text)
      expect(await codeOf(log.barrier())).toBe('session/read-only')
      expect(await codeOf(log.retry())).toBe('session/read-only')
      expect(told).toEqual(['session/read-only'])
      fault.current = null
      await log.retry()
      expect(told).toEqual(['session/read-only', null])
      log.append(...turn(3))
      await log.barrier()
      const { log: read } = await new SessionStore(root).openRead('s1')
      expect(read.events.map((event) => event.seq)).toEqual(Array.from({ length: 21 }, (_, index) => index))
    },
  )

  test('SL-07 a lazy write that fails is reported as well, though nobody awaits it', async () => {
    const log = await published()
    const refused = new Promise<string>((resolve) => log.onRefusal((refusal) => resolve(refusal!.code)))
    fault.current = (name) => (name === 'write' ? noSpace() : null)
    log.append(draft('todo/write', { todos: [] }))
    expect(await refused).toBe('session/read-only')
  })

  test('SL-07 SL-08 a first publish that fails leaves no half file, and retry publishes', async () => {
    const log = make().create(header())
    fault.current = (name) => (name === 'sync' ? noSpace() : null)
    log.append(...turn(1))
    expect(await codeOf(log.barrier())).toBe('session/read-only')
    expect(existsSync(file())).toBe(false)
    fault.current = null
    await log.retry()
    expect(lines()).toBe(8)
  })

  test('closing rejects when the disk refuses, so that nobody believes the events are safe', async () => {
    const log = await published()
    log.append(...turn(2))
    fault.current = (name) => (name === 'datasync' ? ioError() : null)
    expect(await codeOf(log.close())).toBe('session/read-only')
  })
})
