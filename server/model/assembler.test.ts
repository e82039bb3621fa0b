import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../wire/json.ts'
import { Assembler, parseArguments, type Assembled } from './assembler.ts'
import type { Finish, StreamEvent } from './port.ts'
import { unpackRows } from './stream-rows.ts'

const ENVELOPE: Json = { adapter: 'aisdk', v: 4, wire: 'messages' }
const ABORTED: Finish = { kind: 'aborted', failure: { code: 'ABORTED', message: 'stopped' } }

function run(events: readonly StreamEvent[], usedCallIds: ReadonlySet<string> = new Set()): Assembled {
  let clock = 0
  const assembler = new Assembler({ now: () => (clock += 3), usedCallIds })
  for (const event of events) assembler.push(event)
  return assembler.result()
}
const end = (finish: Finish = { kind: 'stop' }): StreamEvent => ({ t: 'end', finish, meta: ENVELOPE })
const text = (i: number, s: string): StreamEvent[] => [
  { t: 'open', i, kind: 'text' },
  { t: 'delta', i, s },
  { t: 'close', i },
]
const tool = (i: number, callId: string, args: string): StreamEvent[] => [
  { t: 'open', i, kind: 'tool', callId, name: 'bash' },
  { t: 'delta', i, s: args },
  { t: 'close', i, arguments: args },
]

describe('one message from any chunking', () => {
  const block = fc.record({
    kind: fc.constantFrom('text' as const, 'reasoning' as const, 'tool' as const),
    text: fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
  })
  const answer = fc.array(block, { minLength: 1, maxLength: 5 })
  const cut = (s: string, sizes: readonly number[]): string[] => {
    const pieces: string[] = []
    for (let from = 0, n = 0; from < s.length; n++) {
      const size = sizes[n % sizes.length]!
      pieces.push(s.slice(from, from + size))
      from += size
    }
    return pieces
  }
  const stream = (blocks: readonly { kind: 'text' | 'reasoning' | 'tool'; text: string }[], sizes: readonly number[]) =>
    blocks.flatMap((block, i): StreamEvent[] => [
      { t: 'open', i, kind: block.kind, ...(block.kind === 'tool' && { callId: `c${i}`, name: 'bash' }) },
      ...cut(block.text, sizes).map((s): StreamEvent => ({ t: 'delta', i, s })),
      { t: 'close', i },
    ])
  const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 })

  test('SL-02 the chunking changes neither the message nor what the rows unpack to', () => {
    fc.assert(
      fc.property(answer, sizes, (blocks, cuts) => {
        const whole = run([...stream(blocks, [1000]), end()])
        const chunked = run([...stream(blocks, cuts), end()])
        expect(chunked.blocks).toEqual(whole.blocks)
        expect(chunked.finish).toEqual(whole.finish)
        const joined = unpackRows(chunked.stream, chunked.blocks).map((delta) => delta.s)
        expect(joined.join('')).toBe(blocks.map((block) => block.text).join(''))
      }),
      { numRuns: 200 },
    )
  })

  test('LP-04 an abort at every index keeps a prefix of the text, never a tool call', () => {
    fc.assert(
      fc.property(answer, sizes, (blocks, cuts) => {
        const events = stream(blocks, cuts)
        for (let stop = 0; stop <= events.length; stop++) {
          const result = run([...events.slice(0, stop), end(ABORTED)])
          expect(result.blocks.some((block) => block.type === 'tool-call') && result.kind === 'message').toBe(false)
          if (result.kind === 'message') expect(result.interrupted).toBe(true)
          const whole = blocks.filter((block) => block.kind !== 'tool').map((block) => block.text)
          const kept = result.kind === 'message' ? result.blocks : []
          for (const block of kept) expect(whole.some((s) => 'text' in block && s.startsWith(block.text))).toBe(true)
        }
      }),
      { numRuns: 60 },
    )
  })
})

test('LP-04 nothing may follow the end', () => {
  const assembler = new Assembler()
  assembler.push(end())
  expect(() => assembler.push(end())).toThrow(/after the end/)
  expect(() => new Assembler().push({ t: 'delta', i: 3, s: 'x' })).toThrow(/never opened/)
})

test('LT-08 blocks are ordered by first open, also when calls interleave', () => {
  const result = run([
    { t: 'open', i: 4, kind: 'tool', callId: 'a', name: 'one' },
    { t: 'open', i: 2, kind: 'tool', callId: 'b', name: 'two' },
    { t: 'delta', i: 2, s: '{"b":' },
    { t: 'delta', i: 4, s: '{"a":1}' },
    { t: 'delta', i: 2, s: '2}' },
    { t: 'close', i: 2 },
    { t: 'close', i: 4 },
    end(),
  ])
  expect(result.blocks).toEqual([
    { type: 'tool-call', id: 'a', name: 'one', arguments: '{"a":1}' },
    { type: 'tool-call', id: 'b', name: 'two', arguments: '{"b":2}' },
  ])
  expect(result.finish).toEqual({ kind: 'tool-calls' })
})

test('LT-09 an empty reasoning block stays when it carries replay metadata, else it goes', () => {
  const empty = (i: number, meta?: Json): StreamEvent[] => [
    { t: 'open', i, kind: 'reasoning' },
    { t: 'close', i, ...(meta && { meta }) },
  ]
  const result = run([...empty(0, { anthropic: { redactedData: 'abc' } }), ...empty(1), ...text(2, 'hi'), end()])
  expect(result.blocks).toEqual([
    { type: 'reasoning', text: '' },
    { type: 'text', text: 'hi' },
  ])
  expect(result.replayState).toEqual({
    adapter: 'aisdk',
    v: 4,
    wire: 'messages',
    blocks: [{ anthropic: { redactedData: 'abc' } }, null],
  })
})

