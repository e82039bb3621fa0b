import fc from 'fast-check'
import { expect, test } from 'vitest'
import { draft, type Draft } from '../wire/events.ts'
import type { Block, Message } from '../wire/messages.ts'
import { carryAsText } from '../projection/carried.ts'
import { inherited } from '../projection/inherited.ts'
import { modelHistory, placedHistory, surface } from '../projection/surface.ts'
import { History } from './history.ts'
import { memoryLog } from './turn.fixture.ts'

type Move =
  | { kind: 'user' | 'system' | 'context' | 'read' | 'seed' }
  | { kind: 'assistant'; calls: string[] }
  | { kind: 'result'; call: string }
  | { kind: 'replace'; from: number; to: number }

const call = fc.constantFrom('a', 'b', 'c', 'd')
const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom(...(['user', 'system', 'context', 'read', 'seed'] as const)) }),
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
    case 'seed':
      return draft('session/end-seed', { inherited: true })
    case 'user':
      return draft('user/message', { message: message('user', said, { kind: 'user' }) })
    case 'context':
      return draft('user/message', { message: message('user', said, { kind: 'runtime-context' }) })
    case 'system':
      return draft('system/message', { ...at, message: message('system', said, { kind: 'system' }) })
    case 'assistant': {
      const calls = move.calls.map((callId): Block => ({
        type: 'tool-call',
        id: callId,
        name: `t${callId}`,
        arguments: '',
      }))
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

const CATALOGS = [['ta'], ['ta', 'tb'], ['ta', 'tb', 'tc', 'td'], []].map((names) => names.map((name) => ({ name })))

test('property: calls that a fork cannot make are retold, whenever it was read before; all pairs stay whole', () => {
  fc.assert(
    fc.property(moves, moves, fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }), (before, after, picks) => {
      const log = memoryLog()
      const history = new History()
      let reads = 0
      const tools = () => CATALOGS[picks[reads++ % picks.length]!]!
      const sent = (kept: History, catalog: readonly { name: string }[]) =>
        kept.sent(log.state(surface), log.state(inherited), catalog)
      const play = (list: readonly Move[], prefix: string) =>
        list.forEach((move, index) => {
          if (move.kind === 'seed') return
          if (move.kind === 'read') return void (log.state(inherited) !== null && sent(history, tools()))
          const seqs = log.events.map((event) => event.seq)
          const made = draftFor(move, `${prefix}${index}`, seqs)
          if (made) log.append(made)
        })
      play(before, 'b')
      const plain = new History().sent(log.state(surface), null, [])
      expect(plain).toEqual(modelHistory(log.state(surface)).filter((message) => message.role !== 'system'))
      const end = log.append(draft('session/end-seed', { inherited: true }))
      expect(end).toBeDefined()
      play(after, 'a')
      const until = log.state(inherited)!
      const catalog = tools()
      const messages = sent(history, catalog)
      expect(messages).toEqual(sent(new History(), catalog))
      const known = new Set(catalog.map(({ name }) => name))
      const whole = placedHistory(log.state(surface)).filter(({ message }) => message.role !== 'system')
      expect(messages).toEqual(carryAsText(whole, (name, seq) => seq < until && !known.has(name)))
      paired(messages)
      const seqOf = new Map<string, number>()
      for (const event of log.events)
        if (event.type === 'assistant/message') seqOf.set(event.data.message.id, event.seq)
      for (const message of messages)
        for (const block of message.content)
          if (block.type === 'tool-call' && !known.has(block.name)) expect(seqOf.get(message.id)).toBeGreaterThan(until)
    }),
    { numRuns: 500 },
  )
})

/** Every call is answered right after its message, in order, and nothing is answered that was not called. */
function paired(messages: readonly Message[]): void {
  const due: string[] = []
  for (const { content } of messages) {
    const answers = content.flatMap((block) => (block.type === 'tool-result' ? [block.toolCallId] : []))
    expect(answers).toEqual(answers.length > 0 ? [due.shift()] : [])
    if (answers.length === 0) expect(due).toEqual([])
    for (const block of content) if (block.type === 'tool-call') due.push(block.id)
  }
  expect(due).toEqual([])
}
