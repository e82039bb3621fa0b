import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { ask, ending, mockRoute, request, user, WIRES } from '../../../e2e/mock-llm/rig.ts'
import { BEHAVIORS } from '../../../e2e/mock-llm/reply.ts'
import { startMock, type Mock } from '../../../e2e/mock-llm/server.ts'
import { Assembler } from '../assembler.ts'
import { ModelError, type StreamEvent } from '../port.ts'
import { streamWithRetry } from '../retry.ts'
import { PartMapper } from './parts.ts'
import { providerRoute } from './provider-route.ts'
import { SHIPPED_PROVIDERS } from './providers.ts'
import { providerConfig } from './route-options.ts'

let mock: Mock
let lanes = 0
beforeAll(async () => {
  mock = await startMock({ models: ['local-b', 'local-a'] })
})
afterAll(() => mock.close())
afterEach(() => vi.unstubAllEnvs())

const next = (reply: Parameters<Mock['script']>[1][number] = {}): string => {
  const lane = `port-${lanes++}`
  mock.script(lane, [reply])
  return lane
}
const seen = (lane: string) => mock.requests.find((item) => item.lane === lane)!

/** Every rule of order that a consumer may rely on (LP-04). */
function checkOrder(events: readonly StreamEvent[]): void {
  const open = new Set<number>()
  const used = new Set<number>()
  events.forEach((event, index) => {
    if (event.t === 'open') {
      expect(used.has(event.i)).toBe(false)
      used.add(event.i)
      open.add(event.i)
    }
    if (event.t === 'delta') expect(open.has(event.i)).toBe(true)
    if (event.t === 'close') expect(open.delete(event.i)).toBe(true)
    if (event.t === 'end') expect(index).toBe(events.length - 1)
  })
  expect(events.at(-1)!.t).toBe('end')
  expect([...open]).toEqual([])
}

