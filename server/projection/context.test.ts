import fc from 'fast-check'
import { expect, test } from 'vitest'
import { draft, type Draft, type Header, type LogEvent } from '../wire/events.ts'
import type { Block, Usage } from '../wire/messages.ts'
import { blockTokens, blocksTokens, IMAGE_TOKENS, jsonTokens, textTokens } from '../wire/tokens.ts'
import { contextReading } from './context.ts'
import { fold } from './projection.ts'
import { sessionState } from './session-state.ts'

const HEADER: Header = { type: 'session', version: 1, id: 's', createdAt: 1, isSeeded: false, writer: 'test' }
const at = { turn: 1, step: 1 }
const numbered = (drafts: readonly Draft[]): LogEvent[] => drafts.map((each, seq) => ({ ...each, seq, time: seq }))
const reading = (...drafts: Draft[]) => contextReading(fold(sessionState, HEADER, numbered(drafts)))

const text = (length: number): Block[] => [{ type: 'text', text: 'x'.repeat(length) }]
const user = (length: number, surfaceOp?: { op: 'replace'; startSeq: number; endSeq: number }): Draft =>
  draft(
    'user/message',
    { ...at, message: { id: 'u', role: 'user', content: text(length), source: { kind: 'user' } } },
    surfaceOp ? { surfaceOp } : {},
  )
const system = (length: number, surfaceOp?: { op: 'replace'; startSeq: number; endSeq: number }): Draft =>
  draft(
    'system/message',
    { ...at, message: { id: 's', role: 'system', content: text(length), source: { kind: 'system' } } },
    surfaceOp ? { surfaceOp } : {},
  )
const header = (model = 'm', tools = 0, digest = `${model}${tools}`): Draft =>
  draft('request/header', {
    header: {
      config: { provider: 'p', model },
      ...(tools > 0 && { tools: [{ name: 't', description: 'x'.repeat(tools), parameters: {} }] }),
    },
    compositionDigest: digest,
    reason: 'change',
  })
const window = (contextWindow: number, model = 'm'): Draft =>
  draft('request/context', { provider: 'p', model, contextWindow })
const answer = (
  usage?: Usage,
  content: Block[] = text(40),
  more: { interrupted?: boolean; model?: string } = {},
): Draft =>
  draft('assistant/message', {
    ...at,
    message: {
      id: 'a',
      role: 'assistant',
      content,
      source: { kind: 'model', provider: 'p', model: more.model ?? 'm' },
    },
    stream: [],
    ...(usage && { usage }),
    ...(more.interrupted && { interrupted: true }),
  })

test('nothing is said of a session that sent nothing', () => {
  expect(reading()).toBeUndefined()
  expect(reading(header(), window(1000))).toBeUndefined()
  expect(reading(draft('turn/start', { turn: 1 }))).toBeUndefined()
})

test('before the first answer it is an estimate of prompt, tools and messages', () => {
  const tools = Math.floor(jsonTokens(JSON.stringify([{ name: 't', description: 'x'.repeat(330), parameters: {} }])))
  expect(reading(system(400), user(80), header('m', 330), window(9000))).toMatchObject({
    basis: 'estimate',
    window: 9000,
    parts: { system: 100, tools },
  })
  expect(reading(system(400), user(80))).toEqual({
    tokens: 120,
    basis: 'estimate',
    parts: { system: 100, tools: 0, messages: 20 },
  })
})

test('what the provider counted is the anchor; what came since is added by estimate, and taken off where it shrank', () => {
  const start = [system(400), user(80), header(), window(9000)]
  const counted = answer({
    inputTokens: 500,
    cacheReadTokens: 300,
    cacheWriteTokens: 100,
    outputTokens: 60,
    reasoningTokens: 20,
  })
  expect(reading(...start, counted)).toEqual({
    tokens: 940,
    basis: 'reported',
    window: 9000,
    parts: { system: 100, tools: 0, messages: 840 },
  })
  expect(reading(...start, counted, user(400))).toMatchObject({ tokens: 1040, basis: 'adjusted' })
  expect(reading(...start, counted, user(400), system(80, { op: 'replace', startSeq: 0, endSeq: 0 }))).toMatchObject({
    tokens: 960,
    basis: 'adjusted',
    parts: { system: 20 },
  })
  // A call without counts changes the estimate only.
  expect(reading(...start, counted, answer(undefined, text(400)))).toMatchObject({ tokens: 1040, basis: 'adjusted' })
  expect(reading(...start, counted, answer({ outputTokens: 9 }, text(400)))).toMatchObject({ tokens: 1040 })
})

