import fc from 'fast-check'
import { expect, test } from 'vitest'
import { draft } from '../wire/events.ts'
import type { EventData, EventType, LogEvent } from '../wire/events.ts'
import type { Block, Message, Source } from '../wire/messages.ts'
import { blockKey, emptyTranscript, extend, transcriptOf } from './transcript.ts'
import type { Item, ItemOf } from './transcript-items.ts'

type Entry = { [T in EventType]: [T, EventData[T]] }[EventType]

/** One event per entry, a second apart. */
const log = (...entries: Entry[]): LogEvent[] =>
  entries.map(([type, data], seq) => ({ ...draft(type, data as never), seq, time: 1000 * (seq + 1) }))

const said = (id: string, role: Message['role'], content: Block[], source: Source): Message => ({
  id,
  role,
  content,
  source,
})
const user = (turn: number, text: string): Entry => [
  'user/message',
  { turn, message: said(`u${turn}`, 'user', [{ type: 'text', text }], { kind: 'user' }) },
]
const answer = (
  turn: number,
  step: number,
  content: Block[],
  extra: Partial<EventData['assistant/message']> = {},
): Entry => [
  'assistant/message',
  {
    turn,
    step,
    message: said(`a${turn}.${step}`, 'assistant', content, { kind: 'model', provider: 'p', model: 'm' }),
    stream: [],
    ...extra,
  },
]
const call = (turn: number, step: number, callId: string): Entry => [
  'tool/call',
  { turn, step, callId, name: 'bash', arguments: '{"command":"ls"}' },
]
const result = (turn: number, step: number, callId: string, extra: Partial<EventData['tool/result']> = {}): Entry => [
  'tool/result',
  {
    turn,
    step,
    message: said(
      `r${callId}`,
      'user',
      [{ type: 'tool-result', toolCallId: callId, content: [{ type: 'text', text: 'out' }] }],
      { kind: 'tool', callId },
    ),
    ...extra,
  },
]
const toolCall = (id: string): Block => ({ type: 'tool-call', id, name: 'bash', arguments: '{"command":"ls"}' })
const header = (model: string): Entry => [
  'request/header',
  { turn: 1, step: 1, header: { config: { provider: 'p', model } }, compositionDigest: 'd', reason: 'initial' },
]
const turn = (n: number): Entry[] => [
  ['turn/start', { turn: n }],
  user(n, `question ${n}`),
  answer(n, 1, [{ type: 'reasoning', text: 'hm' }, toolCall(`c${n}`)], { usage: { inputTokens: 10, outputTokens: 2 } }),
  call(n, 1, `c${n}`),
  result(n, 1, `c${n}`, { ms: 40 }),
  answer(n, 2, [{ type: 'text', text: 'done' }], { usage: { inputTokens: 20, cacheReadTokens: 5 } }),
  ['turn/end', { turn: n, reason: { kind: 'completed' } }],
]
const kinds = (items: readonly Item[]) => items.map((item) => item.kind)
const only = <K extends Item['kind']>(items: readonly Item[], kind: K) =>
  items.filter((item): item is ItemOf<K> => item.kind === kind)

test('a turn reads as question, thought, tool row, answer and footer', () => {
  const { items } = transcriptOf(log(header('m1'), ...turn(1)), 'minimal')
  expect(kinds(items)).toEqual(['user', 'thinking', 'tool', 'text', 'footer'])
  expect(only(items, 'tool')[0]).toMatchObject({ callId: 'c1', state: 'done', ms: 40, result: { text: 'out' } })
  expect(only(items, 'footer')[0]).toMatchObject({
    ms: 6000,
    usage: { inputTokens: 30, cacheReadTokens: 5, outputTokens: 2 },
    selection: { provider: 'p', model: 'm1' },
    preset: 'minimal',
    reason: { kind: 'completed' },
  })
})

