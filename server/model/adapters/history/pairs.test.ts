import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, ending, mockRoute, remember, request, toolResult, user, WIRES } from '../../../../e2e/mock-llm/rig.ts'
import type { Reply } from '../../../../e2e/mock-llm/reply.ts'
import { startMock, type Mock } from '../../../../e2e/mock-llm/server.ts'
import { judge } from '../../../../e2e/tapes/judge.ts'
import { pairs } from '../../../../e2e/tapes/pairs.ts'
import type { ImageBlock, Message, WireFamily } from '../../../wire/messages.ts'
import { Assembler } from '../../assembler.ts'
import type { ModelCard, Route } from '../../port.ts'
import { satisfied } from './pairs.fixture.ts'

/**
 * One session over every ordered pair of wires: it begins on A with all that a history can hold, goes on over B and comes
 * back to A. `CORE_WEB_TAPES=write` records the bodies that B gets anew; the diff is then reviewed like code.
 */
const WRITE = process.env.CORE_WEB_TAPES === 'write'
const FILE = join(import.meta.dirname, '../../../../e2e/tapes/pairs.ts')

type Body = { [key: string]: any } // eslint-disable-line typescript/no-explicit-any -- bodies of four vendors, read by path
const PAIRS = WIRES.flatMap((from) => WIRES.map((to) => ({ from, to, pair: `${from}>${to}` as const })))

let mock: Mock
let lanes = 0
const written: { [pair: string]: Body } = {}
beforeAll(async () => {
  mock = await startMock()
})
afterAll(async () => {
  await mock.close()
  if (WRITE) writeFileSync(FILE, satisfied(written))
})

const image = (n: number): ImageBlock => ({
  type: 'image',
  sha256: String(n).padStart(64, '0'),
  mediaType: 'image/png',
  bytes: 3,
})
const card = (patch: Partial<ModelCard> = {}): ModelCard => ({
  id: 'mock-model',
  name: 'Mock',
  inputs: ['text', 'image'],
  reasoning: true,
  efforts: [],
  // The strictest server of the chat family (B19); the other wires do not look at it.
  sendBack: 'reasoning_content',
  ...patch,
})
/** Ids as different vendors make them: a plain one, one with punctuation, one beyond every limit. */
const IDS = ['call_1', 'functions.bash:0', `toolu_${'x'.repeat(80)}`] as const

const seen = (text: string, n: number): Message => ({ ...user(text), content: [...user(text).content, image(n)] })
const failed = (id: string, text: string): Message => {
  const message = toolResult(id, text)
  return { ...message, content: [{ ...message.content[0]!, isError: true } as Message['content'][0]] }
}
const pictured = (id: string, n: number): Message => ({
  ...toolResult(id, ''),
  content: [{ type: 'tool-result', toolCallId: id, content: [{ type: 'text', text: 'a picture' }, image(n)] }],
})

interface Said {
  message: Message
  body: Body
}

async function say(route: Route, messages: Message[], reply: Reply, expected = 'tool-calls'): Promise<Said> {
  const lane = `pair-${lanes++}`
  mock.script(lane, [reply])
  const result = await ask(route, { lane, messages })
  expect(ending(result)).toBe(expected)
  expect(result.warnings).toEqual([])
  return { message: remember(result), body: bodyOf(lane) }
}

/** An answer that a person stops half-way: the reasoning is whole, the text is not. */
async function stopped(route: Route, messages: Message[], reply: Reply): Promise<Message> {
  const lane = `pair-${lanes++}`
  const stop = new AbortController()
  mock.script(lane, [{ ...reply, gates: [lane] }])
  const call = await route.prepare({ provider: route.id, model: 'mock-model' })
  const assembler = new Assembler()
  for await (const event of call.stream(request({ lane, messages, signal: stop.signal }))) {
    const frame = assembler.push(event)
    if (frame?.kind === 'text') stop.abort()
  }
  const result = assembler.result()
  expect(result).toMatchObject({ finish: { kind: 'aborted' }, kind: 'message', interrupted: true })
  return remember(result)
}

