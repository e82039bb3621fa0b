import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  ask,
  assistant,
  ending,
  mockRoute,
  remember,
  toolResult,
  user,
  WIRES,
  type Ran,
} from '../../../e2e/mock-llm/rig.ts'
import type { Reply } from '../../../e2e/mock-llm/reply.ts'
import { startMock } from '../../../e2e/mock-llm/server.ts'
import { bodies } from '../../../e2e/tapes/bodies.ts'
import { difference } from '../../../e2e/tapes/diff.ts'
import documented from '../../../e2e/tapes/docs.json' with { type: 'json' }
import type { Message, WireFamily } from '../../wire/messages.ts'
import type { ModelCard } from '../port.ts'
import { stripSecrets, type Fetch } from '../transport.ts'

/**
 * Wire tapes (RE-07): for each wire the request as it went out and the answer's raw bytes. A library update that changes
 * a byte shows up as a diff here. `CORE_WEB_TAPES=write` records them anew; the diff is then reviewed like code.
 */
interface Tape {
  origin: 'scripted' | 'docs' | 'recorded'
  wire: WireFamily
  name: string
  path: string
  headers: { [name: string]: string }
  request: unknown
  status: number
  response: string
}

const FOLDER = join(import.meta.dirname, '../../../e2e/tapes')
const WRITE = process.env.CORE_WEB_TAPES === 'write'
const card: ModelCard = { id: 'mock-model', name: 'Mock', inputs: ['text', 'image'], reasoning: true, efforts: [] }
const REPLIES: { [name: string]: Reply } = {
  'reasoning and parallel tools': {
    reasoning: 'Two looks are better than one.',
    text: 'Looking twice.',
    toolCalls: [
      { id: 'call_1', name: 'bash', arguments: '{"command":"pwd"}' },
      { id: 'call_2', name: 'bash', arguments: '{"command":"ls -la"}' },
    ],
  },
  'cache hit': {
    text: 'From the cache.',
    usage: { input: 3, cacheRead: 9000, cacheWrite: 12, output: 4, reasoning: 1 },
  },
  'error body': { behavior: 'context_overflow' },
  refusal: { behavior: 'refusal' },
}

/** A history with a tool turn, an image in a result and broken arguments. */
const history = (): Message[] => [
  user('What is here?'),
  assistant([
    { type: 'text', text: 'I look.' },
    { type: 'tool-call', id: 'call_0', name: 'bash', arguments: '{"command":"ls"}' },
  ]),
  toolResult('call_0', 'a.txt'),
  user('And now?'),
]

/** What differs from run to run or says which runtime this is. */
const VOLATILE = new Set(['host', 'connection', 'content-length', 'user-agent', 'x-lane'])
const shown = (headers: Headers) =>
  Object.fromEntries(Object.entries(stripSecrets(headers)).filter(([name]) => !VOLATILE.has(name)))

async function taped(wire: WireFamily, fetch: Fetch): Promise<Ran> {
  const route = mockRoute({ url: 'http://tape.invalid' }, wire, { config: { models: [card] }, deps: { fetch } })
  return ask(route, { messages: history() })
}

async function record(): Promise<Tape[]> {
  const mock = await startMock()
  const tapes: Tape[] = []
  for (const wire of WIRES) {
    for (const [name, reply] of Object.entries(REPLIES)) {
      mock.script('main', [reply])
      const fetch: Fetch = async (url, init) => {
        const target = String(url).replace('http://tape.invalid', mock.url)
        const answer = await globalThis.fetch(target, init)
        const response = (await answer.text()).replaceAll(/mock-\d+/g, 'mock-0')
        const { pathname } = new URL(target)
        const request = JSON.parse(String(init!.body)) as unknown
        const headers = shown(new Headers(init!.headers))
        tapes.push({
          origin: 'scripted',
          wire,
          name,
          path: pathname,
          headers,
          request,
          status: answer.status,
          response,
        })
        return new Response(response, { status: answer.status, headers: answer.headers })
      }
      await taped(wire, fetch)
    }
  }
  await mock.close()
  return tapes
}

const file = join(FOLDER, 'wires.json')
if (WRITE) {
  const tapes = await record()
  writeFileSync(file, `${JSON.stringify(tapes, null, 2)}\n`)
  const first = (wire: WireFamily) => JSON.stringify(tapes.find((tape) => tape.wire === wire)!.request)
  writeFileSync(
    join(FOLDER, 'bodies.ts'),
    `${[
      "import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages'",
      "import type { Content, FunctionDeclaration } from '@google/genai'",
      "import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'",
      "import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'",
      '',
      "/** The tapes' request bodies, judged by the vendors' own types. Written with the tapes. */",
      'export const bodies = {',
      `chat: ${first('chat')} satisfies ChatCompletionCreateParamsStreaming,`,
      `responses: ${first('responses')} satisfies ResponseCreateParamsStreaming,`,
      `messages: ${first('messages')} satisfies MessageCreateParamsStreaming,`,
      `gemini: ${first('gemini')} satisfies { contents: Content[]; tools: { functionDeclarations: FunctionDeclaration[] }[]; [key: string]: unknown },`,
      '}',
    ].join('\n')}\n`,
  )
}
const tapes = JSON.parse(readFileSync(file, 'utf8')) as Tape[]