describe.each(WIRES)('%s', (wire) => {
  test('LP-04 every behaviour ends exactly once, blocks closed, usage before the end', async () => {
    const endless = new Set(['stall', 'partial_stall', 'keepalive_only'])
    for (const behavior of BEHAVIORS.filter((name) => !endless.has(name))) {
      const { events, finish } = await ask(mockRoute(mock, wire), { lane: next({ behavior }) })
      checkOrder(events)
      if (finish.kind === 'stop') expect(events.at(-2)!.t).toBe('usage')
    }
  })

  test('LP-04 an abort after any number of events ends once as ABORTED and closes the socket', async () => {
    const reply = {
      reasoning: 'think',
      text: 'answer',
      toolCalls: [{ name: 'bash', arguments: '{"command":"ls"}' }],
      chunk: 3,
    }
    const all = (await ask(mockRoute(mock, wire), { lane: next(reply) })).events.length
    for (let stop = 1; stop < all - 1; stop++) {
      const lane = next({ ...reply, delayMs: 1 })
      const controller = new AbortController()
      const call = await mockRoute(mock, wire).prepare({ provider: 'p', model: 'mock-model' })
      const events: StreamEvent[] = []
      for await (const event of call.stream(request({ lane, signal: controller.signal }))) {
        events.push(event)
        if (events.length === stop) controller.abort({ kind: 'user' })
      }
      checkOrder(events)
      const end = events.at(-1)!
      if (end.t !== 'end') throw new Error('no end')
      expect(['aborted', 'tool-calls']).toContain(end.finish.kind)
      const assembler = new Assembler()
      for (const event of events) assembler.push(event)
      const { blocks, kind } = assembler.result()
      if (end.finish.kind === 'aborted' && kind === 'message')
        expect(blocks.every((block) => block.type !== 'tool-call')).toBe(true)
    }
  })

  test('an abort reaches the socket at once', async () => {
    const times: number[] = []
    for (let n = 0; n < 5; n++) {
      const lane = next({ behavior: 'partial_stall', text: 'some longer text to stop in' })
      const controller = new AbortController()
      const call = await mockRoute(mock, wire).prepare({ provider: 'p', model: 'mock-model' })
      let at = 0
      for await (const event of call.stream(request({ lane, signal: controller.signal }))) {
        if (event.t !== 'delta' || at > 0) continue
        at = performance.now()
        controller.abort()
      }
      const closed = await seen(lane).closed
      expect(closed.completed).toBe(false)
      times.push(closed.at - at)
    }
    // 1 to 3 ms on an idle machine; the median and the room forgive a busy one; the shortest timeout is 300,000.
    expect(times.sort((a, b) => a - b)[2]).toBeLessThan(1000)
  })

  test('an abort in a flood delivers next to nothing more', async () => {
    const lane = next({ text: 'word '.repeat(30_000), chunk: 5 })
    const controller = new AbortController()
    const call = await mockRoute(mock, wire).prepare({ provider: 'p', model: 'mock-model' })
    let after = -1
    for await (const event of call.stream(request({ lane, signal: controller.signal }))) {
      if (event.t !== 'delta') continue
      after++
      controller.abort()
    }
    expect(after).toBeLessThanOrEqual(1)
  })

  test('leaving the loop early closes the connection', async () => {
    const lane = next({ text: 'x'.repeat(2000), gates: ['never'] })
    const call = await mockRoute(mock, wire).prepare({ provider: 'p', model: 'mock-model' })
    for await (const event of call.stream(request({ lane }))) if (event.t === 'delta') break
    expect((await seen(lane).closed).completed).toBe(false)
  })

  test('B64 no first byte, and silence in the middle, are TIMEOUT', async () => {
    const silent = await ask(mockRoute(mock, wire, { config: { firstByteMs: 60 } }), {
      lane: next({ behavior: 'stall' }),
    })
    expect(silent.finish).toMatchObject({
      kind: 'error',
      failure: { code: 'TIMEOUT', message: expect.stringContaining('first byte') },
    })
    const headers = await ask(mockRoute(mock, wire, { config: { firstByteMs: 60 } }), {
      lane: next({ firstDelayMs: 3000 }),
    })
    expect(ending(headers)).toBe('TIMEOUT')
    const stopped = await ask(mockRoute(mock, wire, { config: { idleMs: 60 } }), {
      lane: next({ behavior: 'partial_stall' }),
    })
    expect(stopped.finish).toMatchObject({
      kind: 'error',
      failure: { code: 'TIMEOUT', message: expect.stringContaining('middle') },
    })
  })

  test('B64 keep-alive comments count as life: only a person ends that call', async () => {
    const controller = new AbortController()
    const route = mockRoute(mock, wire, { config: { firstByteMs: 300, idleMs: 300 } })
    setTimeout(() => controller.abort(), 700)
    const result = await ask(route, { lane: next({ behavior: 'keepalive_only' }), signal: controller.signal })
    expect(ending(result)).toBe('ABORTED')
  })

  test('a slow consumer is no silence of the provider', async () => {
    const route = mockRoute(mock, wire, { config: { idleMs: 80 } })
    const call = await route.prepare({ provider: 'p', model: 'mock-model' })
    let slept = false
    let last: StreamEvent | undefined
    for await (const event of call.stream(request({ lane: next({ text: 'x'.repeat(6_000_000), chunk: 3000 }) }))) {
      last = event
      if (slept || event.t !== 'delta') continue
      slept = true
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect(last).toMatchObject({ t: 'end', finish: { kind: 'stop' } })
  })

  test('LP-07 the digest is over the exact body that arrived', async () => {
    const lane = next()
    const { sent } = await ask(mockRoute(mock, wire, { config: { extraBody: { extra_field: 1 } } }), { lane })
    const { raw, path, body } = seen(lane)
    expect(body.extra_field).toBe(1)
    expect(sent).toEqual([
      { path, bytes: Buffer.byteLength(raw), sha256: createHash('sha256').update(raw).digest('hex') },
    ])
  })

  test('the library never retries by itself', async () => {
    for (const behavior of ['rate_limit', 'server_error', 'connection_reset'] as const) {
      const lane = next({ behavior })
      await ask(mockRoute(mock, wire), { lane })
      expect(mock.requests.filter((item) => item.lane === lane)).toHaveLength(1)
    }
  })

  test('a keyless route sends no key, whatever the environment holds', async () => {
    for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'GOOGLE_GENERATIVE_AI_API_KEY'])
      vi.stubEnv(name, 'sk-from-environment')
    for (const name of ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL']) vi.stubEnv(name, 'http://127.0.0.1:9')
    const lane = next()
    const keyless = providerRoute(
      {
        id: 'local',
        label: 'Local',
        wire,
        baseURL: `${mock.url}/v1/`,
        headers: { 'x-lane': '{{lane}}', 'x-session-id': '{{session}}' },
      },
      { credentials: { get: async () => 'sk-unused' }, loadBlob: async () => undefined },
    )
    expect(ending(await ask(keyless, { lane }))).toBe('stop')
    const text = JSON.stringify(seen(lane).headers)
    expect(text).not.toMatch(/sk-from-environment|sk-unused|keyless|authorization|api-key/)
    expect(seen(lane).headers['x-session-id']).toBe('session-1')
    const keyed = providerRoute(
      { id: 'p', label: 'P', wire, baseURL: `${mock.url}/v1`, apiKeyRef: 'p' },
      { credentials: { get: async () => undefined }, loadBlob: async () => undefined },
    )
    await expect(keyed.prepare({ provider: 'p', model: 'm' })).rejects.toMatchObject({
      failure: { code: 'MISSING_CREDENTIAL' },
    })
  })

  test('LP-06 no failure carries the key or the prompt', async () => {
    const reply = { behavior: 'invalid_request' as const, errorMessage: 'bad key test-key in request' }
    const { finish } = await ask(mockRoute(mock, wire), { lane: next(reply), messages: [user('the secret plan')] })
    const text = JSON.stringify(finish)
    expect(text).toContain('bad key *** in request')
    expect(text).not.toMatch(/test-key|secret plan|127\.0\.0\.1/)
  })
})