const bodyOf = (lane: string): Body => mock.requests.find((item) => item.lane === lane)!.body

/** Reasoning, text and calls, signed in the name of one side. */
const working = (side: 'A' | 'B', ids: readonly string[]): Reply => ({
  blocks: [
    { kind: 'reasoning', text: `Thoughts of ${side}.`, signature: `c2ln${side}x` },
    { kind: 'text', text: `${side} looks.` },
    ...ids.map((id, n) => ({
      kind: 'tool' as const,
      id,
      name: 'bash',
      arguments: `{"command":"${side}${n}"}`,
      ...(n === 0 && { signature: `dG9vbA${side}=` }),
    })),
  ],
})
const half: Reply = {
  blocks: [
    { kind: 'reasoning', text: 'Stopped thoughts.', signature: 'c3RvcA==' },
    { kind: 'text', text: 'This is cut.'.padEnd(400, ' And so on.') },
  ],
}

/** The session up to the point where B takes over. */
async function begun(route: Route): Promise<Message[]> {
  const history = [seen('What is this?', 1)]
  const first = await say(route, history, working('A', IDS))
  history.push(first.message, toolResult(IDS[0], 'fine'), failed(IDS[1], 'exit code 1'), pictured(IDS[2], 2))
  // A failed attempt leaves nothing in the history.
  const lane = `pair-${lanes++}`
  mock.script(lane, [{ behavior: 'partial_eof', text: 'Never kept.' }])
  expect(ending(await ask(route, { lane, messages: history }))).toBe('STREAM_CLOSED')
  history.push(await stopped(route, history, half), user('Go on.'))
  return history
}

/** Whose signatures a body carries, however its wire writes them. */
const signed = (body: Body): string[] => [...new Set(JSON.stringify(body).match(/(c2ln|dG9vbA)[AB]/g))].sort()
const own = (wire: WireFamily, sides: string): string[] => {
  const kinds = { chat: [], responses: ['c2ln'], messages: ['c2ln'], gemini: ['c2ln', 'dG9vbA'] }[wire]
  return kinds.flatMap((kind) => [...sides].map((side) => `${kind}${side}`)).sort()
}

describe.each(PAIRS)('$pair', ({ from, to, pair }) => {
  test('B19 a session with everything in it goes on over another wire and comes back', async () => {
    const routes = { from: mockRoute(mock, from, config()), to: mockRoute(mock, to, config()) }
    const history = await begun(routes.from)

    const second = await say(routes.to, history, working('B', ['call_b1', 'call_b2']))
    expect(judge(to, second.body, { insists: true })).toEqual([])
    expect(signed(second.body)).toEqual(from === to ? own(to, 'A') : [])
    expect(JSON.stringify(second.body)).not.toContain('Never kept')
    written[pair] = second.body
    if (!WRITE) expect(second.body).toEqual(pairs[pair])

    // Back in the middle of a turn: the calls of B have just been answered.
    history.push(second.message, toolResult('call_b1', 'one'), toolResult('call_b2', 'two'))
    const third = await say(routes.from, history, { text: 'Done.' }, 'stop')
    expect(judge(from, third.body, { insists: true })).toEqual([])
    expect(signed(third.body)).toEqual(own(from, from === to ? 'AB' : 'A'))
    for (const text of ['A looks.', 'B looks.', 'This is ', 'exit code 1', 'Go on.'])
      expect(JSON.stringify(third.body)).toContain(text)
  })

  test('B62 a model that reads text only gets placeholders, and one that sees gets the newest within the budget', async () => {
    const history = await begun(mockRoute(mock, from, config()))
    const blind = await say(mockRoute(mock, to, config({ inputs: ['text'] })), history, { text: 'Blind.' }, 'stop')
    expect(judge(to, blind.body, { insists: true })).toEqual([])
    expect(images(blind.body)).toEqual({ sent: 0, unread: 2, old: 0 })
    const tight = mockRoute(mock, to, { config: { models: [card()], imageBudget: { count: 1, bytes: 100 } } })
    const counted = await say(tight, history, { text: 'One.' }, 'stop')
    expect(judge(to, counted.body, { insists: true })).toEqual([])
    expect(images(counted.body)).toEqual({ sent: 1, unread: 0, old: 1 })
    const narrow = mockRoute(mock, to, { config: { models: [card()], imageBudget: { count: 9, bytes: 5 } } })
    const weighed = await say(narrow, history, { text: 'One.' }, 'stop')
    expect(images(weighed.body).sent).toBeLessThan(2)
  })
})

