import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { draft, type Draft, type Header, type LogEvent } from '../wire/events.ts'
import type { Usage } from '../wire/messages.ts'
import { agentPreset } from './agent-preset.ts'
import { push, toArray, emptyList } from './append-list.ts'
import { inbox, waiting } from './inbox.ts'
import { currentSelection, modelSelection, selectionView } from './model-selection.ts'
import { fold, type Projection } from './projection.ts'
import { request } from './request.ts'
import { sessionState, statusOf } from './session-state.ts'
import { title, titleFrom } from './title.ts'
import { todo } from './todo.ts'
import { isBlank, turnBoundary } from './turn-boundary.ts'
import { usage } from './usage.ts'
import { surface } from './surface.ts'

const HEADER: Header = {
  type: 'session',
  version: 1,
  id: 's',
  createdAt: 1,
  isSeeded: false,
  agentPreset: 'standard',
  writer: 'test',
}
const events = (...drafts: Draft[]): LogEvent[] => drafts.map((each, seq) => ({ ...each, seq, time: 100 + seq }))
const of = <S>(projection: Projection<S>, ...drafts: Draft[]): S => fold(projection, HEADER, events(...drafts))

const at = { turn: 1, step: 1 }
const message = (id: string, text = id) => ({
  id,
  role: 'user' as const,
  content: [{ type: 'text' as const, text }],
  source: { kind: 'user' as const },
})
const prompt = (id: string): Draft => draft('user/message', { ...at, message: message(id) })
const selected = (preset: string): Draft => draft('agent-preset/selected', { agentPreset: preset })
const pick = (provider: string, model: string, reasoningEffort?: string): Draft =>
  draft('model/selection', { provider, model, ...(reasoningEffort !== undefined && { reasoningEffort }) })
const used = (provider: string, model: string, reasoningEffort?: string, filled = false): Draft =>
  draft('request/header', {
    header: {
      config: { provider, model, ...(reasoningEffort !== undefined && { reasoningEffort }) },
      ...(filled && { adapterDefaults: { reasoningEffort: true as const } }),
    },
    compositionDigest: 'd',
    reason: 'initial',
  })
const splice = (start: number, removedCount: number, ...ids: string[]): Draft =>
  draft('agent/inbox/spliced', {
    target: 'next-turn',
    start,
    ...(removedCount > 0 && { removedCount }),
    inserted: ids.map((id) => message(id)),
  })

describe('agentPreset', () => {
  test('H-06 H-07 starts from the header, takes the latest selection, and survives turns', () => {
    expect(of(agentPreset).current).toBe('standard')
    const end = draft('turn/end', { turn: 1, reason: { kind: 'completed' } })
    const state = of(agentPreset, selected('minimal'), selected('cordis'), draft('turn/start', { turn: 1 }), end)
    expect(state).toEqual({ created: 'standard', current: 'cordis' })
    const { agentPreset: _, ...none } = HEADER
    expect(fold(agentPreset, none, []).current).toBeNull()
  })

  test('H-17 an inherited seed restarts from the header of the fork; a seed that is not inherited changes nothing', () => {
    const seed = draft('session/end-seed', { inherited: true })
    expect(of(agentPreset, selected('minimal'), seed).current).toBe('standard')
    expect(of(agentPreset, selected('minimal'), seed, selected('ptc'))).toMatchObject({ current: 'ptc' })
    expect(of(agentPreset, selected('minimal'), draft('session/end-seed', {})).current).toBe('minimal')
  })
})

