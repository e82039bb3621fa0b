import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { draft, type Header } from '../wire/events.ts'
import { agentPreset } from '../projection/agent-preset.ts'
import { inbox } from '../projection/inbox.ts'
import { currentSelection, modelSelection } from '../projection/model-selection.ts'
import { surface, surfaceMessages } from '../projection/surface.ts'
import { turnBoundary } from '../projection/turn-boundary.ts'
import { answer, call, header, message, temporary, toolCall, turn } from './samples.ts'
import { SessionStore } from './store.ts'

let root: string
let remove: () => void
let store: SessionStore
const CREATED = Date.UTC(2026, 10, 30)

beforeEach(() => {
  ;({ root, remove } = temporary())
  store = new SessionStore(root, { now: () => CREATED })
})
afterEach(async () => {
  await store.close().catch(() => {})
  remove()
})

const file = (id: string): string => join(root, 'sessions', '2026-11', id, 'log.jsonl')
const linesOf = (id: string): number => readFileSync(file(id), 'utf8').trimEnd().split('\n').length

async function parent(turns: number, fields: Partial<Header> = {}) {
  const log = store.create(header({ agentPreset: 'standard', cwd: '/tmp', ...fields }))
  for (let number = 1; number <= turns; number++) log.append(...turn(number))
  await log.barrier()
  return log
}

test('SL-20 a fork refers to its parent: it holds only its own events and reads as one history', async () => {
  const log = await parent(3)
  const child = await store.fork('s1', { id: 'child' })
  expect(child.header).toMatchObject({
    parentSession: 's1',
    isSeeded: true,
    seedSeq: 20,
    cwd: '/tmp',
    agentPreset: 'standard',
  })
  child.append(...turn(4))
  await child.close()
  expect(linesOf('child')).toBe(9)
  log.append(...turn(4, 'only in the parent'))
  await log.close()
  const { log: read } = await store.openRead('child')
  expect(read.events.map((event) => event.seq)).toEqual(Array.from({ length: 29 }, (_, index) => index))
  expect(read.events[21]).toMatchObject({ type: 'session/end-seed', data: { inherited: true } })
  expect(surfaceMessages(read.state(surface)).map((each) => each.id)).toEqual([
    'u1',
    'a1',
    'u2',
    'a2',
    'u3',
    'a3',
    'u4',
    'a4',
  ])
  expect(JSON.stringify(read.events)).not.toContain('only in the parent')
})

test('SL-20 a fork inside a turn closes it as forked, and starts with an empty queue', async () => {
  const log = await parent(1)
  const at = { turn: 2, step: 1 }
  log.append(
    draft('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [message('later', 'x')] }),
    draft('turn/start', { turn: 2 }),
    draft('step/start', at),
    answer('a2', [call('c')], at),
    toolCall('c', at),
  )
  const child = await store.fork('s1', { id: 'child', at: log.lastSeq })
  expect(child.events.slice(12).map((event) => event.type)).toEqual([
    'session/end-seed',
    'tool/result',
    'step/end',
    'turn/end',
  ])
  expect(child.events.at(-1)!.data).toEqual({ turn: 2, reason: { kind: 'forked' } })
  expect(child.state(inbox)['next-turn']).toEqual([])
  expect(log.state(inbox)['next-turn']).toHaveLength(1)
  expect(child.state(turnBoundary).openTurnStartSeq).toBeNull()
})

test('L-18 a fork continues with the pick and the route of its prefix, not with what the parent did later', async () => {
  const log = await parent(1)
  log.append(draft('model/selection', { provider: 'p', model: 'picked' }))
  const child = await store.fork('s1', { id: 'child', at: log.lastSeq })
  const early = await store.fork('s1', { id: 'early' })
  expect(currentSelection(child.state(modelSelection))).toEqual({ provider: 'p', model: 'picked' })
  expect(currentSelection(early.state(modelSelection))).toEqual({ provider: 'p', model: 'm' })
})

test('H-17 the preset chosen for a fork wins over inherited selections, before and after a reload', async () => {
  const log = await parent(0)
  log.append(draft('agent-preset/selected', { agentPreset: 'minimal' }), ...turn(1))
  const plain = await store.fork('s1', { id: 'plain' })
  expect(plain.header.agentPreset).toBe('minimal')
  const child = await store.fork('s1', { id: 'child', agentPreset: 'cordis' })
  expect(child.state(agentPreset).current).toBe('cordis')
  await child.close()
  const { log: again } = await store.openWrite('child')
  expect(again.state(agentPreset).current).toBe('cordis')
  expect(again.header.agentPreset).toBe('cordis')
})

test('nothing to fork is a typed refusal', async () => {
  await parent(0).then((log) => log.append(draft('turn/start', { turn: 1 })))
  for (const at of [undefined, 5, -1, 0.5]) {
    await expect(store.fork('s1', { id: 'child', ...(at !== undefined && { at }) })).rejects.toMatchObject({
      code: 'session/fork-unavailable',
    })
  }
  await expect(store.fork('none', { id: 'child' })).rejects.toMatchObject({ code: 'session/not-found' })
})

test('SL-20 removing a parent first gives its children their own copy, open or closed, and their children stay whole', async () => {
  await (await parent(2)).close()
  const open = await store.fork('s1', { id: 'open' })
  await (await store.fork('s1', { id: 'cold' })).close()
  await (await store.fork('cold', { id: 'grand', at: 14 })).close()
  await store.remove('s1')
  rmSync(join(root, 'trash'), { recursive: true })
  open.append(...turn(3))
  await open.close()
  for (const [id, count] of [
    ['open', 22],
    ['cold', 15],
    ['grand', 16],
  ] as const) {
    const { log, repaired } = await store.openWrite(id)
    expect(log.events.map((event) => event.seq)).toEqual(Array.from({ length: count }, (_, index) => index))
    expect(repaired.torn).toBeNull()
    expect(log.state(inbox)['next-turn']).toEqual([])
  }
  expect(linesOf('open')).toBe(23)
})

test('SL-20 a parent that is not the one forked from is noticed, and the child opens no false history', async () => {
  await (await parent(1)).close()
  await (await store.fork('s1', { id: 'child' })).close()
  rmSync(join(root, 'sessions', '2026-11', 's1'), { recursive: true })
  expect((await store.openRead('child')).damage?.what).toMatch(/parent session s1 cannot be read/)
  const other = store.create(header())
  other.append(...turn(9))
  await other.close()
  await expect(store.openWrite('child')).rejects.toMatchObject({ code: 'session/corrupt' })
})

test('SL-20 chains are resolved without recursion, and the 33rd fork copies', async () => {
  await (await parent(1)).close()
  let previous = 's1'
  for (let depth = 1; depth <= 33; depth++) {
    const log = await store.fork(previous, { id: `f${depth}`, at: 6 + depth - 1 })
    expect(log.header.seedSeq === undefined, `f${depth}`).toBe(depth === 33)
    await log.close()
    previous = `f${depth}`
  }
  const { log } = await store.openRead('f33')
  expect(log.events).toHaveLength(40)
  expect((await store.readPage('f32', { maxEvents: 100, maxBytes: 1e6 })).events).toHaveLength(39)
})

test('SL-20 detach copies at once', async () => {
  await (await parent(1)).close()
  const child = await store.fork('s1', { id: 'child', detach: true })
  await child.close()
  rmSync(join(root, 'sessions', '2026-11', 's1'), { recursive: true })
  expect((await store.openRead('child')).log.events).toHaveLength(8)
})
