import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message } from '../../wire/messages.ts'
import type { BuiltRequest, Route, StreamEvent } from '../port.ts'
import { Placeholders, canonicalJson, canonicalMessages } from './canonical.ts'
import { cassetteLeaks, formatCassette, parseCassette, type CassetteHead } from './cassette.ts'
import { fingerprint } from './chain.ts'
import { Player, refreshed } from './player.ts'
import { Recorder } from './recorder.ts'

const HEAD: CassetteHead = {
  k: 'cassette',
  v: 1,
  origin: 'scripted',
  scenario: 'test',
  recorder: 'core-web@0.1.0',
  tokens: ['cwd'],
  norm: 1,
}
const config = { provider: 'p', model: 'm' }

const user = (text: string, id = 'u'): Message => ({
  id,
  role: 'user',
  content: [{ type: 'text', text }],
  source: { kind: 'user' },
})
const call = (id: string): Message => ({
  id: `a-${id}`,
  role: 'assistant',
  content: [{ type: 'tool-call', id, name: 'bash', arguments: '{"command":"pwd"}' }],
  source: { kind: 'model', provider: 'p', model: 'm' },
})
const result = (id: string, text: string): Message => ({
  id: `r-${id}`,
  role: 'user',
  content: [{ type: 'tool-result', toolCallId: id, content: [{ type: 'text', text }] }],
  source: { kind: 'tool', callId: id },
})

const built = (messages: Message[], rest: Partial<BuiltRequest> = {}): BuiltRequest => ({
  system: 'You work.',
  messages,
  tools: [{ name: 'bash', description: 'Runs.', parameters: { type: 'object' } }],
  signal: new AbortController().signal,
  sessionId: 's',
  lane: 'main',
  turn: 1,
  step: 1,
  attempt: 1,
  ...rest,
})

const upstream = (script: StreamEvent[][]): Route => ({
  id: 'p',
  label: 'P',
  wire: 'chat',
  retry: { mode: 'normal', retries: 0, baseMs: 0, capMs: 0, jitter: 0 },
  models: async () => [],
  describe: async (id) => ({ id, name: id, inputs: ['text'], reasoning: false, efforts: [], listed: false }),
  async prepare(asked) {
    return {
      header: { config: asked },
      facts: await this.describe(asked.model),
      retry: this.retry,
      async *stream() {
        yield* script.shift()!
      },
    }
  },
})

const say = (...chunks: string[]): StreamEvent[] => [
  { t: 'open', i: 0, kind: 'text' },
  ...chunks.map((s): StreamEvent => ({ t: 'delta', i: 0, s })),
  { t: 'close', i: 0 },
  { t: 'usage', usage: { outputTokens: 3 } },
  { t: 'end', finish: { kind: 'stop' } },
]

async function collect(route: Route, request: BuiltRequest): Promise<StreamEvent[]> {
  const prepared = await route.prepare(config)
  const events: StreamEvent[] = []
  for await (const event of prepared.stream(request)) events.push(event)
  return events
}

const textIn = (events: StreamEvent[]) => events.map((event) => (event.t === 'delta' ? event.s : '')).join('')

async function record(tokens: { cwd: string }, script: StreamEvent[][], requests: BuiltRequest[]): Promise<string> {
  const recorder = new Recorder({ head: HEAD, tokens: () => tokens, now: () => 0 })
  const route = recorder.wrap(upstream(script))
  for (const request of requests) await collect(route, request)
  return formatCassette(recorder.cassette())
}

const play = (text: string, tokens = { cwd: '/live/place' }, mode?: 'refresh') =>
  new Player(parseCassette(text, 'test.jsonl'), { tokens: () => tokens, ...(mode && { mode }) })