describe('modelSelection', () => {
  test('L-05 a pick is pending, a header is what was used, the view shows what comes next', () => {
    expect(selectionView(of(modelSelection))).toEqual({ lastUsed: null, next: null })
    const state = of(modelSelection, used('p', 'a'), pick('p', 'b'))
    expect(state).toMatchObject({ lastUsed: { provider: 'p', model: 'a' }, pending: { provider: 'p', model: 'b' } })
    expect(selectionView(state).next).toEqual({ provider: 'p', model: 'b' })
  })

  test('L-06 L-07 a header of another route leaves the pick, the picked one consumes it', () => {
    const waitingB = of(modelSelection, pick('p', 'b'), used('p', 'a'))
    expect(waitingB.pending).toEqual({ provider: 'p', model: 'b' })
    const consumed = of(modelSelection, pick('p', 'b'), used('p', 'a'), used('p', 'b'))
    expect(consumed.pending).toBeNull()
    expect(currentSelection(consumed)).toEqual({ provider: 'p', model: 'b' })
  })

  test.each([
    ['provider', 'q', 'b', 'high', false],
    ['model', 'p', 'c', 'high', false],
    ['effort', 'p', 'b', 'low', false],
    ['missing effort', 'p', 'b', undefined, false],
    ['nothing', 'p', 'b', 'high', true],
  ])('L-08 a header that differs in %s', (...[, provider, model, effort, consumes]) => {
    const { pending } = of(modelSelection, pick('p', 'b', 'high'), used(provider, model, effort))
    expect(pending === null).toBe(consumes)
  })

  test('L-11 an effort that the adapter filled in is not restored, and counts as absent when a pick is consumed', () => {
    const state = of(modelSelection, pick('p', 'b'), used('p', 'b', 'medium', true))
    expect(state).toEqual({ pending: null, lastUsed: { provider: 'p', model: 'b' }, filledEffort: 'medium' })
    expect(of(modelSelection, pick('p', 'b', 'medium'), used('p', 'b', 'medium', true)).pending).not.toBeNull()
    expect(of(modelSelection, used('p', 'b', 'medium', true), used('p', 'b', 'high')).filledEffort).toBeNull()
  })
})

describe('inbox', () => {
  test('rows follow splices; both lists are separate', () => {
    const state = of(
      inbox,
      splice(0, 0, 'a', 'b', 'c'),
      splice(1, 1, 'x'),
      draft('agent/inbox/spliced', { target: 'next-step', start: 0, inserted: [message('s')] }),
    )
    expect(waiting(state, 'next-turn').map((row) => row.message.id)).toEqual(['a', 'x', 'c'])
    expect(waiting(state, 'next-step').map((row) => row.message.id)).toEqual(['s'])
  })

  test('a parked row says why, and an ordinary one says nothing', () => {
    const state = of(
      inbox,
      splice(0, 0, 'a', 'b'),
      draft('agent/inbox/spliced', {
        target: 'next-turn',
        start: 0,
        removedCount: 1,
        inserted: [message('a')],
        parked: 'AUTH',
      }),
    )
    expect(state['next-turn'].map((row) => row.parked)).toEqual(['AUTH', undefined])
  })

  test('a prompt in the history counts as claimed, and later splices still count its row', () => {
    const torn = of(inbox, splice(0, 0, 'a', 'b'), prompt('a'))
    expect(waiting(torn, 'next-turn').map((row) => row.message.id)).toEqual(['b'])
    const whole = of(inbox, splice(0, 0, 'a', 'b'), prompt('a'), splice(0, 1))
    expect(whole['next-turn']).toEqual([{ message: message('b') }])
  })

  test('at every cut of a claim a prompt is in the queue or in the history, never both and never neither', () => {
    const batch = [splice(0, 0, 'a'), splice(1, 0, 'b'), prompt('a'), prompt('b'), splice(0, 1), splice(0, 1)]
    for (let cut = 2; cut <= batch.length; cut++) {
      const part = batch.slice(0, cut)
      const history = of(surface, ...part).length
      expect(waiting(of(inbox, ...part), 'next-turn').length + history, `cut ${cut}`).toBe(2)
    }
  })
})

describe('turnBoundary', () => {
  test('H-02 H-03 blank, open and finished are told apart', () => {
    const start = draft('turn/start', { turn: 1 })
    const step = draft('step/start', at)
    expect(isBlank(of(turnBoundary))).toBe(true)
    expect(isBlank(of(turnBoundary, selected('x')))).toBe(true)
    const open = of(turnBoundary, start, step)
    expect(open).toEqual({
      openTurnStartSeq: 0,
      lastStepStartSeq: 1,
      lastStepBoundary: { kind: 'start', turn: 1, step: 1, seq: 1 },
      lastTurn: 1,
    })
    const done = of(
      turnBoundary,
      start,
      step,
      draft('step/end', at),
      draft('turn/end', { turn: 1, reason: { kind: 'completed' } }),
    )
    expect(done).toMatchObject({ openTurnStartSeq: null, lastTurn: 1, lastStepBoundary: { kind: 'end', seq: 2 } })
    expect(isBlank(done)).toBe(false)
  })
})

