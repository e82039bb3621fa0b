import { expect, test } from 'vitest'
import { draft, type Draft, type Header, type LogEvent } from '../wire/events.ts'
import type { Block, Message } from '../wire/messages.ts'
import { agentPreset } from './agent-preset.ts'
import { emptyList } from './append-list.ts'
import { inbox } from './inbox.ts'
import { selectionOf } from './model-selection.ts'
import { fold, type Projection } from './projection.ts'
import { sessionState, statusOf } from './session-state.ts'
import { modelHistory, surface, surfaceMessages } from './surface.ts'
import { titleFrom } from './title.ts'
import { todo } from './todo.ts'
import { isBlank, turnBoundary } from './turn-boundary.ts'
import { inputOf, usage } from './usage.ts'

const HEADER: Header = { type: 'session', version: 1, id: 's', createdAt: 1, isSeeded: false, writer: 'test' }
const events = (...drafts: Draft[]): LogEvent[] => drafts.map((each, seq) => ({ ...each, seq, time: 100 + seq }))
const of = <S>(projection: Projection<S>, ...drafts: Draft[]): S => fold(projection, HEADER, events(...drafts))
const step = { turn: 1, step: 1 }
const message = (id: string, content: Block[] = [], role: Message['role'] = 'user'): Message => ({
  id,
  role,
  content,
  source: { kind: 'user' },
})
const used = (provider: string, model: string, reasoningEffort?: string): Draft =>
  draft('request/header', {
    header: { config: { provider, model, ...(reasoningEffort && { reasoningEffort }) } },
    compositionDigest: `${provider}/${model}`,
    reason: 'initial',
  })
const context = (provider: string, model: string, contextWindow?: number): Draft =>
  draft('request/context', { provider, model, ...(contextWindow && { contextWindow }) })

test('a session starts from its header, and what the header leaves out is null', () => {
  expect(sessionState.init(HEADER)).toMatchObject({
    cwd: null,
    parentSession: null,
    origin: null,
    lastHeader: null,
    policy: { preset: null, sandbox: null, network: true, onAsk: null, edits: 'auto', commands: 'auto', rules: [] },
    asks: [],
  })
  const child: Header = { ...HEADER, cwd: '/w', parentSession: 'p', origin: 'subagent' }
  expect(sessionState.init(child)).toMatchObject({ cwd: '/w', parentSession: 'p', origin: 'subagent' })
})

test('an open turn has its number and its time; a turn that ended has its reason', () => {
  const open = of(
    sessionState,
    draft('session/title', { title: 'x', source: 'user' }),
    draft('turn/start', { turn: 3 }),
  )
  expect(open.openTurn).toEqual({ turn: 3, startedAt: 101 })
  expect([statusOf(of(sessionState)), statusOf(open)]).toEqual(['blank', 'running'])
  expect(statusOf({ ...open, openTurn: null })).toBe('idle')
})

test('the context window is that of the route in use: kept for the same one, forgotten for another', () => {
  const last = (...drafts: Draft[]) => of(sessionState, ...drafts).lastHeader
  expect(last(context('p', 'm', 8))).toBeNull()
  expect(last(used('p', 'm', 'high'))).toEqual({
    provider: 'p',
    model: 'm',
    effort: 'high',
    digest: 'p/m',
    contextWindow: null,
  })
  expect(last(used('p', 'm'), context('p', 'm', 8))).toMatchObject({ provider: 'p', effort: null, contextWindow: 8 })
  expect(last(used('p', 'm'), context('q', 'm', 8))?.contextWindow).toBeNull()
  expect(last(used('p', 'm'), context('p', 'n', 8))?.contextWindow).toBeNull()
  expect(last(used('p', 'm'), context('p', 'm', 8), context('p', 'm'))?.contextWindow).toBeNull()
  expect(last(used('p', 'm'), context('p', 'm', 8), used('p', 'm'))?.contextWindow).toBe(8)
  expect(last(used('p', 'm'), context('p', 'm', 8), used('q', 'm'))?.contextWindow).toBeNull()
  expect(last(used('p', 'm'), context('p', 'm', 8), used('p', 'n'))?.contextWindow).toBeNull()
})

