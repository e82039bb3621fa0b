import { expect, test } from 'vitest'
import type { Block, Source } from '../wire/messages.ts'
import { transcriptOf } from './transcript.ts'
import { log, rows, image, text, message, step, answer, call, result } from './rows.fixture.ts'
import type { Entry } from './rows.fixture.ts'

test('what a person says has its text, its images, and its turn when it has one', () => {
  const content = [text('look '), image, text('here')]
  expect(
    rows(
      ['user/message', { ...step, message: message('u1', content) }],
      ['user/message', { message: message('u2', [text('hi')]) }],
    ),
  ).toStrictEqual([
    { key: 'u1', seq: 0, time: 1000, kind: 'user', text: 'look here', images: [image], turn: 1 },
    { key: 'u2', seq: 1, time: 2000, kind: 'user', text: 'hi', images: [] },
  ])
})

test('a notice is told by its summary or else by its first line, and names who gave it', () => {
  const told = (source: Source, body: string): Entry => [
    'developer/message',
    { ...step, message: message('n', [text(body)], source) },
  ]
  const shown = rows(
    told({ kind: 'plugin', plugin: 'todo', summary: 'In short' }, 'long\ntext'),
    told({ kind: 'plugin', plugin: 'todo', summary: '' }, '\n first line \nsecond'),
    told({ kind: 'runtime-context' }, 'only line'),
    told({ kind: 'runtime-context' }, ''),
    [
      'user/message',
      {
        message: message('n', [text('the model changed')], {
          kind: 'model-selection',
          form: 'notice',
          summary: 'To m',
        }),
      },
    ],
  )
  expect(shown.map((item) => item.kind === 'notice' && [item.source, item.summary, item.body])).toEqual([
    ['todo', 'In short', 'long\ntext'],
    ['todo', 'first line ', '\n first line \nsecond'],
    ['runtime-context', 'only line', 'only line'],
    ['runtime-context', '', ''],
    ['model-selection', 'To m', 'the model changed'],
  ])
})

test('an answer shows its thoughts with their time, its text and its calls; empty blocks are no rows', () => {
  const content: Block[] = [
    { type: 'reasoning', text: 'first' },
    { type: 'reasoning', text: '' },
    { type: 'reasoning', text: 'untimed' },
    text(''),
    { type: 'tool-call', id: 'c', name: 'bash', arguments: '{"a":1}' },
    text('last'),
  ]
  const stream = [
    { i: 2, k: 'text' as const, at: 0, l: [1], d: [500] },
    { i: 0, k: 'text' as const, at: 0, l: [1], d: [900] },
    { i: 0, k: 'reasoning' as const, at: 0, l: [2, 3], d: [30, 12] },
  ]
  const place = (block: number) => ({ key: `1.1.${block}`, seq: 0, time: 1000 })
  const whole = [
    { ...place(0), kind: 'thinking', text: 'first', ms: 42 },
    { ...place(2), kind: 'thinking', text: 'untimed' },
    {
      key: 'c',
      seq: 0,
      time: 1000,
      kind: 'tool',
      state: 'called',
      callId: 'c',
      name: 'bash',
      arguments: '{"a":1}',
      ...step,
    },
    { ...place(5), kind: 'text', text: 'last' },
  ]
  expect(rows(answer(content, { stream }))).toStrictEqual(whole)
  const cut = rows(answer(content, { stream, interrupted: true }))
  expect(cut).toStrictEqual([...whole.slice(0, 3), { ...whole[3], interrupted: true }])
  const inThought = rows(answer([text('a'), { type: 'reasoning', text: 'b' }], { interrupted: true }))
  expect(inThought.map((item) => 'interrupted' in item)).toEqual([false, true])
})

test('a call runs from its start to its result: time, error, meta and images are those of the result', () => {
  const error = { code: 'TOOL_FAILED' }
  const tool = { kind: 'tool', name: 'bash', arguments: '{}', ...step } as const
  const plain = { text: 'out', images: [], isError: false }
  expect(
    rows(
      call('a'),
      call('b'),
      result('b', { isError: true, content: [text('no'), image] }, { error, meta: { exit: 3 }, ms: 7 }),
      result('a'),
      ['tool/result', { ...step, message: message('r', [text('no result block')], { kind: 'tool', callId: 'c' }) }],
      result('x'),
    ),
  ).toStrictEqual([
    { key: 'a', seq: 0, time: 1000, callId: 'a', ...tool, state: 'done', startedAt: 1000, ms: 3000, result: plain },
    {
      key: 'b',
      seq: 1,
      time: 2000,
      callId: 'b',
      ...tool,
      state: 'done',
      startedAt: 2000,
      ms: 7,
      result: { text: 'no', images: [image], isError: true, error, meta: { exit: 3 } },
    },
    { key: 'x', seq: 5, time: 6000, kind: 'tool', callId: 'x', arguments: '', ...step, state: 'done', result: plain },
  ])
})

