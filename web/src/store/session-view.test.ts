import { expect, test } from 'vitest'
import { sessionState } from '../../../server/projection/session-state.ts'
import { draft } from '../../../server/wire/events.ts'
import type { Header, LogEvent } from '../../../server/wire/events.ts'
import { fromSnapshot, withEvents, withOlder } from './session-view.ts'
import type { OpenSession } from './session-view.ts'

const header: Header = { type: 'session', version: 1, id: 's', createdAt: 0, isSeeded: false, writer: 'test' }

const prompt = (seq: number): LogEvent => {
  const content = [{ type: 'text' as const, text: `prompt ${seq}` }]
  const message = { id: `m${seq}`, role: 'user' as const, content, source: { kind: 'user' as const } }
  return { ...draft('user/message', { message }), seq, time: seq }
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => prompt(from + index))

const open = (from: number, to: number): OpenSession => {
  let state = sessionState.init(header)
  for (const event of range(0, to)) state = sessionState.apply(state, event)
  const events = range(from, to)
  return fromSnapshot({ t: 'snapshot', session: 's', header, state, events, from, to, writer: { kind: 'here' } })
}
const texts = (view: OpenSession | 'gap') =>
  view === 'gap' ? view : view.transcript.items.map((item) => (item.kind === 'user' ? item.text : item.kind))

test('B58 events that were held already are passed over, new ones follow without gap or repeat', () => {
  const next = withEvents(open(3, 5), range(4, 7))
  expect(texts(next)).toEqual([3, 4, 5, 6, 7].map((seq) => `prompt ${seq}`))
  expect(next).toMatchObject({ from: 3, to: 7, state: { seq: 7 } })
})

test('B58 events that do not join up are refused, so that the session is asked for anew', () => {
  expect(withEvents(open(3, 5), range(7, 8))).toBe('gap')
})

test('nothing new leaves the view as it is', () => {
  const view = open(3, 5)
  expect(withEvents(view, range(4, 5))).toBe(view)
})

test('an older page goes in front, once, and only when it joins up', () => {
  const view = withOlder(open(5, 6), range(3, 5))
  expect(texts(view)).toEqual([3, 4, 5, 6].map((seq) => `prompt ${seq}`))
  expect(view.from).toBe(3)
  const far = open(5, 6)
  expect(withOlder(far, range(0, 2))).toBe(far)
})