test('B85 keys are those of the log, so a logged message takes the place of its streamed blocks', () => {
  const { items } = transcriptOf(log(...turn(1)))
  expect(items.map((item) => item.key)).toEqual(['u1', blockKey(1, 1, 0), 'c1', blockKey(1, 2, 0), 'turn1'])
})

test('a call stands before it runs, runs, and is stopped when the turn ends without its result', () => {
  const events = log(['turn/start', { turn: 1 }], answer(1, 1, [toolCall('c1')]), call(1, 1, 'c1'), [
    'turn/end',
    { turn: 1, reason: { kind: 'aborted', reason: { kind: 'user' } } },
  ])
  const states = [2, 3, 4].map((end) => only(transcriptOf(events.slice(0, end)).items, 'tool')[0]?.state)
  expect(states).toEqual(['called', 'running', 'stopped'])
})

test('a result whose call is on an older page stands alone, and joins it when that page is there', () => {
  const events = log(...turn(1))
  const late = transcriptOf(events.slice(4))
  expect(late.items[0]).toMatchObject({ kind: 'tool', callId: 'c1', state: 'done', result: { text: 'out' } })
  expect(late.items[0]).not.toHaveProperty('name')
  expect(only(late.items, 'footer')[0]).not.toHaveProperty('ms')
  expect(only(transcriptOf(events).items, 'tool')).toEqual([expect.objectContaining({ name: 'bash', state: 'done' })])
})

test('a failed attempt and its wait are one row', () => {
  const { items } = transcriptOf(
    log(
      ['turn/start', { turn: 1 }],
      [
        'assistant/attempt',
        { turn: 1, step: 1, stream: [], error: { code: 'MODEL_RATE_LIMITED', message: 'slow down' } },
      ],
      ['llm/retry', { turn: 1, step: 1, attempt: 1, code: 'MODEL_RATE_LIMITED', delayMs: 2000, until: 9000 }],
      ['llm/retry-started', { turn: 1, step: 1, attempt: 1 }],
    ),
  )
  expect(items).toEqual([
    expect.objectContaining({
      kind: 'retry',
      waitMs: 2000,
      until: 9000,
      started: true,
      error: expect.objectContaining({ message: 'slow down' }),
    }),
  ])
})

test('an error ends the turn with its own row before the footer', () => {
  const { items } = transcriptOf(
    log(
      ['turn/start', { turn: 1 }],
      ['turn/end', { turn: 1, reason: { kind: 'error', error: { code: 'X', message: 'no' } } }],
    ),
  )
  expect(kinds(items)).toEqual(['error', 'footer'])
})

test('a model picked between turns leaves a mark; one picked while blank, or picked again, leaves none', () => {
  const pick = (model: string): Entry => ['model/selection', { provider: 'p', model }]
  const { items } = transcriptOf(log(pick('a'), ...turn(1), pick('a'), pick('b')))
  expect(only(items, 'mark').map((item) => item.mark)).toEqual([
    { type: 'model', provider: 'p', model: 'b', from: { provider: 'p', model: 'a' } },
  ])
})

test('a preset switched on a blank session leaves no mark', () => {
  const { items } = transcriptOf(log(['agent-preset/selected', { agentPreset: 'standard' }], ...turn(1)), 'minimal')
  expect(only(items, 'mark')).toEqual([])
  expect(only(items, 'footer')[0]?.preset).toBe('standard')
})

test('todos belong to the call that wrote them, else they are a row of their own', () => {
  const todos = [{ content: 'a', status: 'pending' as const }]
  const write: Entry = ['tool/call', { turn: 1, step: 1, callId: 'c1', name: 'todo_write', arguments: '{}' }]
  const own = transcriptOf(log(['turn/start', { turn: 1 }], write, ['todo/write', { todos }]))
  expect(own.items).toEqual([expect.objectContaining({ kind: 'tool', todos })])
  expect(kinds(transcriptOf(log(['todo/write', { todos }])).items)).toEqual(['todo'])
})