test('each policy is the latest told, beside the others; an unknown kind of event changes seq and time alone', () => {
  const state = of(
    sessionState,
    draft('permission/preset', { preset: 'careful' }),
    draft('sandbox/mode', { mode: 'read-only' }),
    draft('approval/policy', { policy: 'deny' }),
  )
  const pinned = {
    preset: 'careful',
    sandbox: 'read-only',
    network: true,
    onAsk: 'deny',
    edits: 'auto',
    commands: 'auto',
  }
  expect(state.policy).toEqual({ ...pinned, rules: [] })
  const rule = { id: 'r', effect: 'allow', tool: 'bash', scope: 'session' } as const
  const changed = of(
    sessionState,
    draft('permission/rules', { rules: [rule] }),
    draft('sandbox/mode', { mode: 'workspace-write', network: false }),
    draft('approval/policy', { policy: 'prompt', edits: 'ask', commands: 'ask' }),
  )
  expect(changed.policy).toMatchObject({
    network: false,
    onAsk: 'prompt',
    edits: 'ask',
    commands: 'ask',
    rules: [rule],
  })
  const unknown = { type: 'of/tomorrow', data: {}, seq: 3, time: 500 } as unknown as LogEvent
  expect(sessionState.apply(state, unknown)).toEqual({ ...state, seq: 3, updatedAt: 500 })
})

test('what waits for a person waits until it is decided or the turn is over, and the session needs that person', () => {
  const ask = (id: string) =>
    draft('approval/asked', {
      ...step,
      id,
      callId: 'c',
      toolName: 'bash',
      args: {},
      digest: 'd',
      kind: 'approve',
      reason: 'why',
      touches: [],
      cwd: '/w',
      waitMs: null,
    })
  const open = [draft('turn/start', { turn: 1 }), ask('a'), ask('b')]
  const waiting = of(sessionState, ...open)
  expect([waiting.asks.map(({ id, askedAt }) => [id, askedAt]), statusOf(waiting)]).toEqual([
    [
      ['a', 101],
      ['b', 102],
    ],
    'needs-you',
  ])
  const decided = of(sessionState, ...open, draft('approval/decided', { ...step, id: 'a', outcome: 'rejected' }))
  expect(decided.asks.map(({ id }) => id)).toEqual(['b'])
  const over = of(sessionState, ...open, draft('turn/end', { turn: 1, reason: { kind: 'interrupted' } }))
  expect([over.asks, statusOf(over)]).toEqual([[], 'idle'])
})

