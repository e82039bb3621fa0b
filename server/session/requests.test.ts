import fc from 'fast-check'
import { expect, test } from 'vitest'
import { draft, type EventData, type EventType, type Header, type LogEvent, type SurfaceOp } from '../wire/events.ts'
import { textOf, type Message, type Source } from '../wire/messages.ts'
import { latestSystem } from '../projection/latest-system.ts'
import { fold } from '../projection/projection.ts'
import { request } from '../projection/request.ts'
import { surface, surfaceMessages } from '../projection/surface.ts'
import { requestsOf, requestView } from './requests.ts'

const HEADER: Header = { type: 'session', version: 1, id: 's', createdAt: 1, isSeeded: false, writer: 't' }
type Entry = { [T in EventType]: [T, EventData[T], SurfaceOp?] }[EventType]
const log = (...entries: Entry[]): LogEvent[] =>
  entries.map(([type, data, surfaceOp], seq) => ({
    ...draft(type, data as never, surfaceOp ? { surfaceOp } : {}),
    seq,
    time: 1000 + seq,
  }))

const said = (text: string, role: Message['role'], source: Source): Message => ({
  id: text,
  role,
  content: [{ type: 'text', text }],
  source,
})
const bash = { name: 'bash', description: 'Run.', parameters: { type: 'object' } }
const REF = { preset: 'mine', generation: 2, digest: 'c' }
const user = (turn: number, step: number, text: string, source: Source = { kind: 'user' }): Entry => [
  'user/message',
  { turn, step, message: said(text, 'user', source) },
]
const system = (turn: number, step: number, text: string, op?: SurfaceOp): Entry => [
  'system/message',
  { turn, step, message: said(text, 'system', { kind: 'system' }) },
  ...(op ? ([op] as const) : ([] as const)),
]
const header = (turn: number, step: number, over: Partial<EventData['request/header']> = {}): Entry => [
  'request/header',
  {
    turn,
    step,
    header: { config: { provider: 'p', model: 'm' }, tools: [bash] },
    compositionDigest: 'd1',
    reason: 'change',
    ...over,
  },
]
const answer = (turn: number, step: number, text = 'ok'): Entry => [
  'assistant/message',
  { turn, step, message: said(text, 'assistant', { kind: 'model', provider: 'p', model: 'm' }), stream: [] },
]
const origins = (turn: number, step: number, owner: string): Entry => [
  'request/origins',
  {
    turn,
    step,
    sections: [{ name: 's', order: 0, scope: 'preset', fate: 'shown', owner, text: 'SYSTEM' }],
    contexts: [{ name: 'c', order: 1, scope: 'global', fate: 'suppressed', by: owner }],
    tools: { bash: owner },
  },
]

const LOG = log(
  ['turn/start', { turn: 1 }],
  ['step/start', { turn: 1, step: 1 }],
  system(1, 1, 'SYSTEM'),
  user(1, 1, 'It is noon.', { kind: 'runtime-context' }),
  user(1, 1, '  list\n the   files '),
  header(1, 1, { reason: 'initial' }),
  answer(1, 1),
  ['step/end', { turn: 1, step: 1 }],
  ['step/start', { turn: 1, step: 2 }],
  ['llm/sent', { turn: 1, step: 2, attempt: 1, route: 'p', path: '/', bytes: 1, sha256: 'x' }],
  answer(1, 2),
  ['turn/end', { turn: 1, reason: { kind: 'completed' } }],
  ['turn/start', { turn: 2 }],
  ['step/start', { turn: 2, step: 1 }],
  system(2, 1, 'OTHER', { op: 'replace', startSeq: 2, endSeq: 2 }),
  user(2, 1, 'é𝒳'.repeat(50)),
  header(2, 1, { compositionDigest: 'd2', composition: REF }),
  origins(2, 1, 'persona'),
  ['assistant/attempt', { turn: 2, step: 1, attempt: 1, stream: [] }],
  header(2, 1, {
    compositionDigest: 'd3',
    composition: REF,
    header: { config: { provider: 'q', model: 'n', reasoningEffort: 'high' } },
  }),
  answer(2, 1),
  ['turn/end', { turn: 2, reason: { kind: 'completed' } }],
  ['turn/start', { turn: 3 }],
  user(3, 1, 'again'),
  header(3, 1, { compositionDigest: 'd3', composition: { ...REF, generation: 3 } }),
  ['turn/end', { turn: 3, reason: { kind: 'interrupted' } }],
)

