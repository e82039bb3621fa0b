import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { draft, type LogEvent } from '../wire/events.ts'
import { nodeDisk, type Disk } from './jsonl/disk.ts'
import { header, temporary, turn, userMessage } from './samples.ts'
import { SessionStore } from './store.ts'

let root: string
let remove: () => void
let store: SessionStore
beforeEach(() => {
  ;({ root, remove } = temporary())
  store = new SessionStore(root)
})
afterEach(async () => {
  await store.close().catch(() => {})
  remove()
})
const file = (): string => join(root, 'sessions', '2026-11', 's1', 'log.jsonl')
const seqs = (events: readonly LogEvent[]): number[] => events.map((event) => event.seq)
const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)

async function long(count: number, text = (index: number): string => 'x'.repeat(index % 400)) {
  const log = store.create(header())
  for (let index = 0; index < count; index++) log.append(userMessage(`m${index}`, text(index)))
  await log.close()
}

/** A disk that counts the bytes read. */
function counting(): { disk: Disk; read: () => number } {
  let bytes = 0
  const disk: Disk = {
    ...nodeDisk,
    async open(path, flags, mode) {
      const handle = await nodeDisk.open(path, flags, mode)
      const read = handle.read.bind(handle)
      return Object.assign(Object.create(handle) as typeof handle, {
        read: async (buffer: Uint8Array, offset: number, length: number, position: number) => {
          const result = await read(buffer, offset, length, position)
          bytes += result.bytesRead
          return result
        },
        stat: () => handle.stat(),
        close: () => handle.close(),
      })
    },
  }
  return { disk, read: () => bytes }
}

describe('B25 pages', () => {
  test('B25 a page from the end of a long log reads a small part of it, and a page from the middle too', async () => {
    await long(15_000)
    const total = readFileSync(file()).length
    const { disk, read } = counting()
    const reader = new SessionStore(root, { disk })
    const tail = await reader.readPage('s1', { maxEvents: 100, maxBytes: 1e6 })
    expect([seqs(tail.events), tail.older, tail.newer]).toEqual([range(14_900, 15_000), true, false])
    expect(read()).toBeLessThan(total / 8)
    const middle = await reader.readPage('s1', { before: 7000, maxEvents: 50, maxBytes: 1e6 })
    expect([seqs(middle.events), middle.older, middle.newer]).toEqual([range(6950, 7000), true, true])
    expect(read()).toBeLessThan(total / 2)
  })

  test('B25 bytes bound a page as well as events, and one event always comes', async () => {
    await long(20, () => 'y'.repeat(100_000))
    const page = await store.readPage('s1', { maxEvents: 100, maxBytes: 350_000 })
    expect(seqs(page.events)).toEqual([17, 18, 19])
    expect(seqs((await store.readPage('s1', { maxEvents: 100, maxBytes: 10 })).events)).toEqual([19])
    expect(seqs((await store.readPage('s1', { after: 4, maxEvents: 100, maxBytes: 10 })).events)).toEqual([5])
  })

  test('B25 any page from disk equals the same slice of the events and the page from memory, forks included', async () => {
    const log = store.create(header())
    for (let index = 0; index < 300; index++) log.append(userMessage(`m${index}`, 'z'.repeat((index * 97) % 1500)))
    await log.barrier()
    const child = await store.fork('s1', { id: 'child', at: 199 })
    for (let index = 0; index < 100; index++) child.append(userMessage(`c${index}`, 'w'.repeat((index * 31) % 900)))
    await child.barrier()
    const cold = new SessionStore(root)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('s1', 'child'),
        fc.option(fc.integer({ min: -1, max: 310 })),
        fc.boolean(),
        fc.integer({ min: 1, max: 120 }),
        async (id, seq, forward, maxEvents) => {
          const query = { maxEvents, maxBytes: 1e9, ...(seq !== null && (forward ? { after: seq } : { before: seq })) }
          const all = (id === 's1' ? log : child).events
          const disk = await cold.readPage(id, query)
          const expected =
            seq !== null && forward
              ? all.slice(seq + 1, seq + 1 + maxEvents)
              : all.slice(0, Math.max(0, seq ?? all.length)).slice(-maxEvents)
          expect(seqs(disk.events)).toEqual(seqs(expected))
          const memory = await store.readPage(id, query)
          expect(JSON.parse(JSON.stringify(memory.events))).toEqual(disk.events)
          expect(disk.older).toBe(memory.older)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('an unfinished last line is not part of the log yet', async () => {
    await long(10)
    appendFileSync(file(), '{"type":"turn/start","seq":10,')
    expect(seqs((await store.readPage('s1', { maxEvents: 3, maxBytes: 1e6 })).events)).toEqual([7, 8, 9])
    expect(seqs((await store.readPage('s1', { after: 7, maxEvents: 30, maxBytes: 1e6 })).events)).toEqual([8, 9])
  })

  test('a damaged line inside a page is reported, never passed over', async () => {
    await long(10)
    const text = readFileSync(file(), 'utf8').split('\n')
    text[5] = text[5]!.replace('user', 'uzer')
    writeFileSync(file(), text.join('\n'))
    await expect(store.readPage('s1', { maxEvents: 30, maxBytes: 1e6 })).rejects.toMatchObject({
      code: 'session/corrupt',
    })
    expect((await store.readPage('s1', { maxEvents: 3, maxBytes: 1e6 })).events).toHaveLength(3)
  })
})

describe('watch', () => {
  test("a reader sees another process's events as they reach the file, whole and in order", async () => {
    const log = store.create(header())
    log.append(...turn(1))
    await log.barrier()
    const viewer = new SessionStore(root)
    const seen: number[] = []
    let done = (): void => {}
    const complete = new Promise<void>((resolve) => (done = resolve))
    const follow = await viewer.watch('s1', {
      after: 4,
      onEvents: (events) => {
        seen.push(...seqs(events))
        if (seen.at(-1) === 7 + 20 * 7 - 1) done()
      },
    })
    expect(seen).toEqual([5, 6])
    for (let number = 2; number <= 21; number++) {
      log.append(...turn(number, 'long '.repeat(number * 100)))
      await log.barrier()
    }
    await complete
    await follow.close()
    expect(seen).toEqual(range(5, 147))
  })

  test('a cut-back and a rewritten log are followed on; damage and removal end the watch with a reason', async () => {
    const log = store.create(header())
    log.append(...turn(1))
    await log.close()
    const seen: number[] = []
    let reason = ''
    const follow = await new SessionStore(root).watch('s1', {
      after: 6,
      onEvents: (events) => seen.push(...seqs(events)),
      onEnd: (text) => (reason = text),
    })
    const { size } = await nodeDisk.stat(file())
    appendFileSync(file(), '{"half of a write')
    await follow.poll()
    truncateSync(file(), size)
    const { log: again } = await store.openWrite('s1')
    again.append(draft('todo/write', { todos: [] }))
    await again.close()
    await follow.poll()
    expect(seen).toEqual([7])
    appendFileSync(file(), 'garbage\n')
    await follow.poll()
    expect(reason).toBe('the log is damaged')
    await follow.close()
  })
})
