import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BEHAVIORS, type Behavior, type Reply } from './mock-llm/reply.ts'
import { startMock, type Mock } from './mock-llm/server.ts'

/** The vendors' own libraries read what the mock sends: an independent judge of its dialects. */
let mock: Mock
beforeAll(async () => {
  mock = await startMock()
})
afterAll(() => mock.close())

const REPLY: Reply = {
  reasoning: 'I think so.',
  text: 'Hello — 日本 🙂.',
  toolCalls: [
    { id: 'call_1', name: 'bash', arguments: '{"command":"pwd"}' },
    { id: 'call_2', name: 'bash', arguments: '{"command":"ls"}' },
  ],
  splitBytes: 9,
}
const SUCCESSES: Behavior[] = [
  'success',
  'slow_success',
  'reasoning_success',
  'tool_call_success',
  'parallel_tools',
  'large_tool_args',
  'max_tokens',
]

test('RE-07 the OpenAI library reads the chat dialect', async () => {
  const client = new OpenAI({
    apiKey: 'k',
    baseURL: `${mock.url}/v1`,
    maxRetries: 0,
    defaultHeaders: { 'x-lane': 'oc' },
  })
  mock.script('oc', [REPLY, ...SUCCESSES.map((behavior) => ({ behavior }))])
  const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
  const message = (await stream.finalChatCompletion()).choices[0]!
  expect(message.message.content).toBe(REPLY.text)
  expect(message.message.tool_calls!.map((call) => call.type === 'function' && call.function.arguments)).toEqual([
    '{"command":"pwd"}',
    '{"command":"ls"}',
  ])
  expect(message.finish_reason).toBe('tool_calls')
  for (const behavior of SUCCESSES) {
    const next = await client.chat.completions
      .stream({ model: 'm', messages: [] })
      .finalChatCompletion()
      .catch((error: unknown) => error)
    // Its stream helper makes an error of a cut answer; every other success has to read as one.
    if (behavior !== 'max_tokens') expect({ behavior, next }).toMatchObject({ next: { choices: [{}] } })
  }
})

test('RE-07 the OpenAI library reads the Responses dialect', async () => {
  const client = new OpenAI({
    apiKey: 'k',
    baseURL: `${mock.url}/v1`,
    maxRetries: 0,
    defaultHeaders: { 'x-lane': 'or' },
  })
  mock.script('or', [REPLY, ...SUCCESSES.map((behavior) => ({ behavior }))])
  const response = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
  expect(response.output_text).toBe(REPLY.text)
  expect(response.output.map((item) => item.type)).toEqual(['reasoning', 'message', 'function_call', 'function_call'])
  expect(response.usage!.input_tokens_details.cached_tokens).toBe(5)
  for (const behavior of SUCCESSES) {
    const next = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
    expect(next.status).toBe(behavior === 'max_tokens' ? 'incomplete' : 'completed')
  }
})

test('RE-07 the Anthropic library reads the Messages dialect', async () => {
  const client = new Anthropic({ apiKey: 'k', baseURL: mock.url, maxRetries: 0, defaultHeaders: { 'x-lane': 'an' } })
  mock.script('an', [REPLY, ...SUCCESSES.map((behavior) => ({ behavior })), { behavior: 'overloaded' }])
  const ask = () =>
    client.messages.stream({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }).finalMessage()
  const message = await ask()
  expect(message.content).toMatchObject([
    { type: 'thinking', thinking: 'I think so.', signature: expect.stringMatching(/^sig-/) },
    { type: 'text', text: REPLY.text },
    { type: 'tool_use', input: { command: 'pwd' } },
    { type: 'tool_use', input: { command: 'ls' } },
  ])
  expect(message.stop_reason).toBe('tool_use')
  expect(message.usage).toMatchObject({ input_tokens: 20, cache_read_input_tokens: 5, output_tokens: 9 })
  for (const _behavior of SUCCESSES) expect((await ask()).content.length).toBeGreaterThan(0)
  await expect(ask()).rejects.toMatchObject({ status: 529 })
})

test('RE-07 the Google library reads the Gemini dialect', async () => {
  const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: mock.url, headers: { 'x-lane': 'go' } } })
  mock.script('go', [REPLY, ...SUCCESSES.map((behavior) => ({ behavior }))])
  const read = async () => {
    const parts = []
    for await (const chunk of await client.models.generateContentStream({ model: 'm', contents: 'hi' }))
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []))
    return parts
  }
  const parts = await read()
  const text = parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('')
  expect(text).toBe(REPLY.text)
  expect(parts.flatMap((part) => (part.functionCall ? [part.functionCall.args] : []))).toEqual([
    { command: 'pwd' },
    { command: 'ls' },
  ])
  for (const _behavior of SUCCESSES) expect((await read()).length).toBeGreaterThan(0)
})