test('every request has one row: tool steps, attempts in one, and one that was cut off', () => {
  expect(requestsOf(LOG, HEADER)).toEqual([
    {
      turn: 1,
      step: 1,
      headerSeq: 5,
      time: 1005,
      provider: 'p',
      model: 'm',
      digest: 'd1',
      changed: false,
      prompt: 'list the files',
    },
    {
      turn: 1,
      step: 2,
      headerSeq: 5,
      time: 1009,
      provider: 'p',
      model: 'm',
      digest: 'd1',
      changed: false,
      prompt: 'list the files',
    },
    {
      turn: 2,
      step: 1,
      headerSeq: 19,
      time: 1014,
      provider: 'q',
      model: 'n',
      digest: 'd3',
      changed: true,
      prompt: `${'é𝒳'.repeat(39)}é…`,
    },
    {
      turn: 3,
      step: 1,
      headerSeq: 24,
      time: 1023,
      provider: 'p',
      model: 'm',
      digest: 'd3',
      changed: true,
      prompt: 'again',
    },
  ])
})

test('a view has the system text, the tools and the origins of its own moment', () => {
  expect(requestView(LOG, HEADER, 1, 2)).toEqual({
    session: 's',
    turn: 1,
    step: 2,
    time: 1009,
    digest: 'd1',
    selection: { provider: 'p', model: 'm' },
    system: 'SYSTEM',
    sections: [],
    contexts: [],
    tools: [bash],
    origins: false,
  })
  const second = requestView(LOG, HEADER, 2, 1)!
  expect(second).toEqual({
    session: 's',
    turn: 2,
    step: 1,
    time: 1014,
    composition: REF,
    digest: 'd3',
    selection: { provider: 'q', model: 'n', reasoningEffort: 'high' },
    system: 'OTHER',
    sections: [{ name: 's', order: 0, scope: 'preset', fate: 'shown', owner: 'persona', text: 'SYSTEM' }],
    contexts: [{ name: 'c', order: 1, scope: 'global', fate: 'suppressed', by: 'persona' }],
    tools: [],
    origins: true,
  })
  expect(requestView(LOG, HEADER, 3, 1)!.tools).toEqual([{ ...bash, owner: 'persona' }])
})

test('what the log does not hold is undefined: other turns and steps, and anything before a header', () => {
  for (const [turn, step] of [
    [4, 1],
    [1, 3],
    [0, 0],
  ] as const)
    expect(requestView(LOG, HEADER, turn, step)).toBeUndefined()
  const headless = log(['turn/start', { turn: 1 }], user(1, 1, 'hi'), answer(1, 1))
  expect(requestsOf(headless, HEADER)).toEqual([])
  expect(requestView(headless, HEADER, 1, 1)).toBeUndefined()
  const unplaced = log(
    ['user/message', { message: said('x', 'user', { kind: 'user' }) }],
    [
      'request/header',
      { header: { config: { provider: 'p', model: 'm' } }, compositionDigest: 'd', reason: 'initial' },
    ],
  )
  expect(requestsOf(unplaced, HEADER)).toEqual([])
})

const place = fc.record({ turn: fc.integer({ min: 1, max: 3 }), step: fc.integer({ min: 1, max: 2 }) })
const op = fc.option(fc.record({ a: fc.nat(12), b: fc.nat(12) }), { nil: undefined })
const move = fc.oneof(
  fc.record({ kind: fc.constantFrom('system' as const, 'user' as const, 'answer' as const), place, op }),
  fc.record({ kind: fc.constant('header' as const), place, tools: fc.nat(3), model: fc.constantFrom('m', 'n') }),
  fc.record({ kind: fc.constantFrom('origins' as const, 'end' as const), place }),
)