test('LP-01 a prepared call keeps its key and serves once', async () => {
  let key = 'first-key'
  const route = mockRoute(mock, 'chat', { deps: { credentials: { get: async () => key } } })
  const call = await route.prepare({ provider: 'p', model: 'mock-model' })
  key = 'second-key'
  const lane = next()
  for await (const _event of call.stream(request({ lane }))) continue
  expect(seen(lane).headers.authorization).toBe('Bearer first-key')
  expect(() => call.stream(request())).toThrow(/one stream/)
})

test('LP-02 what fails before dispatch is a failed call; what the consumer throws stays its own', async () => {
  const broken = mockRoute(mock, 'chat', { config: { baseURL: 'no address' } })
  const { events } = await ask(broken)
  expect(events).toMatchObject([{ t: 'end', finish: { kind: 'error' } }])
  const lane = next({ text: 'x'.repeat(1000), delayMs: 1 })
  const thrown = (async () => {
    const other = await mockRoute(mock, 'chat').prepare({ provider: 'p', model: 'mock-model' })
    for await (const event of other.stream(request({ lane }))) if (event.t === 'delta') throw new Error('mine')
  })()
  await expect(thrown).rejects.toThrow('mine')
  expect((await seen(lane).closed).completed).toBe(false)
})

test('LP-03 L-14 an effort is refused before the network unless card or route declares it', async () => {
  const count = mock.requests.length
  const listed = mockRoute(mock, 'chat', {
    config: {
      models: [
        {
          id: 'listed',
          name: 'Listed',
          inputs: ['text'],
          reasoning: true,
          efforts: [{ id: 'high', body: { reasoning_effort: 'high' } }],
        },
      ],
      efforts: [{ id: 'deep', body: { depth: 9 } }],
    },
  })
  const refused = { failure: { code: 'UNSUPPORTED_REASONING_EFFORT' } }
  await expect(listed.prepare({ provider: 'p', model: 'listed', reasoningEffort: 'max' })).rejects.toMatchObject(
    refused,
  )
  await expect(listed.prepare({ provider: 'p', model: 'unlisted', reasoningEffort: 'high' })).rejects.toMatchObject(
    refused,
  )
  expect(mock.requests).toHaveLength(count)
  const lane = next()
  await ask(listed, { lane }, { model: 'unlisted', reasoningEffort: 'deep' })
  expect(seen(lane).body).toMatchObject({ model: 'unlisted', depth: 9 })
  expect(await listed.describe('unlisted')).toMatchObject({ listed: false, inputs: ['text'] })
})

test('LP-05 content that our log has no block for ends the call loudly', () => {
  const parts = [
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'x' } },
    { type: 'source', sourceType: 'url', id: 's', url: 'http://x.invalid' },
    { type: 'custom', kind: 'openai.future' },
    { type: 'tool-input-start', id: 't', toolName: 'web_search', providerExecuted: true },
    { type: 'tool-call', toolCallId: 't', toolName: 'web_search', input: '{}', providerExecuted: true },
  ] as const
  for (const part of parts) {
    const out: StreamEvent[] = []
    const mapper = new PartMapper({ wire: 'responses', classify: () => ({ code: 'UNKNOWN', message: 'x' }) })
    mapper.map({ type: 'text-start', id: '1' }, out)
    mapper.map(part, out)
    expect(out.map((event) => event.t)).toEqual(['open', 'close', 'end'])
    expect(out.at(-1)).toMatchObject({ finish: { kind: 'error', failure: { code: 'UNSUPPORTED_CONTENT' } } })
    mapper.fail(out, new Error('late'))
    mapper.close(out)
    expect(out).toHaveLength(3)
  }
})