test('a message of the machinery is a notice, not something a person said', () => {
  const message = said('n1', 'user', [{ type: 'text', text: 'line one\nline two' }], {
    kind: 'plugin',
    plugin: 'hooks',
    summary: 'A hook spoke',
  })
  expect(transcriptOf(log(['user/message', { message }])).items).toEqual([
    expect.objectContaining({ kind: 'notice', source: 'hooks', summary: 'A hook spoke', body: 'line one\nline two' }),
  ])
})

test('the last block of an interrupted answer says so', () => {
  const { items } = transcriptOf(log(answer(1, 1, [{ type: 'text', text: 'half' }], { interrupted: true })))
  expect(items[0]).toMatchObject({ kind: 'text', interrupted: true })
})

test('folding page by page gives what folding at once gives, and never touches what was given out', () => {
  const events = log(header('m1'), ...turn(1), ['model/selection', { provider: 'p', model: 'm2' }], ...turn(2))
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: events.length }), { maxLength: 6 }), (cuts) => {
      const ends = [...cuts.sort((a, b) => a - b), events.length]
      let transcript = emptyTranscript(0, 'minimal')
      let from = 0
      for (const end of ends) {
        const before = structuredClone(transcript.items)
        const held = transcript.items
        transcript = extend(transcript, events.slice(from, end))
        expect(held).toEqual(before)
        from = end
      }
      expect(transcript.items).toEqual(transcriptOf(events, 'minimal').items)
    }),
  )
})

test('whatever the window, every key stands once', () => {
  const events = log(...turn(1), ...turn(2), ...turn(3))
  fc.assert(
    fc.property(fc.nat(events.length), (from) => {
      const keys = transcriptOf(events.slice(from)).items.map((item) => item.key)
      expect(new Set(keys).size).toBe(keys.length)
    }),
  )
})

const V1 = { preset: 'mine', generation: 1, digest: 'd1' }
const V2 = { preset: 'mine', generation: 2, digest: 'd2' }
const composed = (turn: number, step: number, composition?: typeof V1): Entry => [
  'request/header',
  {
    turn,
    step,
    header: { config: { provider: 'p', model: 'm' } },
    compositionDigest: 'd',
    reason: 'change',
    ...(composition && { composition }),
  },
]
const ended = (n: number): Entry => ['turn/end', { turn: n, reason: { kind: 'completed' } }]

test('a footer names the revision behind the last request of its turn, and the step of that request', () => {
  const { items } = transcriptOf(
    log(
      ['turn/start', { turn: 1 }],
      composed(1, 1, V1),
      answer(1, 1, [toolCall('c1')]),
      answer(1, 2, [{ type: 'text', text: 'done' }]),
      ended(1),
      ['turn/start', { turn: 2 }],
      answer(2, 1, [{ type: 'text', text: 'again' }]),
      ended(2),
      ['turn/start', { turn: 3 }],
      composed(3, 1, V2),
      ['assistant/attempt', { turn: 3, step: 1, stream: [] }],
      ended(3),
      ['turn/start', { turn: 4 }],
      ended(4),
      ['turn/start', { turn: 5 }],
      composed(5, 7),
      ended(5),
    ),
  )
  expect(only(items, 'footer').map(({ turn: n, step, composition }) => [n, step, composition])).toEqual([
    [1, 2, V1],
    [2, 1, V1],
    [3, 1, V2],
    [4, undefined, V2],
    [5, 7, undefined],
  ])
  expect(only(items, 'footer')[3]).not.toHaveProperty('step')
  expect(only(items, 'footer')[4]).not.toHaveProperty('composition')
})

test('a notice of the preset is a notice with its facts beside the sentence', () => {
  const data = { kind: 'changed' as const, agentPreset: 'mine', message: 'mine has changed.', from: V1, to: V2 }
  const { items } = transcriptOf(log(['agent-preset/notice', data]))
  expect(items).toEqual([
    {
      key: 'e0',
      seq: 0,
      time: 1000,
      kind: 'notice',
      source: 'agent-preset',
      summary: 'mine has changed.',
      body: 'mine has changed.',
      about: data,
    },
  ])
})
