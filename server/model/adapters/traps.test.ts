import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ask,
  assistant,
  BASH,
  ending,
  mockRoute,
  remember,
  request,
  toolResult,
  user,
  WIRES,
  type Ran,
} from '../../../e2e/mock-llm/rig.ts'
import { event, type Reply } from '../../../e2e/mock-llm/reply.ts'
import { startMock, type Mock } from '../../../e2e/mock-llm/server.ts'
import type { JsonObject } from '../../wire/json.ts'
import type { Message, WireFamily } from '../../wire/messages.ts'
import { catalogCards } from '../catalog.ts'
import type { ModelCard } from '../port.ts'
import { bindModel } from './bind.ts'
import type { ProviderConfig } from './config.ts'

let mock: Mock
let lanes = 0
beforeAll(async () => {
  mock = await startMock()
})
afterAll(() => mock.close())

type Body = { [key: string]: any } // eslint-disable-line typescript/no-explicit-any -- bodies of four vendors, read by path

/** One call on one wire: what came back, and the body that went out. */
async function run(
  wire: WireFamily,
  {
    reply = {},
    messages,
    config = {},
    call = {},
  }: {
    reply?: Reply
    messages?: Message[]
    config?: Partial<ProviderConfig>
    call?: { model?: string; reasoningEffort?: string; maxTokens?: number }
  } = {},
): Promise<Ran & { body: Body }> {
  const lane = `trap-${lanes++}`
  mock.script(lane, [reply])
  const result = await ask(mockRoute(mock, wire, { config }), { lane, ...(messages && { messages }) }, call)
  const body = mock.requests.find((seen) => seen.lane === lane)?.body ?? {}
  return { ...result, body }
}

const card = (patch: Partial<ModelCard> = {}): ModelCard => ({
  id: 'mock-model',
  name: 'Mock',
  inputs: ['text', 'image'],
  reasoning: true,
  efforts: [],
  ...patch,
})
const withCall = (raw: string): Message[] => [
  user('go'),
  assistant([{ type: 'tool-call', id: 'call_a', name: 'bash', arguments: raw }]),
  toolResult('call_a', 'ok'),
]

/** The arguments of call_a as each wire carries them: text, or an object. */
function sentArguments(wire: WireFamily, body: Body): unknown {
  switch (wire) {
    case 'chat':
      return body.messages.find((m: Body) => m.role === 'assistant').tool_calls[0].function.arguments
    case 'responses':
      return body.input.find((item: Body) => item.type === 'function_call').arguments
    case 'messages':
      return body.messages.find((m: Body) => m.role === 'assistant').content[0].input
    case 'gemini':
      return body.contents.find((m: Body) => m.role === 'model').parts[0].functionCall.args
  }
}
const carriesText = (wire: WireFamily) => wire === 'chat' || wire === 'responses'

test('LT-01 a turn of tool calls only goes out with empty content, never null', async () => {
  const { body } = await run('chat', { messages: withCall('{}') })
  expect(body.messages.find((m: Body) => m.role === 'assistant').content).toBe('')
})

test('LT-02 the DeepSeek package, which encodes arguments twice, is not installed', () => {
  expect(existsSync(join(import.meta.dirname, '../../../node_modules/@ai-sdk/deepseek'))).toBe(false)
  expect(existsSync(join(import.meta.dirname, '../../../node_modules/ai'))).toBe(false)
})