test('RE-07 every wire has its tapes, with an origin and without a key', () => {
  expect(tapes.map(({ wire, name }) => `${wire}: ${name}`)).toEqual(
    WIRES.flatMap((wire) => Object.keys(REPLIES).map((name) => `${wire}: ${name}`)),
  )
  for (const { origin } of tapes) expect(['scripted', 'docs', 'recorded']).toContain(origin)
  expect(JSON.stringify(tapes)).not.toMatch(/test-key|sk-[a-z0-9]{8}|\/home\/|\/root\//i)
})

describe.each(tapes.map((tape) => [`${tape.wire}: ${tape.name}`, tape] as const))('%s', (_title, tape) => {
  const replay = async () => {
    const requests: unknown[] = []
    const fetch: Fetch = async (url, init) => {
      requests.push({
        path: new URL(String(url)).pathname,
        headers: shown(new Headers(init!.headers)),
        request: JSON.parse(String(init!.body)),
      })
      const type = tape.status === 200 ? 'text/event-stream' : 'application/json'
      return new Response(tape.response, { status: tape.status, headers: { 'content-type': type } })
    }
    return { result: await taped(tape.wire, fetch), requests }
  }

  test('RE-07 the request goes out byte for byte as taped', async () => {
    const { requests } = await replay()
    const changed = difference([{ path: tape.path, headers: tape.headers, request: tape.request }], requests)
    expect(changed, changed).toBeUndefined()
  })

  test('RE-07 the taped answer reads as before', async () => {
    const { result } = await replay()
    if (tape.name === 'error body') {
      expect(result.finish).toMatchObject({ kind: 'error', failure: { code: 'CONTEXT_WINDOW_EXCEEDED', status: 400 } })
      return
    }
    if (tape.name === 'refusal') {
      expect(result).toMatchObject({ kind: 'attempt', finish: { kind: 'content-filter' } })
      return
    }
    if (tape.name === 'cache hit') {
      expect(result.usage).toMatchObject({ cacheReadTokens: 9000, outputTokens: 4 })
      return
    }
    expect(result.blocks.map((block) => block.type)).toEqual(['reasoning', 'text', 'tool-call', 'tool-call'])
    expect(result.finish).toEqual({ kind: 'tool-calls' })
    expect(remember(result).content).toEqual(result.blocks)
  })
})

test('RE-07 the bodies that the vendors’ types judge are those of the tapes', () => {
  for (const wire of WIRES) {
    const tape = tapes.find((item) => item.wire === wire)!
    expect(bodies[wire]).toEqual(tape.request)
  }
})

test('RE-07 one changed byte of a request shows where it is and what it was', () => {
  for (const { wire, request } of tapes) {
    expect(difference(request, structuredClone(request))).toBeUndefined()
    const text = JSON.stringify(request)
    const changed = difference(request, JSON.parse(text.replace('You are a test.', 'You are a tent.')))!
    const [, ...lines] = changed.split('\n')
    expect({ wire, cut: lines.filter((line) => /^[-+]/.test(line)).length }).toEqual({ wire, cut: 2 })
    expect(changed).toMatch(/^-.*You are a test/m)
    expect(changed).toMatch(/^\+.*You are a tent/m)
  }
  const { a, b } = { a: 1, b: [2] }
  expect(difference({ a, b }, { b, a })).toContain('+   "b"')
  expect(difference({ a }, { a, b })).toMatch(/^\+ +"b": \[/m)
})

test('RE-07 the comparison fails with the difference as its message', async () => {
  const fail = (): void => {
    const changed = difference({ model: 'm', stream: true }, { model: 'm', stream: false })
    expect(changed, changed).toBeUndefined()
  }
  expect(fail).toThrow(/- +"stream": true\n\+ +"stream": false/)
})

describe.each(documented.map((tape) => [`${tape.wire}: ${tape.name}`, tape] as const))(
  'documented %s',
  (_title, tape) => {
    test('RE-07 reads as its page says', async () => {
      expect(new URL(tape.source).protocol).toBe('https:')
      const type = tape.response.startsWith('{') ? 'application/json' : 'text/event-stream'
      const fetch: Fetch = async () =>
        new Response(tape.response, { status: tape.status, headers: { 'content-type': type } })
      const result = await taped(tape.wire as WireFamily, fetch)
      expect(ending(result)).toBe(tape.reads.finish)
      if (tape.reads.blocks) expect(result.blocks).toMatchObject(tape.reads.blocks)
      if (tape.reads.usage) expect(result.usage).toMatchObject(tape.reads.usage)
    })
  },
)