describe('usage', () => {
  const answered = (counts?: Usage): Draft =>
    draft('assistant/message', { ...at, message: message('a'), stream: [], ...(counts && { usage: counts }) })
  const failed = (counts?: Usage): Draft =>
    draft('assistant/attempt', { ...at, stream: [], ...(counts && { usage: counts }) })

  test('sums the whole log, failed attempts once, and leaves unknown counts absent', () => {
    const state = of(
      usage,
      failed({ inputTokens: 5 }),
      answered({ inputTokens: 10, outputTokens: 3, raw: { vendor: true } }),
      answered(),
      answered({ outputTokens: 0 }),
    )
    expect(state.total).toEqual({ calls: 4, failed: 1, cost: 0, unpriced: 4, inputTokens: 15, outputTokens: 3 })
    expect(state.last).toEqual({ outputTokens: 0 })
    expect('cacheReadTokens' in state.total).toBe(false)
  })

  test("a fork's own sum starts at its seed, the total runs on", () => {
    const seed = draft('session/end-seed', { inherited: true })
    const state = of(usage, answered({ inputTokens: 10 }), seed, answered({ inputTokens: 1 }))
    expect([state.total.inputTokens, state.own.inputTokens]).toEqual([11, 1])
  })
})

describe('title, todo, request', () => {
  test('the latest title wins', () => {
    const named = (text: string, source: 'rule' | 'user'): Draft => draft('session/title', { title: text, source })
    expect(of(title, named('a', 'user'), named('b', 'rule'))).toEqual({ title: 'b', source: 'rule' })
    expect(of(todo)).toEqual([])
  })

  test.each([
    ['Fix the login page', 'Fix the login page'],
    ['\n\n  ## Fix `foo()` in **bar**\nmore', 'Fix foo() in bar'],
    ['- [ ] see [the docs](https://x.y/z)', '[ ] see the docs'],
    ['```ts\nconst a = 1\n```', 'const a = 1'],
    ['snake_case and a * b', 'snake_case and a b'],
    ['修复登录页面的问题', '修复登录页面的问题'],
    [' \n\t\n', ''],
    ['', ''],
    ['a\u202eb\u0000c', 'a b c'],
  ])('titleFrom(%j) is %j', (text, expected) => {
    expect(titleFrom(text)).toBe(expected)
  })

  test('a long title ends at a word, at most 60 graphemes, and never inside a character', () => {
    expect(titleFrom('word '.repeat(40))).toBe(`${'word '.repeat(10)}word…`)
    const family = '👨‍👩‍👧‍👦'
    const cut = titleFrom(family.repeat(100))
    expect(cut).toBe(`${family.repeat(59)}…`)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const result = titleFrom(text)
        expect([...new Intl.Segmenter().segment(result)].length).toBeLessThanOrEqual(60)
        expect(result).toBe(result.trim())
        expect(Array.from(result).every((char) => char >= ' ')).toBe(true)
      }),
    )
  })

  test('request holds the latest composition and origins; a header without a composition clears it', () => {
    const composition = { preset: 'x', generation: 3, digest: 'c' }
    const plain = used('p', 'a') as Draft<'request/header'>
    const composed = { ...plain, data: { ...plain.data, composition } }
    const origins = { turn: 1, step: 1, sections: [], contexts: [], tools: { bash: 'row' } }
    expect(of(request)).toEqual({
      header: null,
      compositionDigest: null,
      composition: null,
      headerSeq: null,
      seriesSeq: null,
      context: null,
      origins: null,
    })
    expect(of(request, composed, draft('request/origins', origins))).toMatchObject({ composition, origins })
    expect(of(request, composed, plain).composition).toBeNull()
  })

  test('request holds the latest header, its digest, and where its series began', () => {
    const later = { ...used('p', 'b') } as Draft<'request/header'>
    const series = { ...later, data: { ...later.data, startsSeries: true, compositionDigest: 'e' } }
    const context = draft('request/context', { provider: 'p', model: 'b', contextWindow: 8 })
    expect(of(request, used('p', 'a'), later, context)).toMatchObject({
      headerSeq: 1,
      seriesSeq: 0,
      context: { contextWindow: 8 },
    })
    expect(of(request, used('p', 'a'), series)).toMatchObject({ headerSeq: 1, seriesSeq: 1, compositionDigest: 'e' })
  })
})