describe.each(WIRES)('%s', (wire) => {
  test.each(['', '{"a":', 'plain', '"quoted"', '[1,2]', '{"__proto__":{"x":1}}', '{"a":1,}'])(
    'LT-03 malformed arguments %j come back as the model wrote them, or wrapped',
    async (raw) => {
      const { body, finish } = await run(wire, { messages: withCall(raw) })
      expect(finish.kind).toBe('stop')
      const wrapped = raw === '' ? {} : { rawInvalidInput: raw }
      expect(sentArguments(wire, body)).toEqual(carriesText(wire) ? raw : wrapped)
      if (!carriesText(wire) || raw.includes('__proto__')) return
      const asked = await run(wire, { messages: withCall(raw), config: { malformedArguments: 'wrap' } })
      expect(JSON.parse(sentArguments(wire, asked.body) as string)).toEqual(wrapped)
    },
  )

  test.each(['{"n":1.50}', '{"n":1e3}', '{"n":12345678901234567890}', '{"s":"\\u00e9\\/"}', '{ "a" : 1 }'])(
    'LT-04 valid arguments %j keep their bytes on text wires and their value on object wires',
    async (raw) => {
      const { body } = await run(wire, { messages: withCall(raw) })
      expect(sentArguments(wire, body)).toEqual(carriesText(wire) ? raw : JSON.parse(raw))
    },
  )

  test('LT-05 the tools go out as they are', async () => {
    const { body } = await run(wire)
    const tools = body.tools as Body[]
    const shape = { name: BASH.name, description: BASH.description }
    const expected: { [K in WireFamily]: unknown } = {
      chat: [{ type: 'function', function: { ...shape, parameters: BASH.parameters } }],
      // The library's `strict: false` on each tool is the wire's default spelled out.
      responses: [{ type: 'function', ...shape, parameters: BASH.parameters, strict: false }],
      messages: [{ ...shape, input_schema: BASH.parameters, cache_control: { type: 'ephemeral' } }],
      gemini: [{ functionDeclarations: [{ ...shape, parametersJsonSchema: BASH.parameters }] }],
    }
    expect(tools).toEqual(expected[wire])
  })

  test('LT-07 the unified reasoning option of the library is never used', async () => {
    const efforts = [{ id: 'high', default: true }]
    const config: ProviderConfig = {
      id: 'p',
      label: 'P',
      wire,
      baseURL: 'http://mock.invalid/v1',
      models: [card({ efforts })],
    }
    const deps = { credentials: { get: async () => undefined }, loadBlob: async () => undefined }
    const header = { config: { provider: 'p', model: 'mock-model', reasoningEffort: 'high' } }
    const facts = { ...card({ efforts }), listed: true }
    const bound = await bindModel(
      { config, deps, header, facts, effort: efforts[0], apiKey: undefined, refused: new Set() },
      request(),
      () => undefined,
    )
    expect(Object.keys(bound.options)).not.toContain('reasoning')
  })

  test('LT-14 LT-12 a clean end of the stream before the answer is complete is STREAM_CLOSED', async () => {
    expect(ending(await run(wire, { reply: { behavior: 'partial_eof' } }))).toBe('STREAM_CLOSED')
    expect(ending(await run(wire, { reply: { behavior: 'stream_eof' } }))).toBe('STREAM_CLOSED')
    expect(ending(await run(wire, { reply: { behavior: 'empty_body' } }))).toBe('MALFORMED_RESPONSE')
  })

  test('LT-13 a login page with status 200 is named as such', async () => {
    const { finish } = await run(wire, { reply: { behavior: 'html_200' } })
    expect(finish).toMatchObject({
      kind: 'error',
      failure: { code: 'MALFORMED_RESPONSE', message: expect.stringMatching(/text\/html.*Sign in/s) },
    })
  })

  test('LT-15 LT-11 an error event ends the call, as the first event and as a later one', async () => {
    for (const behavior of ['error_first_event', 'error_mid_stream'] as const) {
      const { events, finish } = await run(wire, { reply: { behavior, text: 'one two three four five six' } })
      expect(finish).toMatchObject({
        kind: 'error',
        failure: { code: 'SERVER', message: expect.stringContaining('overloaded') },
      })
      const text = events.map((e) => (e.t === 'delta' ? e.s : '')).join('')
      expect(text.length).toBeLessThan('one two three four five six'.length)
    }
  })

  test('LT-16 an abort is ABORTED before dispatch, before the headers and in the middle', async () => {
    const before = await ask(mockRoute(mock, wire), { lane: 'none', signal: AbortSignal.abort('user') })
    expect(ending(before)).toBe('ABORTED')
    for (const reply of [{ firstDelayMs: 5000 }, { behavior: 'partial_stall' as const, text: 'a long answer here' }]) {
      const lane = `abort-${lanes++}`
      mock.script(lane, [reply])
      const controller = new AbortController()
      const call = await mockRoute(mock, wire).prepare({ provider: 'p', model: 'mock-model' })
      const endings = []
      if ('firstDelayMs' in reply) setTimeout(() => controller.abort({ kind: 'user' }), 50)
      for await (const item of call.stream(request({ lane, signal: controller.signal }))) {
        if (item.t === 'delta') controller.abort({ kind: 'user' })
        if (item.t === 'end') endings.push(item.finish)
      }
      expect(endings).toMatchObject([{ kind: 'aborted', failure: { code: 'ABORTED' } }])
    }
  })

  test('LT-19 LT-25 usage arrives with the vendor fields it came with', async () => {
    const { usage } = await run(wire)
    expect(usage).toMatchObject({ inputTokens: 20, cacheReadTokens: 5, outputTokens: 9 })
    expect(JSON.stringify(usage!.raw)).toMatch(/vendor_?extra/i)
  })

  test('LT-20 an image in a tool result goes out as an image, with its bytes', async () => {
    const image = { type: 'image' as const, sha256: 'ab'.repeat(32), mediaType: 'image/png', bytes: 3 }
    const messages: Message[] = [
      ...withCall('{}').slice(0, 2),
      {
        id: 'r',
        role: 'user',
        content: [{ type: 'tool-result', toolCallId: 'call_a', content: [{ type: 'text', text: 'shot' }, image] }],
        source: { kind: 'tool', callId: 'call_a' },
      },
    ]
    const seen = await run(wire, { messages, config: { models: [card()] } })
    const text = JSON.stringify(seen.body)
    expect(text).toContain('AQID')
    expect(text).not.toContain('"0":1')
    const blind = await run(wire, { messages, config: { models: [card({ inputs: ['text'] })] } })
    expect(JSON.stringify(blind.body)).toContain('this model reads text only')
    expect(JSON.stringify(blind.body)).not.toContain('AQID')
  })
})