test('LT-03 final arguments win over streamed ones, with a warning; empty arguments stay empty', () => {
  const result = run([
    { t: 'open', i: 0, kind: 'tool', callId: 'a', name: 'bash' },
    { t: 'delta', i: 0, s: '{"a": 1' },
    { t: 'close', i: 0, arguments: '{"a": 1}' },
    { t: 'open', i: 1, kind: 'tool', callId: 'b', name: 'bash' },
    { t: 'close', i: 1, arguments: '' },
    end({ kind: 'tool-calls' }),
  ])
  expect(result.blocks.map((block) => block.type === 'tool-call' && block.arguments)).toEqual(['{"a": 1}', ''])
  expect(result.warnings.map((warning) => warning.feature)).toEqual(['tool-arguments'])
  expect(unpackRows(result.stream, result.blocks)[0]!.s).toBe('{"a": 1')
  expect(parseArguments('')).toEqual({})
  expect(parseArguments('{"a"')).toBeUndefined()
})

describe('endings', () => {
  test('stop and tool-calls follow the content; nothing at all is EMPTY_RESPONSE', () => {
    expect(run([...tool(0, 'a', '{}'), end({ kind: 'stop' })]).finish.kind).toBe('tool-calls')
    expect(run([...text(0, 'hi'), end({ kind: 'tool-calls' })]).finish.kind).toBe('stop')
    const empty = run([{ t: 'open', i: 0, kind: 'text' }, { t: 'close', i: 0 }, end()])
    expect(empty.kind).toBe('attempt')
    expect(empty.finish).toMatchObject({ kind: 'error', failure: { code: 'EMPTY_RESPONSE' } })
  })

  test('max-tokens drops every tool call and its replay entry, and keeps the text', () => {
    const result = run([...text(0, 'hi'), ...tool(1, 'a', '{"cut'), end({ kind: 'max-tokens' })])
    expect(result.blocks).toEqual([{ type: 'text', text: 'hi' }])
    expect(result.replayState!.blocks).toEqual([null])
    const dropped = result.stream.filter((row) => row.k === 'tool')
    expect(dropped).toMatchObject([{ i: 1, s: '{"cut' }])
  })

  test('aborted keeps non-blank text and no metadata of a block that did not close', () => {
    const result = run([
      { t: 'open', i: 0, kind: 'reasoning' },
      { t: 'delta', i: 0, s: 'thought' },
      { t: 'close', i: 0, meta: { anthropic: { signature: 's' } } },
      { t: 'open', i: 1, kind: 'text' },
      { t: 'delta', i: 1, s: 'half' },
      { t: 'open', i: 2, kind: 'text' },
      { t: 'delta', i: 2, s: ' \n' },
      ...tool(3, 'a', '{}'),
      end(ABORTED),
    ])
    expect(result.interrupted).toBe(true)
    expect(result.blocks.map((block) => block.type)).toEqual(['reasoning', 'text'])
    expect(result.replayState!.blocks).toEqual([{ anthropic: { signature: 's' } }, null])
    expect(run([...tool(0, 'a', '{}'), end(ABORTED)]).kind).toBe('attempt')
  })

  test('errors and refusals are attempts that keep their text in the rows', () => {
    const failure = { code: 'SERVER', message: 'x' } as const
    const failed = run([...text(0, 'half'), end({ kind: 'error', failure })])
    expect(failed.kind).toBe('attempt')
    expect(failed.stream).toMatchObject([{ i: 0, k: 'text', s: 'half' }])
    expect(run([...text(0, 'I cannot'), end({ kind: 'content-filter' })]).kind).toBe('attempt')
    expect(run(text(0, 'no end')).finish).toMatchObject({ failure: { code: 'STREAM_CLOSED' } })
  })
})

test('call ids are unique in a session; the wire id stays in the metadata', () => {
  const result = run([...tool(0, 'call_0', '{}'), ...tool(1, 'call_0', '{}'), end()], new Set(['call_0']))
  expect(result.blocks.map((block) => block.type === 'tool-call' && block.id)).toEqual(['call_0~2', 'call_0~3'])
  expect(result.replayState!.blocks).toEqual([{ wireId: 'call_0' }, { wireId: 'call_0' }])
})

test('LT-10 early usage survives an abort and is refined by the final one', () => {
  const early: StreamEvent = { t: 'usage', usage: { inputTokens: 10, cacheReadTokens: 5 }, early: true }
  expect(run([early, ...text(0, 'x'), end(ABORTED)]).usage).toEqual({ inputTokens: 10, cacheReadTokens: 5 })
  const final: StreamEvent = { t: 'usage', usage: { inputTokens: 11, outputTokens: 2 }, raw: { in: 11 } }
  expect(run([early, ...text(0, 'x'), final, end()]).usage).toEqual({
    inputTokens: 11,
    cacheReadTokens: 5,
    outputTokens: 2,
    raw: { in: 11 },
  })
})

test('a delta comes back as the frame to show', () => {
  const assembler = new Assembler()
  assembler.push({ t: 'open', i: 7, kind: 'text' })
  expect(assembler.push({ t: 'delta', i: 7, s: 'ab' })).toEqual({ block: 0, kind: 'text', offset: 0, text: 'ab' })
  expect(assembler.push({ t: 'delta', i: 7, s: 'c' })).toEqual({ block: 0, kind: 'text', offset: 2, text: 'c' })
  expect(assembler.push({ t: 'delta', i: 7, s: '' })).toBeUndefined()
})
