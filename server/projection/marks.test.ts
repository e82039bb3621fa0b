import { expect, test } from 'vitest'
import { emptyTranscript, extend, transcriptOf } from './transcript.ts'
import { log, step, rows, start, end, answer, header, message, text, call, result } from './rows.fixture.ts'
import type { Entry } from './rows.fixture.ts'

test('a mark stands where model or preset changed in a session that had begun, and nowhere else', () => {
  const pick = (model: string, reasoningEffort?: string, provider = 'p'): Entry => [
    'model/selection',
    { provider, model, ...(reasoningEffort && { reasoningEffort }) },
  ]
  const preset = (agentPreset: string): Entry => ['agent-preset/selected', { agentPreset }]
  const marks = (...entries: Entry[]) =>
    transcriptOf(log(...entries), 'standard').items.flatMap((item) => (item.kind === 'mark' ? [item.mark] : []))
  expect(marks(pick('m'), preset('minimal'), start, pick('m'), preset('minimal'))).toEqual([])
  expect(marks(start, pick('m'), pick('m', 'high'), pick('n', 'high', 'q'))).toMatchObject([
    { type: 'model', provider: 'q', model: 'n', reasoningEffort: 'high' },
  ])
  expect(marks(start, preset('standard'), preset('minimal'), preset('minimal'))).toEqual([
    { type: 'preset', preset: 'minimal' },
  ])
  expect(marks(start, header('low'), pick('m', 'low'))).toEqual([])
  const [mark] = rows(start, pick('m'))
  expect(mark).toStrictEqual({
    key: 'e1',
    seq: 1,
    time: 2000,
    kind: 'mark',
    mark: { type: 'model', provider: 'p', model: 'm' },
  })
})

const pick = (model: string, reasoningEffort?: string): Entry => [
  'model/selection',
  { provider: 'p', model, ...(reasoningEffort && { reasoningEffort }) },
]
const headerOf = (model: string, reasoningEffort?: string, filled = false): Entry => [
  'request/header',
  {
    header: {
      config: { provider: 'p', model, ...(reasoningEffort && { reasoningEffort }) },
      ...(filled && { adapterDefaults: { reasoningEffort: true as const } }),
    },
    compositionDigest: 'd',
    reason: 'change',
  },
]
const told: Entry = [
  'user/message',
  {
    turn: 1,
    message: message('n', [text('It changed.')], { kind: 'model-selection', form: 'notice', summary: 'm → n' }),
  },
]

test('a change of the model is one line: from what to what, used or not yet, and what the model was told of it', () => {
  const from = { provider: 'p', model: 'm' }
  const mark = { type: 'model', provider: 'p', model: 'n', reasoningEffort: 'low', from }
  const begun = [start, headerOf('m')]
  expect(rows(...begun, pick('x'), pick('n', 'low'))).toMatchObject([{ key: 'e3', kind: 'mark', mark }])
  expect(rows(...begun, pick('x'), pick('m'))).toEqual([])
  expect(rows(...begun, pick('n', 'low'), told, headerOf('n', 'low'))).toStrictEqual([
    { key: 'e2', seq: 2, time: 3000, kind: 'mark', mark: { ...mark, used: true, told: 'It changed.' } },
  ])
  const second = rows(...begun, pick('n'), headerOf('n'), pick('o'), headerOf('o'))
  expect(second.map((item) => item.kind === 'mark' && item.mark)).toMatchObject([
    { model: 'n', from },
    { model: 'o', from: { provider: 'p', model: 'n' }, used: true },
  ])
})

test('a pick that the model before it still spoke below moves to the request that used it', () => {
  const shown = rows(
    start,
    headerOf('m'),
    pick('n'),
    call('c1'),
    answer([text('still m')]),
    headerOf('n'),
    result('c1'),
  )
  expect(shown.map((item) => item.kind)).toEqual(['tool', 'text', 'mark'])
  expect(shown[0]).toMatchObject({ state: 'done' })
  expect(shown[2]).toMatchObject({ key: 'e2', seq: 5, mark: { model: 'n', used: true } })
})

test('a request that nobody picked for says so where it differs; an effort that the adapter filled in is no change', () => {
  expect(rows(start, headerOf('m'), headerOf('m', 'high', true), headerOf('m'))).toEqual([])
  expect(rows(start, headerOf('m'), headerOf('n'))).toMatchObject([
    { kind: 'mark', mark: { model: 'n', from: { model: 'm' }, used: true } },
  ])
  // A request that was assembled before the pick leaves the pick open.
  expect(rows(start, headerOf('m'), pick('n'), headerOf('m'))).toMatchObject([{ mark: { model: 'n' } }])
  expect(rows(start, told)).toMatchObject([{ kind: 'notice' }])
})

test('a footer adds up what its requests cost, and counts those that nobody can price', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 100_000 }
  const price = { in: 2, out: 10 }
  const shown = rows(start, answer([], { usage, price }), answer([], { usage }), answer([], { usage, price }), end)
  expect(shown.at(-1)).toMatchObject({ kind: 'footer', money: { cost: 6, unpriced: 1 } })
})

test('a footer sums its own turn: time, usage of answers and attempts, and the selection in effect', () => {
  const shown = rows(
    start,
    header('high'),
    ['assistant/attempt', { ...step, stream: [], usage: { inputTokens: 5, outputTokens: 1 } }],
    answer([], { usage: { inputTokens: 7, reasoningTokens: 2 } }),
    answer([]),
    end,
    ['turn/end', { turn: 2, reason: { kind: 'error', error: { code: 'AUTH', message: 'no' } } }],
  )
  const selection = { provider: 'p', model: 'm', reasoningEffort: 'high' }
  expect(shown).toMatchObject([
    {
      key: 'turn1',
      seq: 5,
      time: 6000,
      kind: 'footer',
      turn: 1,
      reason: { kind: 'completed' },
      ms: 5000,
      usage: { inputTokens: 12, outputTokens: 1, reasoningTokens: 2 },
      selection,
    },
    { key: 'error2', seq: 6, time: 7000, kind: 'error', error: { code: 'AUTH', message: 'no' } },
    {
      key: 'turn2',
      seq: 6,
      time: 7000,
      kind: 'footer',
      turn: 2,
      reason: { kind: 'error', error: { code: 'AUTH', message: 'no' } },
      selection,
    },
  ])
})

test('the end of another turn takes nothing of the open one, and a header outside of turns is the selection all the same', () => {
  const foreign = rows(start, answer([], { usage: { inputTokens: 1 } }), [
    'turn/end',
    { turn: 9, reason: { kind: 'completed' } },
  ])
  expect(foreign[0]).not.toHaveProperty('usage')
  expect(foreign[0]).not.toHaveProperty('ms')
  const [footer] = rows(header(), end)
  expect(footer).toStrictEqual({
    key: 'turn1',
    seq: 1,
    time: 2000,
    kind: 'footer',
    turn: 1,
    reason: { kind: 'completed' },
    selection: { provider: 'p', model: 'm' },
  })
})

test('a window that starts late belongs to a session that has begun; nothing new changes nothing', () => {
  expect(emptyTranscript(0).cursor).toStrictEqual({ calls: new Map(), begun: false })
  expect(emptyTranscript(3, 'minimal').cursor).toStrictEqual({ calls: new Map(), begun: true, preset: 'minimal' })
  const known = transcriptOf(log(start))
  expect(extend(known, [])).toBe(known)
  expect(transcriptOf([])).toEqual(emptyTranscript(0))
  const late = log(start, ['model/selection', { provider: 'p', model: 'm' }]).slice(1)
  expect(transcriptOf(late).items).toHaveLength(1)
})