test('RE-07 each library sees a refusal as its vendor marks it', async () => {
  mock.script('no', [{ behavior: 'refusal' }])
  const lane = { 'x-lane': 'no' }
  const openai = new OpenAI({ apiKey: 'k', baseURL: `${mock.url}/v1`, maxRetries: 0, defaultHeaders: lane })
  const said = await openai.chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion()
  expect(said.choices[0]!.message.refusal).toBe('I cannot help with that.')
  mock.script('no', [{ behavior: 'refusal' }])
  const response = await openai.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
  expect(response.output).toMatchObject([{ content: [{ type: 'refusal', refusal: 'I cannot help with that.' }] }])
  mock.script('no', [{ behavior: 'refusal' }])
  const anthropic = new Anthropic({ apiKey: 'k', baseURL: mock.url, maxRetries: 0, defaultHeaders: lane })
  const message = await anthropic.messages.stream({ model: 'm', max_tokens: 9, messages: [] }).finalMessage()
  expect(message.stop_reason).toBe('refusal')
  mock.script('no', [{ behavior: 'refusal' }])
  const google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: mock.url, headers: lane } })
  const blocked = []
  for await (const chunk of await google.models.generateContentStream({ model: 'm', contents: 'hi' }))
    blocked.push(chunk.promptFeedback?.blockReason)
  expect(blocked).toEqual(['SAFETY'])
})

test.each<[Behavior, number]>([
  ['auth_error', 401],
  ['forbidden', 403],
  ['unknown_model', 404],
  ['payload_too_large', 413],
  ['rate_limit_bare', 429],
  ['server_error', 500],
  ['bad_gateway', 502],
  ['overloaded', 529],
])('RE-07 the vendors’ libraries see %s as status %i', async (behavior, status) => {
  const lane = { 'x-lane': behavior }
  mock.script(behavior, [{ behavior }, { behavior }, { behavior }, { behavior }])
  const openai = new OpenAI({ apiKey: 'k', baseURL: `${mock.url}/v1`, maxRetries: 0, defaultHeaders: lane })
  const anthropic = new Anthropic({ apiKey: 'k', baseURL: mock.url, maxRetries: 0, defaultHeaders: lane })
  const google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: mock.url, headers: lane } })
  await expect(openai.chat.completions.create({ model: 'm', messages: [], stream: true })).rejects.toMatchObject({
    status,
  })
  await expect(openai.responses.create({ model: 'm', input: '', stream: true })).rejects.toMatchObject({ status })
  await expect(
    anthropic.messages.create({ model: 'm', max_tokens: 9, messages: [], stream: true }),
  ).rejects.toMatchObject({ status })
  await expect(google.models.generateContentStream({ model: 'm', contents: 'hi' })).rejects.toMatchObject({ status })
})

const post = (url: string, lane: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-lane': lane },
    body: JSON.stringify({ model: 'm' }),
  })

test('a lane serves its own script in order, and a used-up script says so', async () => {
  mock.script('a', [{ text: 'a1' }, { text: 'a2' }])
  mock.script('b', [{ text: 'b1' }])
  const texts = []
  for (const lane of ['b', 'a', 'a']) texts.push(await (await post(mock.url, lane)).text())
  expect(texts.map((text) => /"content":"(\w\d)"/.exec(text)?.[1])).toEqual(['b1', 'a1', 'a2'])
  const over = await post(mock.url, 'a')
  expect(over.status).toBe(500)
  expect(await over.json()).toMatchObject({
    error: { type: 'mock_exhausted', message: expect.stringContaining('"a"') },
  })
})

test('a seeded draw repeats', async () => {
  const draw = async () => {
    const random = await startMock({ random: { seed: 7, weights: { success: 2, server_error: 1, rate_limit: 1 } } })
    const statuses = []
    for (let n = 0; n < 12; n++) statuses.push((await post(random.url, 'x')).status)
    await random.close()
    return statuses
  }
  const first = await draw()
  expect(await draw()).toEqual(first)
  expect(new Set(first).size).toBeGreaterThan(1)
})

test('close ends stalled connections', async () => {
  const other = await startMock()
  other.script('*', [{ behavior: 'stall' }])
  const response = await post(other.url, 'x')
  const reading = response.text()
  await other.close()
  await expect(reading).rejects.toThrow()
  expect(BEHAVIORS.length).toBeGreaterThan(30)
})

test('twenty thousand deltas are served at once', async () => {
  mock.script('bench', [{ text: 'word '.repeat(20_000), chunk: 5 }])
  const before = process.cpuUsage()
  const text = await (await post(mock.url, 'bench')).text()
  expect(text.split('\n\n').length).toBeGreaterThan(20_000)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(5000)
})

test('an answer stands at its gates until they are opened, in whatever order test and answer come there', async () => {
  const gated = await startMock()
  gated.script('*', [{ text: 'abcdefghijkl', chunk: 1, gates: ['first', 'second'] }])
  const response = await post(gated.url, 'x')
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (letter: string) => {
    while (!text.includes(`"${letter}"`)) text += (await reader.read()).value
  }
  await gated.held('first')
  // 16 frames: a third of them are the head and four letters.
  await until('d')
  expect(text).not.toContain('"e"')
  gated.release('second')
  gated.release('first')
  await until('l')
  while (!text.includes('[DONE]')) text += (await reader.read()).value
  await gated.close()
})