function entryOf(each: typeof move extends fc.Arbitrary<infer M> ? M : never, index: number): Entry {
  const { turn, step } = each.place
  const range = 'op' in each && each.op ? { op: 'replace' as const, startSeq: each.op.a, endSeq: each.op.b } : undefined
  switch (each.kind) {
    case 'system':
      return system(turn, step, `S${index}`, range)
    case 'user':
      return [...(user(turn, step, `u${index}`) as ['user/message', EventData['user/message']]), range] as Entry
    case 'answer':
      return [...(answer(turn, step, `a${index}`) as ['assistant/message', never]), range] as Entry
    case 'header': {
      const tools = Array.from({ length: each.tools }, (_, n) => ({ ...bash, name: `t${n}` }))
      return header(turn, step, {
        header: { config: { provider: 'p', model: each.model }, tools },
        compositionDigest: `d${index}`,
      })
    }
    case 'origins':
      return origins(turn, step, `o${index}`)
    case 'end':
      return ['step/end', { turn, step }]
  }
}

test('property: a view is what the folds say after the last event of its request, for every row and no other step', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
      const events = log(...moves.map(entryOf))
      const rows = requestsOf(events, HEADER)
      expect(new Set(rows.map(({ turn, step }) => `${turn}.${step}`)).size).toBe(rows.length)
      for (let turn = 1; turn <= 3; turn++)
        for (let step = 1; step <= 2; step++) {
          const row = rows.find((each) => each.turn === turn && each.step === step)
          const view = requestView(events, HEADER, turn, step)
          expect(view === undefined).toBe(row === undefined)
          if (!view || !row) continue
          const last = events.findLastIndex(
            ({ type, data }) =>
              type !== 'step/end' && 'turn' in data && data.turn === turn && 'step' in data && data.step === step,
          )
          const until = events.slice(0, last + 1)
          const state = fold(request, HEADER, until)
          const nodes = fold(surface, HEADER, until)
          const node = nodes.items.slice(0, nodes.length).findLast((each) => each.type === 'system/message')
          expect(view.system).toBe(node ? textOf(node.message) : '')
          expect(view.tools.map(({ owner: _, ...tool }) => tool)).toEqual(state.header!.tools)
          expect([view.digest, view.selection.model, view.origins]).toEqual([
            state.compositionDigest,
            state.header!.config.model,
            state.origins !== null,
          ])
          expect([row.headerSeq, row.digest, row.time]).toEqual([state.headerSeq, view.digest, view.time])
        }
    }),
    { numRuns: 400 },
  )
})

test('the system prompt found in one pass is that of the surface, whatever was replaced by what', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
      const events = log(...moves.map(entryOf))
      const nodes = surfaceMessages(fold(surface, HEADER, events))
      expect(latestSystem(events)).toBe(textOf(nodes.findLast((each) => each.role === 'system') ?? { content: [] }))
    }),
    { numRuns: 1000 },
  )
})

test('a long log is answered in time that grows with it: a prompt that changes at every turn costs no copy', () => {
  const entries: Entry[] = [header(1, 1), system(1, 1, 'S')]
  for (let turn = 1; turn <= 20_000; turn++) {
    const at = entries.length
    entries.push(user(turn, 1, `u${turn}`), answer(turn, 1), ['turn/end', { turn, reason: { kind: 'completed' } }])
    const last = turn === 1 ? 1 : at - 1
    entries.push(system(turn, 2, `S${turn}`, { op: 'replace', startSeq: last, endSeq: last }))
  }
  const events = log(...entries)
  const began = performance.now()
  expect(requestsOf(events, HEADER)).toHaveLength(40_000)
  expect(requestView(events, HEADER, 20_000, 2)!.system).toBe('S20000')
  expect(performance.now() - began).toBeLessThan(3000)
})
