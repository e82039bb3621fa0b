import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { draft } from '../wire/events.ts'
import { nodeDisk } from './jsonl/disk.ts'
import { encodeLine } from './jsonl/line.ts'
import { scanLog } from './jsonl/scan.ts'
import { answer, call, header, requestHeader, temporary, toolCall, turn, userMessage } from './samples.ts'
import { SessionStore } from './store.ts'

let root: string
let remove: () => void
let store: SessionStore
const directory = (): string => join(root, 'sessions', '2026-11', 's1')
const file = (): string => join(directory(), 'log.jsonl')
const at = { turn: 2, step: 1 }

beforeEach(() => {
  ;({ root, remove } = temporary())
  store = new SessionStore(root)
})
afterEach(async () => {
  await store.close().catch(() => {})
  remove()
})

async function written(): Promise<Buffer> {
  const log = store.create(header())
  log.append(...turn(1, 'ä 😀 "quoted" \\ \n end'))
  await log.close()
  return readFileSync(file())
}

/** Ends of lines: after the header, after event 0, ... */
const ends = (bytes: Buffer): number[] =>
  [...bytes.keys()].filter((index) => bytes[index] === 10).map((index) => index + 1)

async function scan(bytes: Buffer) {
  const path = join(root, 'scan.jsonl')
  writeFileSync(path, bytes)
  const handle = await nodeDisk.open(path, 'r')
  try {
    return await scanLog(handle)
  } finally {
    await handle.close()
  }
}

describe('the tail', () => {
  test('SL-10 every truncation recovers exactly the complete prefix (each 7th byte, and around each line end)', async () => {
    const bytes = await written()
    const stops = ends(bytes)
    const cuts = [...bytes.keys()].filter((cut) => cut % 7 === 0 || stops.some((end) => Math.abs(end - cut) < 2))
    for (const cut of cuts) {
      const found = await scan(bytes.subarray(0, cut))
      const whole = stops.filter((end) => end <= cut)
      expect(found.events.length, `cut at ${cut}`).toBe(Math.max(0, whole.length - 1))
      if (whole.length === 0) expect(found.damage, `cut at ${cut}`).not.toBeNull()
      if (whole.length > 0) expect([found.damage, found.torn]).toEqual([null, cut !== whole.at(-1)])
    }
  })

  test('SL-10 every single-bit flip is found (each 11th bit)', async () => {
    const bytes = await written()
    const events = (await scan(bytes)).events.length
    for (let bit = 0; bit < bytes.length * 8; bit += 11) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3] = flipped[bit >> 3]! ^ (1 << (bit & 7))
      const found = await scan(flipped)
      expect(found.damage !== null || found.torn, `bit ${bit}`).toBe(true)
      expect(found.events.length).toBeLessThan(events)
    }
  })

  test('SL-10 a torn tail is cut off, kept beside the log under a new number each time, and reported', async () => {
    const bytes = await written()
    for (const number of [1, 2]) {
      appendFileSync(file(), '{"type":"turn/start","se')
      const { log, repaired } = await store.openWrite('s1')
      expect(repaired.torn).toBe(`log.torn-${number}`)
      await log.close()
      expect(readFileSync(join(directory(), `log.torn-${number}`), 'utf8')).toBe('{"type":"turn/start","se')
      expect(readFileSync(file()).equals(bytes)).toBe(true)
    }
  })

  test('SL-10 a reader passes over a torn tail and changes nothing', async () => {
    await written()
    appendFileSync(file(), '{"half')
    const { log, damage } = await new SessionStore(root).openRead('s1')
    expect([log.events.length, damage]).toEqual([7, null])
    expect(readFileSync(file(), 'utf8').endsWith('{"half')).toBe(true)
  })

  test('SL-10 damage before the tail refuses to continue, is viewable up to it, and can be forked from there', async () => {
    const bytes = await written()
    const two = store.openWrite('s1')
    ;(await two).log.append(...turn(2))
    await (await two).log.close()
    const damaged = readFileSync(file())
    damaged[ends(bytes)[7]! + 30]! ^= 1
    writeFileSync(file(), damaged)
    await expect(store.openWrite('s1')).rejects.toMatchObject({
      code: 'session/corrupt',
      details: { lastGoodSeq: 6, line: 9 },
    })
    expect(existsSync(join(directory(), 'owner.json'))).toBe(false)
    expect(readFileSync(file()).equals(damaged)).toBe(true)
    const { log, damage } = await store.openRead('s1')
    expect([log.events.length, damage?.lastGoodSeq]).toEqual([7, 6])
    const fork = await store.fork('s1', { id: 'rescued' })
    expect(fork.events).toHaveLength(8)
  })

  test('B21 a gap in the numbers is damage, even at the end', async () => {
    await written()
    appendFileSync(file(), encodeLine({ type: 'todo/write', seq: 9, time: 1, data: { todos: [] } }))
    await expect(store.openWrite('s1')).rejects.toThrow(/seq 9 stands where 7 belongs/)
  })
})