test('a block that an abort cuts off carries no replay metadata, one that the end closes does', () => {
  const run = (last: (mapper: PartMapper, out: StreamEvent[]) => void) => {
    const out: StreamEvent[] = []
    const mapper = new PartMapper({ wire: 'messages', classify: () => ({ code: 'ABORTED', message: 'stopped' }) })
    mapper.map({ type: 'reasoning-start', id: '1', providerMetadata: { anthropic: { signature: 'half' } } }, out)
    last(mapper, out)
    return out.find((event) => event.t === 'close')
  }
  expect(run((mapper, out) => mapper.fail(out, undefined))).toEqual({ t: 'close', i: 0 })
  const unknown = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
  const usage = { inputTokens: unknown, outputTokens: { total: undefined, text: undefined, reasoning: undefined } }
  const ended = run((mapper, out) =>
    mapper.map({ type: 'finish', usage, finishReason: { unified: 'stop', raw: undefined } }, out),
  )
  expect(ended).toMatchObject({ meta: { anthropic: { signature: 'half' } } })
})

test('a stored key of the provider wins over a reference to the environment', async () => {
  const keys: { [ref: string]: string } = { 'env:KEY': 'from-env' }
  const route = mockRoute(mock, 'chat', {
    config: { id: 'mine', apiKeyRef: 'env:KEY' },
    deps: { credentials: { get: async (ref) => keys[ref] } },
  })
  for (const expected of ['from-env', 'stored']) {
    const lane = next()
    await ask(route, { lane })
    expect(seen(lane).headers.authorization).toBe(`Bearer ${expected}`)
    keys.mine = 'stored'
  }
})

test('a key that no header can carry is refused before dispatch', async () => {
  const route = mockRoute(mock, 'chat', { deps: { credentials: { get: async () => 'two words' } } })
  const error = await route.prepare({ provider: 'p', model: 'm' }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ModelError)
  expect(error).toMatchObject({
    failure: { code: 'INVALID_CREDENTIAL', message: expect.not.stringContaining('two words') },
  })
})

test('one hundred calls may share a signal without a listener warning', async () => {
  const warnings: Error[] = []
  const listen = (warning: Error) => warnings.push(warning)
  process.on('warning', listen)
  const { signal } = new AbortController()
  for (let n = 0; n < 100; n++) await ask(mockRoute(mock, 'chat'), { lane: next(), signal })
  await new Promise(setImmediate)
  process.off('warning', listen)
  expect(warnings).toEqual([])
})

test('B64 a refused connection is TRANSPORT, and the retry helper waits for the server to come up', async () => {
  const late = await startMock({ delayed: true })
  try {
    late.script('*', [{ text: 'up now' }])
    const route = mockRoute(late, 'chat', { config: { headers: {} } })
    const waits: number[] = []
    const result = await streamWithRetry(() => route.prepare({ provider: 'p', model: 'm' }), request(), {
      random: () => 0.5,
      timers: {
        set: (callback, ms) => {
          waits.push(ms)
          void (waits.length === 2 ? late.listen() : Promise.resolve()).then(callback)
        },
        clear: () => undefined,
      },
    })
    expect(result.blocks).toEqual([{ type: 'text', text: 'up now' }])
    expect(waits).toEqual([500, 1000])
  } finally {
    await late.close()
  }
})

test('the list of an own endpoint comes from its models, and one that is down lists nothing and says why', async () => {
  const deps = { credentials: { get: async () => undefined }, loadBlob: async () => undefined }
  const own = (baseURL: string) =>
    providerRoute(providerConfig({ id: 'mine', label: 'Mine', wire: 'chat', baseURL, key: 'none', options: {} }), deps)
  const route = own(`${mock.url}/v1`)
  expect((await route.models()).map(({ id, from }) => [id, from])).toEqual([
    ['local-a', 'endpoint'],
    ['local-b', 'endpoint'],
  ])
  expect(route.problem?.()).toBeUndefined()
  const gone = await startMock({ delayed: true })
  const down = own(`${gone.url}/v1`)
  expect(await down.models()).toEqual([])
  expect(down.problem?.()).toMatchObject({ code: 'TRANSPORT', transport: 'refused' })
})

test('the shipped providers have distinct ids and every card is advice with unique ids', async () => {
  expect(SHIPPED_PROVIDERS.map(({ id }) => id)).toEqual([
    'deepseek',
    'openai',
    'anthropic',
    'google',
    'openrouter',
    'ollama',
  ])
  const deps = {
    credentials: { get: async () => undefined },
    loadBlob: async () => undefined,
    fetch: async () => new Response('', { status: 500 }),
  }
  for (const config of SHIPPED_PROVIDERS) {
    const cards = await providerRoute(config, deps).models()
    expect(new Set(cards.map(({ id }) => id)).size).toBe(cards.length)
    for (const card of cards) expect(card.efforts.filter((effort) => effort.default).length).toBeLessThanOrEqual(1)
  }
  const patched = providerRoute(
    { ...SHIPPED_PROVIDERS[0]!, modelOverrides: { 'deepseek-v4-pro': { contextWindow: 5 } } },
    deps,
  )
  expect((await patched.describe('deepseek-v4-pro')).contextWindow).toBe(5)
})
