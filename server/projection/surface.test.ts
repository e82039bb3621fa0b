import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LogEvent } from '../wire/events.ts'
import type { Block, Message } from '../wire/messages.ts'
import { fold } from './projection.ts'
import { modelHistory, surface, surfaceMessages, type SurfaceState } from './surface.ts'

const HEADER = { type: 'session', version: 1, id: 's', createdAt: 1, isSeeded: false, writer: 't' } as const
const text = (id: string, role: Message['role'] = 'user'): Message => ({
  id,
  role,
  content: [{ type: 'text', text: id }],
  source: { kind: 'user' },
})
const calls = (id: string, ...ids: string[]): Message => ({
  id,
  role: 'assistant',
  content: ids.map((call): Block => ({ type: 'tool-call', id: call, name: 'bash', arguments: '{}' })),
  source: { kind: 'model', provider: 'p', model: 'm' },
})
const result = (callId: string): Message => ({
  id: `r-${callId}`,
  role: 'user',
  content: [{ type: 'tool-result', toolCallId: callId, content: [{ type: 'text', text: 'ok' }] }],
  source: { kind: 'tool', callId },
})
const typeOf = (message: Message): LogEvent['type'] => {
  if (message.role === 'assistant') return 'assistant/message'
  return message.content[0]?.type === 'tool-result' ? 'tool/result' : 'user/message'
}
const event = (message: Message, seq: number, surfaceOp: unknown = 'append'): LogEvent =>
  ({ type: typeOf(message), seq, time: 1, surfaceOp, data: { message } }) as unknown as LogEvent
const stateOf = (...messages: Message[]): SurfaceState =>
  fold(
    surface,
    HEADER,
    messages.map((message, seq) => event(message, seq)),
  )
const idsOf = (messages: readonly Message[]): string[] => messages.map((message) => message.id)

describe('replacements', () => {
  const replace = (startSeq: number, endSeq: number) => ({ op: 'replace', startSeq, endSeq })
  const base = ['a', 'b', 'c', 'd'].map((id, seq) => event(text(id), seq))
  const after = (...more: LogEvent[]): string[] => idsOf(surfaceMessages(fold(surface, HEADER, [...base, ...more])))

  test('one message takes the place of a range', () => {
    expect(after(event(text('x'), 4, replace(1, 2)))).toEqual(['a', 'x', 'd'])
  })

  test('a replacement can itself be replaced, and a range runs by place in the list', () => {
    const first = event(text('x'), 4, replace(0, 0))
    expect(after(first, event(text('y'), 5, replace(4, 4)))).toEqual(['y', 'b', 'c', 'd'])
    expect(after(first, event(text('e'), 5), event(text('y'), 6, replace(2, 5)))).toEqual(['x', 'b', 'y'])
  })

  test('a range that is no longer there loses nothing', () => {
    expect(after(event(text('x'), 4, replace(1, 2)), event(text('y'), 5, replace(1, 2)))).toEqual(['a', 'x', 'd', 'y'])
  })

  test('an older state does not change when a newer one replaces or appends', () => {
    const old = fold(surface, HEADER, base)
    surface.apply(surface.apply(old, event(text('e'), 4)), event(text('x'), 5, replace(0, 3)))
    expect(idsOf(surfaceMessages(old))).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('the repaired history', () => {
  test('a whole history is handed on as it is, the very same messages', () => {
    const messages = [text('u'), calls('a', 'c1', 'c2'), result('c1'), result('c2'), text('b', 'assistant')]
    const history = modelHistory(stateOf(...messages))
    expect(history).toHaveLength(5)
    history.forEach((message, index) => expect(message).toBe(messages[index]))
  })

  test('B29 B30 an unanswered call gets an error result, the same for every request', () => {
    const state = stateOf(text('u'), calls('a', 'c1', 'c2'), result('c2'), text('next'))
    const history = modelHistory(state)
    expect(idsOf(history)).toEqual(['u', 'a', 'unanswered:c1', 'r-c2', 'next'])
    expect(history[2]!.content[0]).toMatchObject({ type: 'tool-result', toolCallId: 'c1', isError: true })
    expect(modelHistory(state)).toEqual(history)
  })

  test('B32 a result without its call is left out, also one that stands before it', () => {
    const state = stateOf(result('c1'), text('u'), calls('a', 'c1'), result('c1'), result('c1'), result('ghost'))
    expect(idsOf(modelHistory(state))).toEqual(['u', 'a', 'r-c1'])
  })

  test('a result that a message slipped in front of returns to its call', () => {
    const state = stateOf(calls('a', 'c1'), text('steer'), result('c1'))
    expect(idsOf(modelHistory(state))).toEqual(['a', 'r-c1', 'steer'])
  })

  test('B29 B30 B32 whatever was logged, every call is answered at once and no result is an orphan (property)', () => {
    const id = fc.constantFrom('c1', 'c2', 'c3', 'c4')
    const any = fc.oneof(
      fc.constant(text('u')),
      fc.array(id, { minLength: 1, maxLength: 3 }).map((ids) => calls('a', ...ids)),
      id.map(result),
      fc.tuple(id, id).map(([a, b]) => ({
        ...result(a),
        content: [...result(a).content, ...result(b).content, ...text('t').content],
      })),
    )
    fc.assert(
      fc.property(fc.array(any, { maxLength: 30 }), (messages) => {
        const history = modelHistory(stateOf(...messages))
        let due: string[] = []
        for (const message of history) {
          const results = message.content.filter((block) => block.type === 'tool-result')
          if (results.length > 0) expect(results.map((block) => block.toolCallId)).toEqual([due.shift()])
          if (results.length === 0) expect(due).toEqual([])
          for (const block of message.content) if (block.type === 'tool-call') due.push(block.id)
        }
        expect(due).toEqual([])
        const texts = (list: readonly Message[]) =>
          list.filter((each) => each.content.some((block) => block.type === 'text'))
        expect(texts(history)).toHaveLength(texts(messages).length)
      }),
      { numRuns: 500 },
    )
  })
})

test('appending copies nothing: newer states hold the very list of the older ones', () => {
  let state = surface.init(HEADER)
  const { items } = surface.apply(state, event(text('u'), 0))
  state = surface.apply(state, event(text('u'), 0))
  const own = state.items
  expect(own).not.toBe(items)
  for (let seq = 1; seq < 1000; seq++) state = surface.apply(state, event(text('u'), seq))
  expect(state.items).toBe(own)
  expect(state.length).toBe(1000)
})