describe('hash chain', () => {
  const placeholders = (cwd: string) => new Placeholders({ cwd })
  test('RE-01 two runs in other folders with other ids are equal; a changed result differs at exactly that link', () => {
    const run = (cwd: string, id: string, output: string) =>
      fingerprint(
        { config },
        built([user('go', id), call(id), result(id, output.replace('CWD', cwd))]),
        placeholders(cwd),
      ).links
    const a = run('/one/place', 'x1', 'CWD/a.py')
    expect(run('/other', 'y9', 'CWD/a.py')).toEqual(a)
    const changed = run('/one/place', 'x1', 'CWD/b.py')
    expect(changed.map((link, index) => link === a[index])).toEqual([true, true, true, false])
    for (const link of a) expect(link).toMatch(/^[\w-]{22}$/)
  })
  test('RE-01 an added tool differs at link 0', () => {
    const tools = [...built([]).tools, { name: 'extra', description: '', parameters: {} }]
    expect(fingerprint({ config }, built([], { tools }), placeholders('/x')).links[0]).not.toBe(
      fingerprint({ config }, built([]), placeholders('/x')).links[0],
    )
  })
  test('RE-03 keys are sorted and whitespace of texts is never touched', () => {
    expect(canonicalJson({ b: 1, a: [{ d: 1, c: 2 }] })).toBe('{"a":[{"c":2,"d":1}],"b":1}')
    expect(canonicalMessages([user('  two\n\n blanks ')], placeholders('/x'))[0]!.content).toEqual([
      { type: 'text', text: '  two\n\n blanks ' },
    ])
  })
  test('RE-03 placeholders cover raw and escaped spellings, longest first', () => {
    const both = new Placeholders({ cwd: 'C:\\Users\\me\\work', home: 'C:\\Users\\me' })
    expect(both.encode('in C:\\Users\\me\\work')).toBe('in {{cwd}}')
    expect(both.encode(JSON.stringify({ path: 'C:\\Users\\me\\x' }))).toBe('{"path":"{{home}}\\\\x"}')
  })
})

test('RE-04 random chunkings keep text and chunk count, and no name is ever cut', () => {
  const cwd = '/some/where'
  const placeholders = new Placeholders({ cwd })
  const pieces = fc.array(fc.oneof(fc.constant(cwd), fc.string({ maxLength: 6 })), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(pieces, fc.array(fc.nat({ max: 60 }), { maxLength: 8 }), (parts, cuts) => {
      const text = parts.join('')
      const points = [...new Set([0, ...cuts.filter((cut) => cut < text.length), text.length])].sort((a, b) => a - b)
      const chunks = points.slice(1).map((point, index) => text.slice(points[index], point))
      const encoded = placeholders.encodeChunks(chunks)
      expect(encoded).toHaveLength(chunks.length)
      expect(encoded.join('')).toBe(placeholders.encode(text))
      expect(encoded.map((chunk) => placeholders.decode(chunk)).join('')).toBe(text.replaceAll('{{cwd}}', cwd))
    }),
    { numRuns: 500 },
  )
})

