import fc from 'fast-check'
import { expect, test } from 'vitest'
import { draft, type Draft } from '../wire/events.ts'
import type { Block, Message } from '../wire/messages.ts'
import { modelHistory, surface } from '../projection/surface.ts'
import { History } from './history.ts'
import { memoryLog } from './turn.fixture.ts'

type Move =
  | { kind: 'user' | 'system' | 'context' | 'read' }
  | { kind: 'assistant'; calls: string[] }
  | { kind: 'result'; call: string }
  | { kind: 'replace'; from: number; to: number }

const call = fc.constantFrom('a', 'b', 'c', 'd')
const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom('user' as const, 'system' as const, 'context' as const, 'read' as const) }),
    fc.record({ kind: fc.constant('assistant' as const), calls: fc.array(call, { maxLength: 2 }) }),
    fc.record({ kind: fc.constant('result' as const), call }),
    fc.record({ kind: fc.constant('replace' as const), from: fc.nat(9), to: fc.nat(9) }),
  ),
  { maxLength: 25 },
)

function draftFor(move: Exclude<Move, { kind: 'read' }>, id: string, seqs: readonly number[]): Draft | undefined {
  const at = { turn: 1, step: 1 }
  const message = (role: Message['role'], content: Block[], source: Message['source']): Message => ({
    id,
    role,
    content,
    source,
  })
  const said: Block[] = [{ type: 'text', text: id }]
  switch (move.kind) {
    case 'user':
      return draft('user/message', { message: message('user', said, { kind: 'user' }) })
    case 'context':
      return draft('user/message', { message: message('user', said, { kind: 'runtime-context' }) })
    case 'system':
      return draft('system/message', { ...at, message: message('system', said, { kind: 'system' }) })
    case 'assistant': {
      const calls = move.calls.map((callId): Block => ({ type: 'tool-call', id: callId, name: 't', arguments: '' }))
      const source = { kind: 'model' as const, provider: 'p', model: 'm' }
      return draft('assistant/message', {
        ...at,
        message: message('assistant', [...said, ...calls], source),
        stream: [],
      })
    }
    case 'result': {
      const result: Block = { type: 'tool-result', toolCallId: move.call, content: [{ type: 'text', text: id }] }
      return draft('tool/result', { ...at, message: message('user', [result], { kind: 'tool', callId: move.call }) })
    }
    case 'replace': {
      const [first, last] = [seqs[Math.min(move.from, move.to)], seqs[Math.max(move.from, move.to)]]
      if (first === undefined || last === undefined) return undefined
      const surfaceOp = { op: 'replace' as const, startSeq: first, endSeq: last }
      return draft('user/message', { message: message('user', said, { kind: 'user' }) }, { surfaceOp })
    }
  }
}

test('property: read at any moments, the kept history equals one made from the whole surface', () => {
  fc.assert(
    fc.property(moves, (list) => {
      const log = memoryLog()
      const history = new History()
      list.forEach((move, index) => {
        if (move.kind === 'read') return void history.of(log.state(surface))
        const seqs = log.events.map((event) => event.seq)
        const made = draftFor(move, `m${index}`, seqs)
        if (made) log.append(made)
      })
      const state = log.state(surface)
      const fresh = new History().of(state)
      expect(history.of(state)).toEqual(fresh)
      expect(fresh.messages).toEqual(modelHistory(state).filter((message) => message.role !== 'system'))
    }),
    { numRuns: 500 },
  )
})