test.each(WIRES)(
  'calls made over %s reach a Gemini that demands signatures with the documented stand-in, once for each group',
  async (from) => {
    const history = await begun(mockRoute(mock, from, config()))
    const calls = async (id: string) => {
      const route = mockRoute(mock, 'gemini', { config: { models: [card({ id })] } })
      const lane = `pair-${lanes++}`
      mock.script(lane, [{}])
      const result = await ask(route, { lane, messages: history }, { model: id })
      expect(result.warnings).toEqual([])
      const parts: Body[] = bodyOf(lane).contents.flatMap((content: Body) => content.parts)
      return parts.filter((part) => part.functionCall).map((part) => part.thoughtSignature as string | undefined)
    }
    const stand = 'skip_thought_signature_validator'
    const signature = from === 'gemini' ? 'dG9vbAA=' : undefined
    for (const id of ['gemini-3.8-flash', 'models/gemini-4-argon'])
      expect(await calls(id)).toEqual([signature ?? stand, undefined, undefined])
    expect(await calls('gemini-2.5-flash')).toEqual([signature, undefined, undefined])
  },
)

const config = (patch: Partial<ModelCard> = {}) => ({ config: { models: [card(patch)] } })
const count = (text: string, part: string) => text.split(part).length - 1
function images(body: Body): { sent: number; unread: number; old: number } {
  const text = JSON.stringify(body)
  return { sent: count(text, 'AQID'), unread: count(text, 'reads text only'), old: count(text, 'left out: older') }
}

test('the judge finds what a vendor refuses', () => {
  const call = {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '' } }],
  }
  const system = { role: 'system', content: 's' }
  expect(judge('chat', { messages: [system, call, { role: 'user', content: 'x' }] })).not.toEqual([])
  expect(judge('chat', { messages: [system, call, { role: 'tool', tool_call_id: 'd', content: '' }] })).not.toEqual([])
  expect(
    judge('chat', { messages: [system, call, { role: 'tool', tool_call_id: 'c', content: '' }] }, { insists: true }),
  ).not.toEqual([])
  const reasoning = { type: 'reasoning', encrypted_content: 'e', summary: [] }
  expect(judge('responses', { store: false, input: [reasoning, { role: 'user', content: 'x' }] })).not.toEqual([])
  expect(
    judge('responses', { store: false, input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '' }] }),
  ).not.toEqual([])
  const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'a:b', name: 'f', input: {} }] }
  const text = { role: 'user', content: [{ type: 'text', text: 'x' }] }
  const result = {
    role: 'user',
    content: [
      { type: 'text', text: 'x' },
      { type: 'tool_result', tool_use_id: 'a:b' },
    ],
  }
  expect(judge('messages', { messages: [text, use, result] })).not.toEqual([])
  expect(judge('messages', { messages: [text, text] })).not.toEqual([])
  const f = { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] }
  const answer = (parts: object[]) => ({
    role: 'user',
    parts: [...parts, { functionResponse: { name: 'f', response: {} } }],
  })
  const said = { role: 'user', parts: [{ text: 'x' }] }
  expect(judge('gemini', { contents: [said, f, said] })).not.toEqual([])
  expect(judge('gemini', { contents: [said, f, answer([{ text: 'x' }])] })).not.toEqual([])
  expect(judge('gemini', { contents: [said, f, answer([])] })).toEqual([])
})
