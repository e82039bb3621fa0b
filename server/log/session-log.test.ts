import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { CoreError } from '../wire/errors.ts'
import { draft, type Draft } from '../wire/events.ts'
import type { Projection } from '../projection/projection.ts'
import { turnBoundary } from '../projection/turn-boundary.ts'
import { frozenJson } from './json-value.ts'
import { header, turn, userMessage } from './samples.ts'
import { SessionLog } from './session-log.ts'
import { Vocabulary } from './vocabulary.ts'

const memory = (options = {}) => SessionLog.memory(header(), { now: () => 1000, ...options })
const todo = (content: unknown) => draft('todo/write', { todos: content as never })

describe('append', () => {
  test('events are contiguous, monotonic in time and frozen through', () => {
    const times = [50, 40, 60]
    const log = memory({ now: () => times.shift()! })
    for (const id of ['a', 'b', 'c']) log.append(userMessage(id))
    expect(log.events.map((event) => [event.seq, event.time])).toEqual([
      [0, 50],
      [1, 50],
      [2, 60],
    ])
    expect(log.append()).toEqual([])
    const first = log.events[0]!
    expect(Object.isFrozen(first)).toBe(true)
    expect(Object.isFrozen((first.data as { message: { content: object[] } }).message.content[0])).toBe(true)
  })

  test('the log owns its values: the caller may go on using what it handed over', () => {
    const log = memory()
    const todos = [{ content: 'one', status: 'pending' as const }]
    log.append(draft('todo/write', { todos }))
    todos[0]!.content = 'changed'
    expect(log.events[0]!.data).toEqual({ todos: [{ content: 'one', status: 'pending' }] })
  })

  test.each([
    ['NaN', NaN],
    ['Infinity', Infinity],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a bigint', 1n],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['undefined in an array', [undefined]],
    // eslint-disable-next-line no-sparse-arrays
    ['a hole', [1, , 2]],
  ])('%s is refused with its path, and nothing of the batch is committed', (_, value) => {
    const log = memory()
    expect(() => log.append(userMessage('a'), todo([{ content: value }]))).toThrow(
      /^not JSON at \$\.todos\[0\]\.content/,
    )
    expect(log.events).toEqual([])
  })

  test('a cycle is refused instead of exhausting the stack', () => {
    const ring: unknown[] = []
    ring.push(ring)
    expect(() => memory().append(todo(ring))).toThrow(/nested deeper/)
  })

  test('lone surrogates, control characters and a __proto__ key come back from JSON as they were', () => {
    const value = { a: '\ud800', b: '\u0000\u2028', c: JSON.parse('{"__proto__":1}') as object }
    const kept = frozenJson(value)
    expect(JSON.parse(JSON.stringify(kept))).toEqual(kept)
    expect(kept.a).toBe('\ud800')
    expect(Object.hasOwn(kept.c, '__proto__')).toBe(true)
    expect(Object.getPrototypeOf(kept.c)).toBe(Object.prototype)
  })

  test('any JSON value is kept exactly, property test', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const kept = frozenJson(value)
        expect(JSON.stringify(kept)).toBe(JSON.stringify(value))
        expect(JSON.parse(JSON.stringify(kept))).toEqual(kept)
      }),
    )
  })

  test('an undefined property is left out and -0 becomes 0, so memory equals disk', () => {
    const kept = frozenJson({ a: undefined, b: -0 })
    expect(Object.keys(kept)).toEqual(['b'])
    expect(Object.is(kept.b, 0)).toBe(true)
  })

  test('an unknown event type is refused; a registered one announces its plugin once (SL-18)', () => {
    const vocabulary = new Vocabulary()
    const log = memory({ vocabulary })
    const foreign = { type: 'foo/state', data: { n: 1 } } as unknown as Draft
    expect(() => log.append(foreign)).toThrow('unknown event type foo/state')
    vocabulary.register({ types: ['foo/state'], plugin: 'foo', version: '^2' })
    log.append(foreign, foreign)
    log.append(foreign)
    expect(log.events.map((event) => event.type as string)).toEqual([
      'session/vocabulary',
      'foo/state',
      'foo/state',
      'foo/state',
    ])
    expect(log.events[0]).toMatchObject({
      ignorable: true,
      data: { types: ['foo/state'], plugin: 'foo', version: '^2' },
    })
  })

  test('SL-19 informational events are marked ignorable even when their writer forgot', () => {
    const log = memory()
    log.append({ type: 'session/title', data: { title: 't', source: 'rule' } })
    log.append({ type: 'llm/warning', data: { turn: 1, step: 1, feature: 'x' } }, userMessage('a'))
    expect(log.events.map((event) => event.ignorable)).toEqual([true, true, undefined])
  })

  test('a surface operation must point at earlier events, and only message events carry one', () => {
    const log = memory()
    log.append(userMessage('a'))
    const replace = (startSeq: number, endSeq: number) => ({ surfaceOp: { op: 'replace', startSeq, endSeq } as const })
    expect(() => log.append({ ...userMessage('b'), ...replace(0, 1) })).toThrow(/does not lie before/)
    expect(() => log.append({ ...draft('turn/start', { turn: 1 }), surfaceOp: 'append' })).toThrow(/not a message/)
    expect(log.append({ ...userMessage('b'), ...replace(0, 0) })[0]!.seq).toBe(1)
  })
})