describe('an open turn', () => {
  /** A process that died in the middle of turn 2. */
  async function died(...tail: Parameters<ReturnType<SessionStore['create']>['append']>): Promise<void> {
    await written()
    const { log } = await store.openWrite('s1')
    log.append(
      draft('turn/start', { turn: 2 }),
      draft('step/start', at),
      userMessage('u2', 'x', at),
      requestHeader('p', 'm'),
    )
    if (tail.length > 0) log.append(...tail)
    await log.close()
  }

  const journal = (head: object, ...rows: object[]): void =>
    writeFileSync(join(directory(), 'live.jsonl'), [head, ...rows].map(encodeLine).join(''))

  test('SL-12 opening twice appends the closers once', async () => {
    await died(answer('a2', [call('c')], at), toolCall('c', at))
    const first = await store.openWrite('s1')
    expect(first.repaired.closers).toBe(3)
    const { time } = first.log.events.at(-1)!
    expect(time).toBe(first.log.events[12]!.time)
    await first.log.close()
    const second = await store.openWrite('s1')
    expect(second.repaired.closers).toBe(0)
    expect(second.log.events).toHaveLength(16)
  })

  test('SL-11 the journal of the open step becomes an interrupted answer; tool calls and blank blocks are dropped', async () => {
    await died()
    journal(
      { turn: 2, step: 1, attempt: 1, requestHeaderSeq: 10 },
      { i: 0, k: 'reasoning', s: 'think' },
      { i: 1, k: 'text', s: 'Hel' },
      { i: 1, k: 'text', s: 'lo' },
      { i: 2, k: 'text', s: '  ' },
      { i: 3, k: 'tool', id: 'c', n: 'bash', s: '{"a"' },
    )
    appendFileSync(join(directory(), 'live.jsonl'), '{"i":1,"k":"te')
    const { log, repaired } = await store.openWrite('s1')
    expect(repaired).toMatchObject({ journal: true, closers: 2 })
    expect(log.events[11]).toMatchObject({
      type: 'assistant/message',
      data: {
        interrupted: true,
        message: {
          content: [
            { type: 'reasoning', text: 'think' },
            { type: 'text', text: 'Hello' },
          ],
          source: { kind: 'model', provider: 'p', model: 'm' },
        },
      },
    })
    expect(existsSync(join(directory(), 'live.jsonl'))).toBe(false)
  })

  test.each([
    ['of another step', { turn: 2, step: 2, attempt: 1, requestHeaderSeq: 10 }, []],
    ['of another turn', { turn: 1, step: 1, attempt: 1, requestHeaderSeq: 3 }, []],
    ['that cites no request', { turn: 2, step: 1, attempt: 1, requestHeaderSeq: 5 }, []],
    ['whose answer is in the log', { turn: 2, step: 1, attempt: 1, requestHeaderSeq: 10 }, [answer('a', [], at)]],
    [
      'whose attempt is in the log',
      { turn: 2, step: 1, attempt: 1, requestHeaderSeq: 10 },
      [draft('assistant/attempt', { ...at, attempt: 1, stream: [] })],
    ],
  ])('SL-11 a journal %s is discarded', async (_, head, tail) => {
    await died(...tail)
    journal(head, { i: 0, k: 'text', s: 'stale' })
    const { log, repaired } = await store.openWrite('s1')
    expect(repaired.journal).toBe(false)
    expect(JSON.stringify(log.events)).not.toContain('stale')
    expect(existsSync(join(directory(), 'live.jsonl'))).toBe(false)
  })

  test('SL-03 the journal follows the answer, joins runs of one block, and is empty once the answer is on disk', async () => {
    const log = store.create(header())
    log.append(draft('turn/start', { turn: 1 }), draft('step/start', { turn: 1, step: 1 }), requestHeader('p', 'm'))
    await log.barrier()
    const path = join(directory(), 'live.jsonl')
    const grown = new Promise<void>((resolve) => {
      const stop = nodeDisk.watch(directory(), () => {
        if (!existsSync(path) || readFileSync(path).length === 0) return
        stop()
        resolve()
      })
    })
    log.journal.begin({ turn: 1, step: 1, attempt: 1, requestHeaderSeq: 2 })
    for (const s of ['a', 'b', 'c']) log.journal.note({ i: 0, k: 'text', s })
    await grown
    const rows = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(rows.map((row) => (JSON.parse(row) as { s?: string }).s)).toEqual([undefined, 'abc'])
    log.append(answer('a', [{ type: 'text', text: 'abc' }]))
    log.journal.end()
    await log.barrier()
    expect(readFileSync(path, 'utf8')).toBe('')
    await log.close()
    expect(readdirSync(directory()).sort()).toEqual(['live.jsonl', 'log.jsonl'])
  })
})