describe('sessionState', () => {
  const retry = draft('llm/retry', { ...at, attempt: 2, code: 'RATE_LIMIT', delayMs: 10, until: 999 })
  const all: Draft[] = [
    splice(0, 0, 'q'),
    draft('session/title', { title: 'T', source: 'user' }),
    selected('minimal'),
    pick('p', 'b'),
    draft('turn/start', { turn: 1 }),
    draft('step/start', at),
    prompt('q'),
    used('p', 'b', 'high', true),
    splice(0, 1),
    draft('request/context', { provider: 'p', model: 'b', contextWindow: 1000 }),
    draft('assistant/attempt', { ...at, stream: [], usage: { inputTokens: 1 } }),
    retry,
    draft('llm/retry-started', { ...at, attempt: 2 }),
    draft('assistant/message', { ...at, message: message('a'), stream: [], usage: { outputTokens: 2 } }),
    draft('todo/write', { todos: [{ content: 'x', status: 'pending' }] }),
    draft('step/end', at),
    draft('turn/end', { turn: 1, reason: { kind: 'completed' } }),
    draft('session/end-seed', { inherited: true }),
  ]

  test('agrees with every single fold at every point, and is JSON all through', () => {
    for (let cut = 0; cut <= all.length; cut++) {
      const part = all.slice(0, cut)
      const state = of(sessionState, ...part)
      expect(JSON.parse(JSON.stringify(state))).toEqual(state)
      const { next, ...model } = state.model
      expect(model).toEqual(of(modelSelection, ...part))
      expect(next).toEqual(currentSelection(of(modelSelection, ...part)))
      expect(state.inbox).toEqual(of(inbox, ...part))
      expect(state.preset).toEqual(of(agentPreset, ...part))
      expect(state.usage).toEqual(of(usage, ...part))
      expect(state.title).toEqual(of(title, ...part))
      expect(state.todo).toEqual(of(todo, ...part))
      expect(state.lastTurn).toBe(of(turnBoundary, ...part).lastTurn)
      expect(state.openTurn === null).toBe(of(turnBoundary, ...part).openTurnStartSeq === null)
      expect(state.seq).toBe(cut - 1)
    }
  })

  test('a snapshot continues as if it had never been serialised', () => {
    const whole = of(sessionState, ...all)
    for (let cut = 0; cut <= all.length; cut++) {
      let state = JSON.parse(JSON.stringify(of(sessionState, ...all.slice(0, cut)))) as ReturnType<
        typeof sessionState.init
      >
      for (const event of events(...all).slice(cut)) state = sessionState.apply(state, event)
      expect(state).toEqual(whole)
    }
  })

  test('a pending retry shows until it starts, succeeds or the turn ends', () => {
    const until = all.indexOf(retry) + 1
    expect(of(sessionState, ...all.slice(0, until)).retry).toEqual({ until: 999, code: 'RATE_LIMIT', attempt: 2 })
    expect(of(sessionState, ...all.slice(0, until + 1)).retry).toBeNull()
    const ended = draft('turn/end', { turn: 1, reason: { kind: 'aborted', reason: { kind: 'user' } } })
    expect(of(sessionState, ...all.slice(0, until), ended).retry).toBeNull()
  })

  test('the status word', () => {
    expect(statusOf(of(sessionState))).toBe('blank')
    expect(statusOf(of(sessionState, ...all.slice(0, 5)))).toBe('running')
    expect(statusOf(of(sessionState, ...all))).toBe('idle')
    const error = draft('turn/end', { turn: 1, reason: { kind: 'error', error: { code: 'AUTH', message: 'no' } } })
    expect(statusOf(of(sessionState, draft('turn/start', { turn: 1 }), error))).toBe('failed')
  })

  test('an event of an unknown type changes no fold', () => {
    const unknown = { type: 'foo/bar', data: { turn: 9 } } as unknown as Draft
    for (const projection of [agentPreset, modelSelection, inbox, turnBoundary, usage, title, todo, request, surface]) {
      const before = projection.init(HEADER)
      expect(projection.apply(before as never, events(unknown)[0]!)).toBe(before)
    }
  })
})

test('an append list shares its items with older lists without showing them what came later', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat({ max: 20 }), fc.integer())), (steps) => {
      const lists = [emptyList<number>()]
      const models: number[][] = [[]]
      for (const [from, item] of steps) {
        const index = from % lists.length
        lists.push(push(lists[index]!, item))
        models.push([...models[index]!, item])
      }
      expect(lists.map(toArray)).toEqual(models)
    }),
  )
})