test('the answer is found among other blocks of its message, and a call named twice is one row', () => {
  const mixed = message('r', [text('before'), { type: 'tool-result', toolCallId: 'a', content: [text('out')] }], {
    kind: 'tool',
    callId: 'a',
  })
  const shown = rows(answer([{ type: 'tool-call', id: 'a', name: 'bash', arguments: '{}' }]), call('a'), [
    'tool/result',
    { ...step, message: mixed },
  ])
  expect(shown).toHaveLength(1)
  expect(shown[0]).toMatchObject({ state: 'done', ms: 1000, result: { text: 'out' } })
})

test('a to-do list goes into the row of the call that wrote it, and stands alone without one', () => {
  const todos = [{ content: 'x', status: 'pending' as const }]
  const shown = rows(call('a'), call('b', 'todo_write'), ['todo/write', { todos }], result('b'), [
    'todo/write',
    { todos: [] },
  ])
  expect(shown.map((item) => [item.kind, 'todos' in item ? item.todos : undefined])).toEqual([
    ['tool', undefined],
    ['tool', todos],
    ['todo', []],
  ])
  expect(shown[2]).toStrictEqual({ key: 'e4', seq: 4, time: 5000, kind: 'todo', todos: [] })
  const nameless = transcriptOf(log(result('z'), ['todo/write', { todos }])).items
  expect(nameless.map(({ kind }) => kind)).toEqual(['tool', 'todo'])
})

test('a failed attempt, its wait and its second start are one row; a wait without an attempt is a row of its own', () => {
  const error = { code: 'RATE_LIMIT', message: 'slow down' }
  const attempt: Entry = ['assistant/attempt', { ...step, stream: [], error, usage: { inputTokens: 1 } }]
  const wait = (until: number, text?: string): Entry => [
    'llm/retry',
    { ...step, attempt: 1, code: 'RATE_LIMIT', ...(text && { message: text }), delayMs: 10, until },
  ]
  const again: Entry = ['llm/retry-started', { ...step, attempt: 2 }]
  expect(rows(attempt, wait(50), again)).toStrictEqual([
    {
      key: 'e0',
      seq: 0,
      time: 1000,
      kind: 'retry',
      error,
      failed: 1,
      waitMs: 10,
      until: 50,
      started: true,
      waitedMs: 2000,
    },
  ])
  expect(rows(wait(50, 'told'), wait(60), again)).toStrictEqual([
    {
      key: 'e0',
      seq: 0,
      time: 1000,
      kind: 'retry',
      error: { code: 'RATE_LIMIT', message: 'told' },
      failed: 1,
      waitMs: 10,
      until: 50,
    },
    {
      key: 'e1',
      seq: 1,
      time: 2000,
      kind: 'retry',
      error: { code: 'RATE_LIMIT', message: '' },
      failed: 1,
      waitMs: 10,
      until: 60,
      started: true,
      waitedMs: 1000,
    },
  ])
  const mixed = rows(attempt, answer([text('words')]), wait(70))
  expect(mixed.map(({ kind }) => kind)).toEqual(['retry', 'text', 'retry'])
  expect(rows(again)).toEqual([])
  expect(rows(answer([text('words')]), again).map(({ kind }) => kind)).toEqual(['text'])
  expect(rows(attempt, answer([text('words')]), again)[0]).toHaveProperty('started', true)
  expect(rows(['assistant/attempt', { ...step, stream: [] }])).toEqual([])
})

test('a warning has its feature, and its detail when there is one', () => {
  expect(
    rows(
      ['llm/warning', { ...step, feature: 'images' }],
      ['llm/warning', { ...step, feature: 'images', detail: 'left out' }],
    ),
  ).toStrictEqual([
    { key: 'e0', seq: 0, time: 1000, kind: 'warning', feature: 'images' },
    { key: 'e1', seq: 1, time: 2000, kind: 'warning', feature: 'images', detail: 'left out' },
  ])
})