test('LT-05 a thinking budget does not move the output limit that was asked for', async () => {
  const efforts = [{ id: 'some', options: { thinking: { type: 'enabled', budgetTokens: 1024 } } }]
  const { body, warnings } = await run('messages', {
    config: { models: [card({ efforts })] },
    call: { reasoningEffort: 'some', maxTokens: 3000 },
  })
  expect(body.max_tokens).toBe(3000)
  expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 1024 })
  expect(warnings).toEqual([])
})

const PROVIDER_WIRES: [string, WireFamily][] = [
  ['deepseek', 'chat'],
  ['openrouter', 'chat'],
  ['openai', 'responses'],
  ['anthropic', 'messages'],
  ['google', 'gemini'],
]
/** Where each wire carries the effort. */
const effortField = (body: Body): unknown =>
  [
    body.thinking,
    body.output_config,
    body.reasoning_effort,
    body.reasoning,
    body.generationConfig?.thinkingConfig,
  ].filter((value) => value !== undefined)

describe.each(PROVIDER_WIRES)('cards of %s', (provider, wire) => {
  test('LT-06 every effort reaches the body without a warning, under the listed id and under a private alias', async () => {
    for (const listed of catalogCards(provider)) {
      for (const effort of listed.efforts) {
        const aliases = [listed.id, 'private-alias']
        const bodies = []
        for (const model of aliases) {
          const config = { models: [{ ...listed, id: model }] }
          const { body, warnings, finish } = await run(wire, { config, call: { model, reasoningEffort: effort.id } })
          expect({ model, effort: effort.id, warnings, finish }).toMatchObject({
            warnings: [],
            finish: { kind: 'stop' },
          })
          bodies.push(body)
        }
        expect(effortField(bodies[0]!)).not.toEqual([])
        expect(effortField(bodies[1]!)).toEqual(effortField(bodies[0]!))
        for (const [key, value] of Object.entries((effort.body ?? {}) as JsonObject))
          expect(bodies[0]![key]).toEqual(value)
        if (wire === 'messages') for (const body of bodies) expect(body.max_tokens).toBe(listed.maxOutput)
      }
    }
  })
})

test('LT-08 reopened block ids, interleaved calls and text after tools stay apart and in order', async () => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event({
      id: 'x',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason }],
    })
  const call = (index: number, args: string, id?: string) =>
    chunk({
      tool_calls: [
        { index, ...(id && { id, type: 'function' }), function: { ...(id && { name: `f${index}` }), arguments: args } },
      ],
    })
  const frames = [
    chunk({ reasoning_content: 'r1' }),
    chunk({ content: 't1' }),
    chunk({ reasoning_content: 'r2' }),
    chunk({ content: 't2' }),
    call(0, '{"a":', 'c0'),
    call(1, '{"b":', 'c1'),
    call(0, '1}'),
    call(1, '2}'),
    chunk({ content: 't3' }),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ]
  const { blocks } = await run('chat', { reply: { frames } })
  const summary = blocks.map((block) =>
    block.type === 'tool-call' ? `${block.name} ${block.arguments}` : 'text' in block && block.text,
  )
  // The library leaves a text block open across calls, so the later text joins it.
  expect(summary).toEqual(['r1', 't1', 'r2', 't2t3', 'f0 {"a":1}', 'f1 {"b":2}'])
})