describe('player', () => {
  test('RE-04 what was recorded in one folder is played with the paths of another', async () => {
    const text = await record(
      { cwd: '/recorded/here' },
      [say('Look at /recor', 'ded/here/a.py')],
      [built([user('go')])],
    )
    expect(text).not.toContain('/recorded')
    const player = play(text)
    const events = await collect(player.routes()[0]!, built([user('go')]))
    expect(textIn(events)).toBe('Look at /live/place/a.py')
    expect(player.unused()).toEqual([])
  })

  test('RE-01 a miss names the first differing message and the command that records anew', async () => {
    const text = await record({ cwd: '/r' }, [say('ok')], [built([user('Reply exactly OK')])])
    const player = play(text)
    const events = await collect(player.routes()[0]!, built([user('Reply exactly NO')]))
    expect(events.at(-1)).toMatchObject({ t: 'end', finish: { kind: 'error' } })
    expect(player.misses[0]).toContain('message 1 differs')
    expect(player.misses[0]).toContain('- user text: Reply exactly OK')
    expect(player.misses[0]).toContain('+ user text: Reply exactly NO')
    expect(player.misses[0]).toContain('core-web replay --mode refresh <cassette of test>')
    expect(player.unused()).toEqual(['main #0 (attempt 1)'])
  })

  test('RE-02 a retry is a call of its own and lanes never take each other’s calls', async () => {
    const text = await record(
      { cwd: '/r' },
      [say('first'), say('again'), say('title')],
      [built([user('go')]), built([user('go')], { attempt: 2 }), built([user('go')], { lane: 'main/title' })],
    )
    const route = play(text).routes()[0]!
    expect(textIn(await collect(route, built([user('go')], { lane: 'main/title' })))).toBe('title')
    expect(textIn(await collect(route, built([user('go')], { attempt: 2 })))).toBe('again')
    expect(textIn(await collect(route, built([user('go')])))).toBe('first')
  })

  test('RE-06 faults: an error with its facts, a hang that only an abort ends', async () => {
    const text = await record({ cwd: '/r' }, [say('a', 'b')], [built([user('go')])])
    const limited = `${text}{"k":"fault","at":2,"kind":"throw","code":"RATE_LIMIT","status":429,"retryAfterMs":1000}\n`
    const events = await collect(play(limited).routes()[0]!, built([user('go')]))
    expect(textIn(events)).toBe('a')
    expect(events.at(-1)).toMatchObject({
      finish: { failure: { code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 1000 } },
    })
    const abort = new AbortController()
    const hanging = play(`${text}{"k":"fault","at":1,"kind":"hang"}\n`).routes()[0]!
    const pending = collect(hanging, built([user('go')], { signal: abort.signal }))
    abort.abort()
    expect((await pending).at(-1)).toMatchObject({ finish: { kind: 'aborted' } })
  })

  test('RE-08 refresh rewrites hashes, keeps the answers and prints what changed', async () => {
    const text = await record({ cwd: '/r' }, [say('ok')], [built([user('old question')])])
    const player = play(text, { cwd: '/live' }, 'refresh')
    expect(textIn(await collect(player.routes()[0]!, built([user('new question')])))).toBe('ok')
    const { cassette, changed } = refreshed(player)
    expect(changed[0]).toContain('new question')
    const second = play(formatCassette(cassette))
    expect(textIn(await collect(second.routes()[0]!, built([user('new question')])))).toBe('ok')
  })

  test('RE-09 key-like strings and home paths are found by line', () => {
    expect(cassetteLeaks('ok\n{"key":"sk-abcdefghijklmnop"}\n{"cwd":"/home/someone/x"}')).toHaveLength(2)
    expect(cassetteLeaks('{"cwd":"{{cwd}}"}')).toEqual([])
  })

  test('RE-10 plays under the recorded provider ids', async () => {
    const text = await record({ cwd: '/r' }, [say('ok')], [built([user('go')])])
    expect(
      play(text)
        .routes()
        .map(({ id }) => id),
    ).toEqual(['p'])
  })

  test('a broken cassette names file and line', () => {
    expect(() => parseCassette(`${JSON.stringify(HEAD)}\n{"k":"ev","d":1,"e":["delta",0,"x"]}\n`, 'c.jsonl')).toThrow(
      'c.jsonl:2',
    )
    expect(() => parseCassette('nonsense', 'c.jsonl')).toThrow('c.jsonl:1')
  })

  test('RE-05 timing follows the recording only when asked, and never past its cap', async () => {
    const text = (await record({ cwd: '/r' }, [say('ok')], [built([user('go')])])).replaceAll('"d":0', '"d":400')
    const waits: number[] = []
    const sleep = async (ms: number) => void waits.push(ms)
    const player = new Player(parseCassette(text, 't'), { tokens: () => ({ cwd: '/r' }), speed: 1, cap: 50, sleep })
    await collect(player.routes()[0]!, built([user('go')]))
    expect(waits).toEqual([50, 50, 50])
  })
})

test('a call that was stopped in the middle is recorded without live paths, and its replay waits to be stopped', async () => {
  const recorder = new Recorder({ head: HEAD, tokens: () => ({ cwd: '/rec/place' }), now: () => 0 })
  const stop = new AbortController()
  const endless: Route = {
    ...upstream([]),
    prepare: async () => ({
      header: { config },
      facts: {} as never,
      retry: { mode: 'normal', retries: 0, baseMs: 0, capMs: 0, jitter: 0 },
      async *stream() {
        yield { t: 'open', i: 0, kind: 'text' }
        yield { t: 'delta', i: 0, s: 'in /rec/place' }
        yield { t: 'end', finish: { kind: 'aborted', failure: { code: 'ABORTED', message: 'stopped' } } }
      },
    }),
  }
  await collect(recorder.wrap(endless), built([user('go', 'x')]))
  const text = formatCassette(recorder.cassette())
  expect(text).not.toContain('/rec/place')
  const [route] = play(text).routes()
  const prepared = await route!.prepare(config)
  const events: StreamEvent[] = []
  for await (const event of prepared.stream({ ...built([user('go', 'y')]), signal: stop.signal })) {
    events.push(event)
    if (event.t === 'delta') setImmediate(() => stop.abort())
  }
  expect(textIn(events)).toBe('in /live/place')
  expect(events.at(-1)).toMatchObject({ t: 'end', finish: { kind: 'aborted' } })
})