test('a message said by a person leaves the queue of the session, and the queue is cut by a fork', () => {
  const queued = draft('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [message('a'), message('b')] })
  const said = of(sessionState, queued, draft('user/message', { ...step, message: message('b') }))
  expect(said.inbox['next-turn'].map((row) => row.claimed === true)).toEqual([false, true])
  const forked = draft('session/end-seed', { inherited: true })
  expect(of(sessionState, queued, forked).inbox).toEqual({ 'next-turn': [], 'next-step': [] })
  expect(of(inbox, queued, forked)).toEqual({ 'next-turn': [], 'next-step': [] })
  expect(of(inbox, queued, draft('session/end-seed', {}))['next-turn']).toHaveLength(2)
})

test('queue rows: parked ones say why, and a message with an id known twice claims the row that is not claimed', () => {
  const row = (parked?: string) =>
    draft('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [message('a')], ...(parked && { parked }) })
  expect(of(inbox, row('no model'))['next-turn']).toStrictEqual([{ message: message('a'), parked: 'no model' }])
  expect(of(inbox, row())['next-turn']).toStrictEqual([{ message: message('a') }])
  const said = (id: string) => draft('user/message', { ...step, message: message(id) })
  const twice = of(inbox, row(), row(), said('a'), said('a'))['next-turn']
  expect(twice.map(({ claimed }) => claimed)).toEqual([true, true])
  const state = of(inbox, row())
  expect(inbox.apply(state, { ...said('z'), seq: 9, time: 9 })).toBe(state)
})

test('the same preset again keeps the state itself', () => {
  const state = of(agentPreset, draft('agent-preset/selected', { agentPreset: 'a' }))
  const again = events(draft('agent-preset/selected', { agentPreset: 'a' }))[0]!
  expect(agentPreset.apply(state, again)).toBe(state)
})

test('an effort is part of a selection only when there is one', () => {
  expect(selectionOf({ config: { provider: 'p', model: 'm' } })).toStrictEqual({ provider: 'p', model: 'm' })
})

test('the list of to-dos is the latest written, and other events leave it', () => {
  const todos = [{ content: 'x', status: 'pending' as const }]
  expect(of(todo, draft('todo/write', { todos }), draft('turn/start', { turn: 1 }))).toEqual(todos)
  expect(of(todo)).toEqual([])
})

test('a turn under way is not blank, even before its number counts', () => {
  expect(isBlank(turnBoundary.init(HEADER))).toBe(true)
  expect(isBlank(of(turnBoundary, draft('turn/start', { turn: 0 })))).toBe(false)
  expect(
    isBlank(
      of(turnBoundary, draft('turn/start', { turn: 0 }), draft('turn/end', { turn: 0, reason: { kind: 'completed' } })),
    ),
  ).toBe(true)
})

test('usage counts answers and failures apart, keeps what was not reported unknown, and sums what was read', () => {
  const answer = draft('assistant/message', {
    ...step,
    message: message('a', [], 'assistant'),
    stream: [],
    usage: { inputTokens: 3, raw: { x: 1 } },
  })
  const failed = draft('assistant/attempt', { ...step, stream: [], usage: { inputTokens: 1 } })
  expect(of(usage, answer, failed)).toStrictEqual({
    total: { calls: 2, failed: 1, cost: 0, unpriced: 2, inputTokens: 4 },
    own: { calls: 2, failed: 1, cost: 0, unpriced: 2, inputTokens: 4 },
    byModel: [{ provider: '', model: '', calls: 2, failed: 1, cost: 0, unpriced: 2, inputTokens: 4 }],
    last: { inputTokens: 3 },
    route: null,
  })
  expect(inputOf({ inputTokens: 1, cacheReadTokens: 20, cacheWriteTokens: 300, outputTokens: 5000 })).toBe(321)
  expect(inputOf({})).toBe(0)
})

test('every kind of message is a node of the surface, whatever other events lie between', () => {
  const result = { ...step, message: message('r') }
  const state = of(
    surface,
    draft('system/message', { ...step, message: message('s', [], 'system') }),
    draft('developer/message', { ...step, message: message('d') }),
    draft('turn/start', { turn: 1 }),
    draft('user/message', { ...step, message: message('u') }),
    draft('assistant/message', { ...step, message: message('a', [], 'assistant'), stream: [] }),
    draft('tool/result', result),
  )
  expect(surfaceMessages(state).map(({ id }) => id)).toEqual(['s', 'd', 'u', 'a', 'r'])
  expect(surfaceMessages(emptyList())).toEqual([])
})

test('a replacement takes the place of its range; one whose range is gone or turned around is added at the end', () => {
  const said = (id: string) => draft('user/message', { ...step, message: message(id) })
  const replacing = (startSeq: number, endSeq: number): Draft => ({
    ...said('new'),
    surfaceOp: { op: 'replace', startSeq, endSeq },
  })
  const ids = (op: Draft) => surfaceMessages(of(surface, said('0'), said('1'), said('2'), op)).map(({ id }) => id)
  expect(ids(replacing(0, 1))).toEqual(['new', '2'])
  expect(ids(replacing(1, 1))).toEqual(['0', 'new', '2'])
  expect(ids(replacing(2, 1))).toEqual(['0', '1', '2', 'new'])
  expect(ids(replacing(1, 9))).toEqual(['0', '1', '2', 'new'])
  expect(ids(replacing(9, 9))).toEqual(['0', '1', '2', 'new'])
  expect(ids({ ...said('new'), surfaceOp: 'append' })).toEqual(['0', '1', '2', 'new'])
})

test('a call without a result is answered in words that say so; only an answer of the model makes calls', () => {
  const calling: Block[] = [{ type: 'tool-call', id: 'c', name: 'bash', arguments: '{}' }]
  const history = (role: Message['role']) =>
    modelHistory(of(surface, draft('user/message', { ...step, message: message('a', calling, role) })))
  expect(history('user').map(({ id }) => id)).toEqual(['a'])
  expect(history('assistant')[1]).toStrictEqual({
    id: 'unanswered:c',
    role: 'user',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'c',
        content: [{ type: 'text', text: 'The result of this call was not recorded. Whether it ran is unknown.' }],
        isError: true,
      },
    ],
    source: { kind: 'tool', callId: 'c' },
  })
})

test.each([
  ['say ``` here', 'say here'],
  ['x```\nnext', 'x'],
  ['12) twelve', 'twelve'],
  ['1.  wide', 'wide'],
  ['ab) no list', 'ab) no list'],
  ['12a no list', '12a no list'],
  ['a **b** `c`', 'a b c'],
  ['-  two blanks', 'two blanks'],
])('a title without its marks: %j is %j', (text, expected) => {
  expect(titleFrom(text)).toBe(expected)
})

test('a title of exactly sixty stays whole, one more is cut, at a word only in the last third', () => {
  const sixty = 'x'.repeat(60)
  expect(titleFrom(sixty)).toBe(sixty)
  expect(titleFrom(`${sixty}x`)).toBe(`${'x'.repeat(59)}…`)
  const spaced = (at: number) => `${'x'.repeat(at)} ${'y'.repeat(80)}`
  expect(titleFrom(spaced(40))).toBe(`${'x'.repeat(40)} ${'y'.repeat(18)}…`)
  expect(titleFrom(spaced(41))).toBe(`${'x'.repeat(41)}…`)
  expect(titleFrom(spaced(58))).toBe(`${'x'.repeat(58)}…`)
  expect(titleFrom(`${'\n'.repeat(4000)}too far down`)).toBe('')
})
