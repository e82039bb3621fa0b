import { expect, test } from 'vitest'
import { emptyTranscript, extend, transcriptOf } from './transcript.ts'
import { log, step, rows, start, end, answer, header } from './rows.fixture.ts'
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
  expect(
    marks(start, pick('m'), pick('m', 'high'), pick('m', 'high'), pick('m', 'high', 'q'), pick('n', 'high', 'q')),
  ).toEqual([
    { type: 'model', provider: 'p', model: 'm' },
    { type: 'model', provider: 'p', model: 'm', reasoningEffort: 'high' },
    { type: 'model', provider: 'q', model: 'm', reasoningEffort: 'high' },
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
