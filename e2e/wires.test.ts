import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WireFamily } from '../server/wire/messages.ts'
import type { Client } from './client.ts'
import { startHost, type TestHost } from './host.ts'
import { ARGUMENTS, PROMPT, RESULTS, SYSTEM, TOOLS } from './minimal.literals.ts'
import { startMock, type Mock, type MockRequest } from './mock-llm/server.ts'

let mock: Mock
let host: TestHost
let client: Client
let workspace: string
beforeAll(async () => {
  mock = await startMock()
  host = await startHost()
  client = await host.connect()
  workspace = await host.workspace(client)
}, 60_000)
afterAll(async () => {
  await host?.remove()
  await mock?.close()
})

const IDS = ['call_one', 'call_two', 'call_three'] as const
const NAMES = ['bash', 'bash', 'str_replace_editor'] as const
const FIRST_TEXT = 'I set up the shell first.'

interface Scene {
  session: string
  args: string[]
  results: string[]
}

const ephemeral = { cache_control: { type: 'ephemeral' } }

/**
 * The whole body of the last request, per wire. What is ours (system text, tools, history) stands in the wire's own form;
 * every other key is what an adapter adds, and this is the one table of them.
 */
const BODIES: { [W in WireFamily]: (scene: Scene) => object } = {
  chat: ({ args, results }) => ({
    model: 'mock-model',
    messages: [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: PROMPT },
      ...IDS.flatMap((id, n) => [
        {
          role: 'assistant',
          content: n === 0 ? FIRST_TEXT : '',
          tool_calls: [{ id, type: 'function', function: { name: NAMES[n], arguments: args[n] } }],
        },
        { role: 'tool', tool_call_id: id, content: results[n] },
      ]),
    ],
    tools: TOOLS.map((tool) => ({ type: 'function', function: tool })),
    stream: true,
    stream_options: { include_usage: true },
  }),
  responses: ({ session, args, results }) => ({
    model: 'mock-model',
    input: [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: [{ type: 'input_text', text: PROMPT }] },
      { role: 'assistant', content: FIRST_TEXT },
      ...IDS.flatMap((id, n) => [
        { type: 'function_call', call_id: id, name: NAMES[n], arguments: args[n] },
        { type: 'function_call_output', call_id: id, output: results[n] },
      ]),
    ],
    tools: TOOLS.map((tool) => ({ type: 'function', ...tool, strict: false })),
    store: false,
    prompt_cache_key: session,
    stream: true,
  }),
  messages: ({ args, results }) => ({
    model: 'mock-model',
    max_tokens: 8192,
    system: [{ type: 'text', text: SYSTEM, ...ephemeral }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: PROMPT }] },
      ...IDS.flatMap((id, n) => [
        {
          role: 'assistant',
          content: [
            ...(n === 0 ? [{ type: 'text', text: FIRST_TEXT }] : []),
            { type: 'tool_use', id, name: NAMES[n], input: JSON.parse(args[n]!) as object },
          ],
        },
        {
          role: 'user',
          // The last two messages of a person carry the marks up to which the provider may keep the prefix.
          content: [{ type: 'tool_result', tool_use_id: id, content: results[n], ...(n > 0 && ephemeral) }],
        },
      ]),
    ],
    tools: TOOLS.map(({ name, description, parameters }, n) => ({
      name,
      description,
      input_schema: parameters,
      ...(n === TOOLS.length - 1 && ephemeral),
    })),
    stream: true,
  }),
  gemini: ({ args, results }) => ({
    generationConfig: {},
    systemInstruction: { parts: [{ text: SYSTEM }] },
    contents: [
      { role: 'user', parts: [{ text: PROMPT }] },
      ...IDS.flatMap((id, n) => [
        {
          role: 'model',
          parts: [
            ...(n === 0 ? [{ text: FIRST_TEXT }] : []),
            { functionCall: { id, name: NAMES[n], args: JSON.parse(args[n]!) as object } },
          ],
        },
        {
          role: 'user',
          parts: [{ functionResponse: { id, name: NAMES[n], response: { name: NAMES[n], content: results[n] } } }],
        },
      ]),
    ],
    tools: [
      {
        functionDeclarations: TOOLS.map(({ name, description, parameters }) => ({
          name,
          description,
          parametersJsonSchema: parameters,
        })),
      },
    ],
  }),
}

/** Headers that an adapter adds beside those of any HTTP client. */
const HEADERS: { [W in WireFamily]: Record<string, string> } = {
  chat: { authorization: 'Bearer test-key' },
  responses: { authorization: 'Bearer test-key' },
  messages: { 'x-api-key': 'test-key', 'anthropic-version': '2023-06-01' },
  gemini: { 'x-goog-api-key': 'test-key' },
}
const PATHS: { [W in WireFamily]: string } = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  gemini: '/v1/models/mock-model:streamGenerateContent',
}
const EVERY_CLIENT =
  /^(host|connection|content-type|content-length|user-agent|accept|accept-language|accept-encoding|sec-fetch-mode)$/

async function scenario(wire: WireFamily): Promise<{ scene: Scene; requests: MockRequest[] }> {
  const provider = `mock-${wire}`
  const saved = { id: provider, label: wire, wire, baseURL: `${mock.url}/v1`, options: { models: ['mock-model'] } }
  await client.command('provider.save', saved)
  await client.command('credential.set', { provider, key: 'test-key' })
  const args = ARGUMENTS.map((text) => text.replaceAll('{{cwd}}', host.work))
  const calls = IDS.map((id, n) => ({ toolCalls: [{ id, name: NAMES[n]!, arguments: args[n]! }] }))
  mock.script('*', [
    { text: FIRST_TEXT, ...calls[0]!, finish: 'tool-calls' },
    { ...calls[1]!, finish: 'tool-calls' },
    { ...calls[2]!, finish: 'tool-calls' },
    { text: 'Done.' },
  ])
  const from = mock.requests.length
  const { session } = await client.command('session.create', {
    workspace,
    preset: 'minimal',
    selection: { provider, model: 'mock-model' },
    prompt: PROMPT,
  })
  await client.attach(session)
  const end = await client.turnEnd(session, 1)
  expect(end.data.reason).toEqual({ kind: 'completed' })
  const results = RESULTS.map((text) => text.replaceAll('{{cwd}}', host.work))
  return { scene: { session, args, results }, requests: mock.requests.slice(from) }
}

test.each<WireFamily>(['chat', 'responses', 'messages', 'gemini'])(
  'O-18 the minimal scenario over %s: the body on the wire holds our prompt, tools and history, and what the table names',
  async (wire) => {
    const { scene, requests } = await scenario(wire)
    expect(requests).toHaveLength(4)
    expect(requests.at(-1)!.body).toEqual(BODIES[wire](scene))
    for (const { path, headers } of requests) {
      expect(path).toBe(PATHS[wire])
      const added = Object.entries(headers).filter(([name]) => !EVERY_CLIENT.test(name))
      expect(Object.fromEntries(added)).toEqual(HEADERS[wire])
    }
    expect(mock.left()).toBe(0)
  },
  60_000,
)