test('LT-09 the signature on an empty delta and the last encrypted content survive', async () => {
  const anthropic = await run('messages', { reply: { reasoning: 'think', text: 'x' } })
  expect(anthropic.replayState!.blocks[0]).toEqual({ anthropic: { signature: expect.stringMatching(/^sig-/) } })
  const openai = await run('responses', { reply: { reasoning: 'think', text: 'x' } })
  expect(openai.replayState!.blocks[0]).toMatchObject({
    openai: { reasoningEncryptedContent: expect.stringMatching(/^enc-mock/) },
  })
})

test('LT-10 an aborted Anthropic call still knows its input tokens', async () => {
  mock.script('early', [{ behavior: 'partial_stall', text: 'some longer text' }])
  const controller = new AbortController()
  const call = await mockRoute(mock, 'messages').prepare({ provider: 'p', model: 'mock-model' })
  const usages = []
  for await (const item of call.stream(request({ lane: 'early', signal: controller.signal }))) {
    if (item.t === 'usage') usages.push(item)
    if (item.t === 'delta') controller.abort()
  }
  expect(usages).toMatchObject([{ early: true, usage: { inputTokens: 20, cacheReadTokens: 5 } }])
})

describe('LT-17 chunks of foreign shape', () => {
  test('a logprobs chunk of vLLM is no error on chat', async () => {
    const frames = [
      event({
        id: 'x',
        choices: [{ index: 0, delta: { content: 'hi' }, logprobs: { content: [{ token: 'hi', logprob: -0.5 }] } }],
      }),
      event({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      'data: [DONE]\n\n',
    ]
    expect(ending(await run('chat', { reply: { frames } }))).toBe('stop')
  })
  test('a usage-only chunk and an unknown event fail the answer unless the route drops them', async () => {
    for (const [wire, behavior] of [
      ['chat', 'usage_without_choices'],
      ['chat', 'unknown_event'],
      ['messages', 'unknown_event'],
    ] as const) {
      expect(ending(await run(wire, { reply: { behavior } }))).toBe('MALFORMED_RESPONSE')
      const kept = await run(wire, { reply: { behavior, splitBytes: 11 }, config: { dropForeignChunks: true } })
      expect(kept.finish).toEqual({ kind: 'stop' })
      expect(kept.blocks).toEqual([{ type: 'text', text: 'Hello from the mock.' }])
    }
  })
  test('Responses and Gemini pass unknown events over', async () => {
    for (const wire of ['responses', 'gemini'] as const)
      expect(ending(await run(wire, { reply: { behavior: 'unknown_event' } }))).toBe('stop')
  })
})

test('LT-18 token ids and logprobs of raw chunks become token events', async () => {
  const chunk = (content: string, ids: number[], lp: number) =>
    event({
      id: 'x',
      choices: [
        { index: 0, delta: { content }, token_ids: ids, logprobs: { content: [{ token: content, logprob: lp }] } },
      ],
    })
  const frames = [
    chunk('he', [7, 8], -0.25),
    chunk('llo', [9], -1),
    event({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    'data: [DONE]\n\n',
  ]
  const { tokens, body } = await run('chat', { reply: { frames }, config: { extraBody: { return_token_ids: true } } })
  expect(body.return_token_ids).toBe(true)
  expect(tokens.flatMap(({ ids }) => ids)).toEqual([7, 8, 9])
  expect(tokens.flatMap(({ logprobs }) => logprobs ?? [])).toEqual([-0.25, -1])
})

test('LT-18 OpenRouter reasoning details are joined and go back on the message', async () => {
  const detail = (text: string, signature: string | null) =>
    event({
      id: 'x',
      choices: [
        {
          index: 0,
          delta: { reasoning: text, reasoning_details: [{ type: 'reasoning.text', index: 0, text, signature }] },
        },
      ],
    })
  const frames = [
    detail('I ', null),
    detail('think', 's1'),
    event({ id: 'x', choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }] }),
    'data: [DONE]\n\n',
  ]
  const config = { models: [card({ sendBack: 'reasoning_details' as const })] }
  const first = await run('chat', { reply: { frames }, config })
  const { body } = await run('chat', { messages: [user('q'), remember(first), user('next')], config })
  const sent = body.messages.find((m: Body) => m.role === 'assistant')
  expect(sent.reasoning_details).toEqual([{ type: 'reasoning.text', index: 0, text: 'I think', signature: 's1' }])
  expect(sent.reasoning_content).toBeUndefined()
})

test('LT-21 ids minted for calls without one are seeded, so a run repeats', async () => {
  const blocks: Reply['blocks'] = [{ kind: 'tool', id: '', name: 'bash', arguments: '{"command":"pwd"}' }]
  const once = async () => {
    let n = 0
    const lane = `seed-${lanes++}`
    mock.script(lane, [{ blocks }])
    return ask(mockRoute(mock, 'gemini', { deps: { generateId: () => `seed-${n++}` } }), { lane })
  }
  const [first, second] = [await once(), await once()]
  expect(first.blocks).toEqual(second.blocks)
  expect(first.blocks).toMatchObject([{ type: 'tool-call', id: 'seed-0' }])
})

test('LT-22 Responses keeps no state on their side and returns encrypted reasoning', async () => {
  const first = await run('responses', {
    reply: { reasoning: 'think', text: 'said', toolCalls: [{ id: 'c1', name: 'bash', arguments: '{}' }] },
  })
  const { body } = await run('responses', { messages: [user('q'), remember(first), toolResult('c1', 'done')] })
  expect(body.store).toBe(false)
  expect(body.prompt_cache_key).toBe('session-1')
  expect(JSON.stringify(body)).not.toContain('item_reference')
  expect(body.input.map((item: Body) => item.type ?? item.role)).toEqual([
    expect.stringMatching(/system|developer/),
    'user',
    'reasoning',
    'assistant',
    'function_call',
    'function_call_output',
  ])
})

test('LT-23 inline thinking becomes a reasoning block wherever the chunks cut the tags', async () => {
  for (const chunk of [1, 3, 5, 100]) {
    const config = { models: [card({ inlineThink: true })] }
    const { blocks } = await run('chat', { reply: { text: '<think>why</think>\n\nThe answer.', chunk }, config })
    expect(blocks).toEqual([
      { type: 'reasoning', text: 'why' },
      { type: 'text', text: 'The answer.' },
    ])
  }
  const { blocks } = await run('chat', { reply: { text: '<think>why</think>x' } })
  expect(blocks).toEqual([{ type: 'text', text: '<think>why</think>x' }])
})

test('LT-24 a developer message is a system message only where the card says so', async () => {
  const notice: Message = {
    id: 'd',
    role: 'system',
    content: [{ type: 'text', text: 'Be brief.' }],
    source: { kind: 'system' },
  }
  const messages = [
    user('q'),
    assistant([
      { type: 'reasoning', text: 'unsigned' },
      { type: 'text', text: 'a' },
    ]),
    notice,
    user('go'),
  ]
  const roleOf = async (midSystem: boolean) => {
    const { body } = await run('chat', { messages, config: { models: [card({ midSystem })] } })
    return body.messages.find((m: Body) => m.content === 'Be brief.').role
  }
  expect(await roleOf(true)).toBe('system')
  expect(await roleOf(false)).toBe('user')
  const { body } = await run('messages', { messages })
  expect(body.messages.map((m: Body) => m.role)).toEqual(['user', 'assistant', 'user'])
  expect(JSON.stringify(body)).not.toContain('unsigned')
  expect(body.messages[2].content.map((part: Body) => part.text)).toEqual(['Be brief.', 'go'])
})

test('LT-25 usage is asked for on chat wires, and the switch turns that off', async () => {
  expect((await run('chat')).body.stream_options).toEqual({ include_usage: true })
  expect((await run('chat', { config: { includeUsage: false } })).body.stream_options).toBeUndefined()
})

test('LT-07 LT-02 no adapter names the forbidden options and packages', () => {
  const sources = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
  expect(sources.length).toBeGreaterThan(8)
  for (const source of sources) expect(source).not.toMatch(/@ai-sdk\/deepseek|from 'ai'|\.chat\(modelId\)/)
})