describe('observers', () => {
  test('are told after the commit, in order, and one that throws is contained', () => {
    const failures: unknown[] = []
    const log = memory({ onObserverError: (error: unknown) => failures.push(error) })
    const seen: string[] = []
    log.observe((events) => seen.push(`first ${events.length} of ${log.events.length}`))
    log.observe(() => {
      throw new Error('broken observer')
    })
    log.observe(() => seen.push('third'))
    log.append(userMessage('a'), userMessage('b'))
    expect(seen).toEqual(['first 2 of 2', 'third'])
    expect(failures).toEqual([new Error('broken observer')])
    expect(log.events).toHaveLength(2)
  })

  test('a re-entrant append is refused, and the log works on', () => {
    const failures: Error[] = []
    const log = memory({ onObserverError: (error: Error) => failures.push(error) })
    const stop = log.observe(() => log.append(userMessage('again')))
    log.append(userMessage('a'))
    expect(failures[0]!.message).toMatch(/re-entrant append/)
    stop()
    log.append(userMessage('b'))
    expect(log.events.map((event) => event.seq)).toEqual([0, 1])
  })

  test('L-09 a state read inside an observer of the same append is already new', () => {
    const log = memory()
    const turns: number[] = []
    log.observe(() => turns.push(log.state(turnBoundary).lastTurn))
    log.append(...turn(1))
    log.append(...turn(2))
    expect(turns).toEqual([1, 2])
  })
})

describe('state', () => {
  test('SL-23 states advance event by event and never fold an event twice', () => {
    const apply = vi.fn<(state: number) => number>((state) => state + 1)
    const counting: Projection<number> = { key: 'count', stateVersion: 1, init: () => 0, apply }
    const log = memory()
    log.append(...turn(1))
    expect(log.state(counting)).toBe(7)
    log.append(...turn(2))
    expect(log.state(counting)).toBe(14)
    expect(log.state(counting)).toBe(14)
    expect(apply).toHaveBeenCalledTimes(14)
  })

  test('another projection under the same key starts anew', () => {
    const log = memory()
    log.append(...turn(1))
    const at = (start: number): Projection<number> => ({
      key: 'n',
      stateVersion: 1,
      init: () => start,
      apply: (n) => n + 1,
    })
    expect([log.state(at(0)), log.state(at(100))]).toEqual([7, 107])
  })
})

test('a closed log and a log opened for viewing refuse appends with the typed code', async () => {
  const log = memory()
  await log.close()
  const refused = (act: () => unknown): string => {
    try {
      act()
      return 'accepted'
    } catch (error) {
      return (error as CoreError).code
    }
  }
  expect(refused(() => log.append(userMessage('a')))).toBe('session/read-only')
})
