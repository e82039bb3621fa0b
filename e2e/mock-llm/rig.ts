import { Assembler, type Assembled } from '../../server/model/assembler.ts'
import type { ProviderConfig, ProviderDeps } from '../../server/model/adapters/config.ts'
import { providerRoute } from '../../server/model/adapters/provider-route.ts'
import type { BuiltRequest, Route, StreamEvent } from '../../server/model/port.ts'
import type { CallConfig, Message, ToolSpec, WireFamily } from '../../server/wire/messages.ts'
import type { Mock } from './server.ts'

export const WIRES: readonly WireFamily[] = ['chat', 'responses', 'messages', 'gemini']

/** A route of one wire against the mock, with the key `test-key`. */
export function mockRoute(
  mock: Pick<Mock, 'url'>,
  wire: WireFamily,
  { config = {}, deps = {} }: { config?: Partial<ProviderConfig>; deps?: Partial<ProviderDeps> } = {},
): Route {
  return providerRoute(
    {
      id: `mock-${wire}`,
      label: `Mock ${wire}`,
      wire,
      baseURL: `${mock.url}/v1`,
      apiKeyRef: 'mock',
      headers: { 'x-lane': '{{lane}}' },
      ...config,
    },
    {
      credentials: { get: async () => 'test-key', secrets: () => ['test-key'] },
      loadBlob: async () => new Uint8Array([1, 2, 3]),
      ...deps,
    },
  )
}

export const BASH: ToolSpec = {
  name: 'bash',
  description: 'Run a command.',
  parameters: {
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
    additionalProperties: false,
  },
}

let ids = 0
export const user = (text: string): Message => ({
  id: `u${ids++}`,
  role: 'user',
  content: [{ type: 'text', text }],
  source: { kind: 'user' },
})

export const toolResult = (toolCallId: string, text: string): Message => ({
  id: `t${ids++}`,
  role: 'user',
  content: [{ type: 'tool-result', toolCallId, content: [{ type: 'text', text }] }],
  source: { kind: 'tool', callId: toolCallId },
})

export const assistant = (content: Message['content'], source: Partial<Message['source']> = {}): Message => ({
  id: `a${ids++}`,
  role: 'assistant',
  content,
  source: { kind: 'model', provider: 'p', model: 'm', ...source } as Message['source'],
})

/** The message that history keeps of one answer. */
export const remember = (result: Assembled, provider = 'p'): Message =>
  assistant(result.blocks, {
    kind: 'model',
    provider,
    model: 'm',
    ...(result.replayState && { replayState: result.replayState }),
  })

export interface Ran extends Assembled {
  events: StreamEvent[]
  sent: { path: string; bytes: number; sha256: string }[]
}

export const request = (patch: Partial<BuiltRequest> = {}): BuiltRequest => ({
  system: 'You are a test.',
  messages: [user('Hello')],
  tools: [BASH],
  signal: new AbortController().signal,
  sessionId: 'session-1',
  lane: 'main',
  turn: 0,
  step: 0,
  attempt: 1,
  ...patch,
})

/** Prepares and runs one call to its end; counts and order of the endings are part of the contract (LP-04). */
export async function ask(
  route: Route,
  patch: Partial<BuiltRequest> = {},
  config: Partial<CallConfig> = {},
): Promise<Ran> {
  const call = await route.prepare({ provider: route.id, model: 'mock-model', ...config })
  const assembler = new Assembler()
  const events: StreamEvent[] = []
  const sent: Ran['sent'] = []
  for await (const event of call.stream(request({ onSent: (item) => sent.push(item), ...patch }))) {
    events.push(event)
    assembler.push(event)
  }
  return { ...assembler.result(), events, sent }
}

/** `stop`, `tool-calls`, … or the code of the failure. */
export const ending = ({ finish }: Assembled): string => ('failure' in finish ? finish.failure.code : finish.kind)