test('an answer that was cut off, or whose length was not reported, is estimated', () => {
  expect(
    reading(user(4), header(), answer({ inputTokens: 100, outputTokens: 1 }, text(400), { interrupted: true })),
  ).toMatchObject({ tokens: 200 })
  expect(reading(user(4), header(), answer({ inputTokens: 100 }, text(400)))).toMatchObject({
    tokens: 200,
    basis: 'reported',
  })
})

test('another model counts in its own way: its first request is an estimate again, and its window is its own', () => {
  const before = [system(400), user(80), header(), window(9000), answer({ inputTokens: 900, outputTokens: 10 })]
  const picked = reading(...before, draft('model/selection', { provider: 'p', model: 'other' }))
  expect(picked).toEqual({ tokens: 130, basis: 'estimate', parts: { system: 100, tools: 0, messages: 30 } })
  const back = reading(...before, header('other'), window(500, 'other'))
  expect(back).toMatchObject({ tokens: 130, basis: 'estimate', window: 500 })
  expect(reading(...before, header('other'), header('m'))).toMatchObject({ tokens: 910, basis: 'reported' })
})

test('after a range of messages was replaced nothing is known until the provider counts again', () => {
  const before = [system(400), user(8000), header(), answer({ inputTokens: 2100, outputTokens: 10 })]
  const replaced = [...before, user(40, { op: 'replace', startSeq: 1, endSeq: 3 })]
  expect(reading(...replaced)).toBeUndefined()
  expect(reading(...replaced, user(40))).toBeUndefined()
  const again = [...replaced, answer({ inputTokens: 120, outputTokens: 10 })]
  expect(reading(...again)).toMatchObject({ tokens: 130, basis: 'reported' })
  expect(reading(...again, user(40))).toMatchObject({ tokens: 140, basis: 'adjusted' })
  expect(reading(...before, system(40, { op: 'replace', startSeq: 0, endSeq: 1 }))).toBeUndefined()
})

test('parts are whole, never negative, and add up to what is shown', () => {
  const event = fc.oneof(
    fc.nat(5000).map((length) => user(length)),
    fc.nat(5000).map((length) => system(length)),
    fc.nat(3000).map((length) => header('m', length)),
    fc.record({ inputTokens: fc.nat(4000), outputTokens: fc.nat(4000) }).map((usage) => answer(usage)),
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), (drafts) => {
      const shown = reading(...drafts)
      if (!shown) return
      const { system: s, tools, messages } = shown.parts!
      for (const each of [shown.tokens, s, tools, messages]) {
        expect(Number.isInteger(each)).toBe(true)
        expect(each).toBeGreaterThanOrEqual(0)
      }
      expect(s + tools + messages).toBe(shown.tokens)
    }),
  )
})

test('estimates go by the class of script, and a long text costs no more time than a short one', () => {
  expect(textTokens('')).toBe(0)
  expect(textTokens('abcdefgh')).toBe(2)
  expect(textTokens('修复登录页面的问题了呢吗')).toBeCloseTo(12 / 1.3)
  expect(textTokens('Привет')).toBe(3)
  expect(jsonTokens('x'.repeat(33))).toBeCloseTo(10)
  expect(textTokens('修复'.repeat(5000))).toBeCloseTo(10_000 / 1.3)
  expect(textTokens('x'.repeat(40_001))).toBeCloseTo(10_000.25)
  const mixed = '登录 page '.repeat(3000)
  expect(textTokens(mixed)).toBeGreaterThan(textTokens('x'.repeat(mixed.length)))
  expect(textTokens(mixed)).toBeLessThan(textTokens('登'.repeat(mixed.length)))
})

test('blocks: pictures have a fixed estimate, reasoning goes away, results count their content, unknown ones their JSON', () => {
  const image: Block = { type: 'image', sha256: 'a', mediaType: 'image/png', bytes: 9_000_000 }
  expect(blockTokens(image)).toBe(IMAGE_TOKENS)
  expect(blockTokens({ type: 'reasoning', text: 'x'.repeat(4000) })).toBe(0)
  expect(blockTokens({ type: 'tool-call', id: 'c', name: 'bash', arguments: 'x'.repeat(33) })).toBeCloseTo(11)
  const result: Block = {
    type: 'tool-result',
    toolCallId: 'c',
    content: [{ type: 'text', text: 'x'.repeat(400) }, image],
  }
  expect(blocksTokens([result])).toBe(100 + IMAGE_TOKENS)
  const unknown = { type: 'video', seconds: 3 } as unknown as Block
  expect(blockTokens(unknown)).toBe(jsonTokens('{"type":"video","seconds":3}'))
})
