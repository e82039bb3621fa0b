import { expect, test } from 'vitest'
import { Agent } from '../agent/agent.ts'
import type { StreamEvent } from '../model/port.ts'
import { registerPersona } from '../prompt/persona.ts'
import { text } from '../tool/tool.ts'
import { last, memoryLog, ofType, ScriptedModel, tool, types, world, type Say } from './turn.fixture.ts'
import type { Delta } from './hooks.ts'
import type { TurnWorld } from './world.ts'

const options = { provider: 'p', model: 'm', cwd: '/tmp' }

function setting(script: Say[], over: Partial<TurnWorld> = {}) {
  const model = new ScriptedModel(...script)
  const host = world(model, over)
  const log = memoryLog()
  const agent = new Agent(host, { id: 's1', log, options })
  const ends = () => ofType(log, 'turn/end').map((event) => event.data.reason)
  const run = async (prompt = 'hello') => {
    await agent.followup(prompt)
    await agent.whenIdle()
  }
  return { model, host, log, agent, ends, run }
}

/** A stream that says `parts` and then hangs until the abort. */
const hanging = (parts: string[], onHang: () => void): Say => ({
  stream: async function* ({ signal }): AsyncIterable<StreamEvent> {
    yield { t: 'open', i: 0, kind: 'text' }
    for (const s of parts) yield { t: 'delta', i: 0, s }
    onHang()
    if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    yield { t: 'end', finish: { kind: 'aborted', failure: { code: 'ABORTED', message: 'stopped' } } }
  },
})

const peek = { id: 'c1', name: 'peek', arguments: '{}' }

test('2.3 one turn with a tool goes through log, bus and hooks in the order of the contract', async () => {
  const { host, log, agent, ends, model } = setting([{ text: 'look', calls: [peek] }, { text: 'done' }])
  host.tools.add(null, tool('peek'))
  const trace: string[] = []
  const { hooks } = host
  log.observe((events) => trace.push(...events.map((event) => event.type)))
  const waterfalls = [
    'system-prompt/assemble',
    'agent/pre-step',
    'agent/request',
    'tools/pre-execute',
    'tools/execute',
    'tools/post-execute',
  ] as const
  for (const name of waterfalls) hooks.on(null, name, (_event, next) => (trace.push(`~${name}`), next() as never))
  hooks.on(null, 'agent/turn-stopping', () => void trace.push('~agent/turn-stopping'))
  hooks.on(null, 'agent/inbox/inserted', () => void trace.push('*inserted'))
  hooks.on(null, 'agent/inbox/claimed', () => void trace.push('*claimed'))
  hooks.on(null, 'agent/status', ({ status }) => void trace.push(`*${status}`))
  hooks.on(null, 'agent/assistant-stream', ({ frame }) => void trace.push(`*${frame}`))
  hooks.on(null, 'tools/result', () => void trace.push('*result'))
  await agent.followup('hello')
  await agent.whenIdle()
  expect(trace).toEqual([
    'agent/inbox/spliced',
    '*inserted',
    '*running',
    'turn/start',
    '*claimed',
    '~system-prompt/assemble',
    '~agent/pre-step',
    'step/start',
    '~agent/request',
    'system/message',
    'user/message',
    'request/header',
    'request/context',
    'agent/inbox/spliced',
    '*start',
    '*chunk',
    '*chunk',
    'assistant/message',
    '*end',
    'tool/call',
    '~tools/pre-execute',
    '~tools/execute',
    '~tools/post-execute',
    '*result',
    'tool/result',
    'step/end',
    '~system-prompt/assemble',
    '~agent/pre-step',
    'step/start',
    '~agent/request',
    '*start',
    '*chunk',
    'assistant/message',
    '*end',
    'step/end',
    '~agent/turn-stopping',
    'turn/end',
    '*idle',
  ])
  expect(ends()).toEqual([{ kind: 'completed' }])
  expect(model.requests[1]!.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user'])
})

test('2.3 a rejected step logs no step, parks the prompt with the reason and calls no model', async () => {
  const { host, log, agent, ends, run, model } = setting([{ text: 'x' }])
  host.hooks.on(null, 'agent/pre-step', () => ({ kind: 'reject', reason: 'budget' }))
  await run()
  expect(types(log)).toEqual(['agent/inbox/spliced', 'turn/start', 'agent/inbox/spliced', 'turn/end'])
  expect(ends()).toEqual([{ kind: 'blocked', reason: 'budget' }])
  expect(agent.inbox.waiting('next-turn')).toMatchObject([{ parked: 'budget' }])
  expect(model.requests).toEqual([])
})

test('2.3 a first step whose messages were all taken out completes without a model call; the prompt waits', async () => {
  const { host, agent, ends, run, model } = setting([{ text: 'x' }])
  host.hooks.on(null, 'agent/pre-step', async () => ({ kind: 'enter', messages: [] }))
  await run()
  expect(ends()).toEqual([{ kind: 'completed' }])
  expect(model.requests).toEqual([])
  expect(agent.inbox.waiting('next-turn')).toHaveLength(1)
})

test('2.3 runtime context goes in as one message, and again only when it changed', async () => {
  const { host, log, run } = setting([{ text: 'a' }])
  let now = 'noon'
  host.prompt.context(null, { name: 'time', text: () => now })
  await run()
  await run()
  now = 'night'
  await run()
  const contexts = ofType(log, 'user/message').filter(({ data }) => data.message.source.kind === 'runtime-context')
  expect(contexts.map(({ data }) => data.message.content)).toEqual([
    [{ type: 'text', text: 'noon' }],
    [{ type: 'text', text: 'night' }],
  ])
})

test('J-13 a prompt that cannot be rendered ends the turn with UNKNOWN, sends nothing and keeps the prompt', async () => {
  const { host, agent, log, ends, run, model } = setting([{ text: 'x' }])
  registerPersona(host.prompt, agent, { prefix: 'at {{nowhere}}' })
  const errors: string[] = []
  host.hooks.on(null, 'agent/error', ({ error }) => void errors.push(error.code))
  await run()
  expect(ends()).toMatchObject([{ kind: 'error', error: { code: 'UNKNOWN' } }])
  expect(JSON.stringify(ends())).toContain('nowhere')
  expect(model.requests).toEqual([])
  expect(ofType(log, 'user/message')).toEqual([])
  expect(agent.inbox.waiting('next-turn')[0]!.parked).toContain('nowhere')
  expect(errors).toEqual(['UNKNOWN'])
})

test('2.3 a turn-stopping listener may steer the turn on; concludesTurn ends it without another call', async () => {
  const { host, agent, ends, run, model } = setting([{ text: 'a' }, { text: 'b' }])
  let steered = false
  host.hooks.on(null, 'agent/turn-stopping', async () => {
    if (steered) return
    steered = true
    await agent.steer('go on')
  })
  await run()
  expect(model.requests).toHaveLength(2)
  expect(ends()).toEqual([{ kind: 'completed' }])
  const other = setting([{ calls: [peek] }])
  other.host.tools.add(
    null,
    tool('peek', async () => ({ ...text('x'), concludesTurn: true })),
  )
  await other.run()
  expect(other.model.requests).toHaveLength(1)
  expect(other.ends()).toEqual([{ kind: 'completed' }])
})

test('2.3 a steering message enters at the next step of the running turn', async () => {
  const { host, agent, log, run } = setting([{ calls: [peek] }, { text: 'done' }])
  host.tools.add(
    null,
    tool('peek', async () => (await agent.steer('also this'), text('x'))),
  )
  await run()
  expect(ofType(log, 'user/message').map(({ data }) => [data.turn, data.step])).toEqual([
    [1, 1],
    [1, 2],
  ])
  expect(ofType(log, 'turn/start')).toHaveLength(1)
})

test('max-tokens is sticky for the turn and drops the calls that may be cut off', async () => {
  const { host, agent, ends, log, run } = setting([{ text: 'cut', finish: { kind: 'max-tokens' } }, { text: 'whole' }])
  let steered = false
  host.hooks.on(null, 'agent/turn-stopping', async () => {
    if (steered) return
    steered = true
    await agent.steer('go on')
  })
  await run()
  expect(ofType(log, 'assistant/message')).toHaveLength(2)
  expect(ends()).toEqual([{ kind: 'max-tokens' }])
})

test('a withheld answer is an attempt and ends the turn with CONTENT_FILTER', async () => {
  const { log, ends, run } = setting([{ text: 'bad', finish: { kind: 'content-filter' } }])
  await run()
  expect(ofType(log, 'assistant/message')).toEqual([])
  expect(ofType(log, 'assistant/attempt')).toHaveLength(1)
  expect(ends()).toMatchObject([{ kind: 'error', error: { code: 'CONTENT_FILTER' } }])
})

test('a failed attempt is retried in the same step over the same assembly, framed by two events', async () => {
  const down = { code: 'SERVER' as const, message: 'down', status: 503 }
  const { host, log, ends, run, model } = setting([{ error: down }, { error: down }, { text: 'up' }])
  let assemblies = 0
  host.hooks.on(null, 'system-prompt/assemble', (_event, next) => (assemblies++, next()))
  await run()
  expect(types(log).slice(2)).toEqual([
    'step/start',
    'system/message',
    'user/message',
    'request/header',
    'request/context',
    'agent/inbox/spliced',
    'assistant/attempt',
    'llm/retry',
    'llm/retry-started',
    'assistant/attempt',
    'llm/retry',
    'llm/retry-started',
    'assistant/message',
    'step/end',
    'turn/end',
  ])
  expect(ofType(log, 'llm/retry').map(({ data }) => [data.attempt, data.code, data.delayMs])).toEqual([
    [1, 'SERVER', 1],
    [2, 'SERVER', 2],
  ])
  expect(model.requests.map((request) => request.attempt)).toEqual([1, 2, 3])
  expect(model.requests[2]!.messages).toHaveLength(1)
  expect(assemblies).toBe(1)
  expect(ends()).toEqual([{ kind: 'completed' }])
})

test('a failure that no retry helps keeps its facts; the prompt is in the history, not in the queue', async () => {
  const { log, agent, ends, run } = setting([{ error: { code: 'AUTH', message: 'who?', status: 401, requestId: 'r' } }])
  await run()
  expect(ends()).toEqual([{ kind: 'error', error: { code: 'AUTH', message: 'who?', status: 401, requestId: 'r' } }])
  expect(ofType(log, 'user/message')).toHaveLength(1)
  expect(agent.inbox.waiting('next-turn')).toEqual([])
})

test('a request-error listener decides on retry and failure', async () => {
  const { host, ends, run, model } = setting([{ error: { code: 'AUTH', message: 'x' } }, { text: 'ok' }])
  host.hooks.on(null, 'agent/request-error', () => ({ kind: 'retry', delayMs: 0 }))
  await run()
  expect(model.requests).toHaveLength(2)
  expect(ends()).toEqual([{ kind: 'completed' }])
})

test('without a model, and without an adapter for it, the turn ends with NO_ADAPTER and the prompt waits', async () => {
  const model = new ScriptedModel({ text: 'x' })
  const log = memoryLog()
  const agent = new Agent(world(model), { id: 's1', log, options: { cwd: '/tmp' } })
  await agent.followup('hello')
  await agent.whenIdle()
  expect(last(ofType(log, 'turn/end')).data.reason).toMatchObject({ kind: 'error', error: { code: 'NO_ADAPTER' } })
  expect(agent.inbox.waiting('next-turn')).toHaveLength(1)
})

test('a plugin that throws ends the turn, not the loop: the next prompt runs', async () => {
  const { host, agent, ends, model } = setting([{ text: 'ok' }])
  let calls = 0
  host.hooks.on(null, 'agent/pre-step', (_event, next) => {
    if (calls++ === 0) throw new Error('plugin')
    return next()
  })
  await Promise.all([agent.followup('one'), agent.followup('two')])
  await agent.whenIdle()
  expect(ends()).toEqual([{ kind: 'error', error: { code: 'UNKNOWN', message: 'plugin' } }, { kind: 'completed' }])
  expect(model.requests).toHaveLength(1)
})

test('2.4 a cancel in mid-stream keeps what was delivered as an interrupted message', async () => {
  const hung = Promise.withResolvers<void>()
  const { agent, log, ends } = setting([hanging(['Hel', 'lo'], hung.resolve)])
  const deltas: Delta[] = []
  agent.onDelta((delta) => void deltas.push(delta))
  await agent.followup('hello')
  await hung.promise
  expect(agent.cancel({ kind: 'user' }, { keepInbox: true })).toBe(true)
  expect(agent.cancel({ kind: 'parent' })).toBe(true)
  await agent.whenIdle()
  const { message, interrupted } = last(ofType(log, 'assistant/message')).data
  expect(message.content).toEqual([{ type: 'text', text: 'Hello' }])
  expect(interrupted).toBe(true)
  expect(ends()).toEqual([{ kind: 'aborted', reason: { kind: 'user' } }])
  expect(deltas.map(({ offset, text }) => [offset, text])).toEqual([
    [0, 'Hel'],
    [3, 'lo'],
  ])
  expect(agent.cancel({ kind: 'user' })).toBe(false)
})

test('2.4 a cancel before any text leaves an attempt', async () => {
  const hung = Promise.withResolvers<void>()
  const { agent, log, ends } = setting([hanging([], hung.resolve)])
  await agent.followup('hello')
  await hung.promise
  agent.cancel({ kind: 'hook', reason: 'limit:time' })
  await agent.whenIdle()
  expect(ofType(log, 'assistant/message')).toEqual([])
  expect(ofType(log, 'assistant/attempt')).toHaveLength(1)
  expect(ends()).toEqual([{ kind: 'aborted', reason: { kind: 'hook', reason: 'limit:time' } }])
})

test('2.4 a model stream that ignores the abort is left behind', async () => {
  const hung = Promise.withResolvers<void>()
  const deaf: Say = {
    stream: async function* (): AsyncIterable<StreamEvent> {
      yield { t: 'open', i: 0, kind: 'text' }
      yield { t: 'delta', i: 0, s: 'half' }
      hung.resolve()
      await new Promise(() => {})
    },
  }
  const { agent, log, ends } = setting([deaf], { graceMs: 10 })
  await agent.followup('hello')
  await hung.promise
  agent.cancel({ kind: 'user' })
  await agent.whenIdle()
  expect(last(ofType(log, 'assistant/message')).data.interrupted).toBe(true)
  expect(ends()).toEqual([{ kind: 'aborted', reason: { kind: 'user' } }])
})

test('2.4 a cancel during the backoff ends the wait', async () => {
  const { agent, model, log, ends } = setting([{ error: { code: 'SERVER', message: 'down' } }])
  model.retry = { mode: 'normal', retries: 5, baseMs: 3_600_000, capMs: 3_600_000, jitter: 0 }
  const waiting = new Promise<void>((resolve) => log.observe((events) => events[0]!.type === 'llm/retry' && resolve()))
  await agent.followup('hello')
  await waiting
  agent.cancel({ kind: 'user' })
  await agent.whenIdle()
  expect(types(log)).not.toContain('llm/retry-started')
  expect(ends()).toEqual([{ kind: 'aborted', reason: { kind: 'user' } }])
})

test.each(['system-prompt/assemble', 'agent/pre-step', 'agent/request'] as const)(
  '2.3 a cancel while %s hangs ends the turn at once and parks the prompt',
  async (name) => {
    const { host, agent, log, ends } = setting([{ text: 'x' }])
    const stuck = Promise.withResolvers<void>()
    host.hooks.on(null, name, () => (stuck.resolve(), new Promise<never>(() => {})))
    await agent.followup('hello')
    await stuck.promise
    agent.cancel({ kind: 'user' }, { keepInbox: true })
    await agent.whenIdle()
    expect(ends()).toEqual([{ kind: 'aborted', reason: { kind: 'user' } }])
    expect(agent.inbox.waiting('next-turn')).toMatchObject([{ parked: 'cancelled' }])
    expect(ofType(log, 'user/message')).toEqual([])
    expect(types(log).filter((type) => type.startsWith('step/')).length % 2).toBe(0)
  },
)

test('B29 stop during a tool answers every call, and the next prompt goes through', async () => {
  const calls = [peek, { ...peek, id: 'c2' }, { ...peek, id: 'c3' }]
  const { host, agent, log, model, run, ends } = setting([{ calls }, { text: 'ok' }])
  host.tools.add(
    null,
    tool('peek', async (_args, { signal }) => {
      agent.cancel({ kind: 'user' }, { keepInbox: true })
      return { content: [{ type: 'text', text: signal.aborted ? 'stopped' : 'ran' }], isError: true }
    }),
  )
  await run()
  expect(ends()).toEqual([{ kind: 'aborted', reason: { kind: 'user' } }])
  expect(ofType(log, 'tool/call').map(({ data }) => data.callId)).toEqual(['c1', 'c2', 'c3'])
  expect(ofType(log, 'tool/result').map(({ data }) => data.error?.code)).toEqual([
    undefined,
    'ABORTED_BEFORE_DISPATCH',
    'ABORTED_BEFORE_DISPATCH',
  ])
  await run('again')
  expect(ends()[1]).toEqual({ kind: 'completed' })
  const { messages } = last(model.requests)
  expect(messages.map((message) => message.content[0]!.type)).toEqual([
    'text',
    'tool-call',
    'tool-result',
    'tool-result',
    'tool-result',
    'text',
  ])
})

test('B30 a log that ends inside a tool is closed before the next assembly', async () => {
  const first = setting([{ calls: [peek, { ...peek, id: 'c2' }] }])
  first.host.tools.add(
    null,
    tool('peek', () => new Promise(() => {})),
  )
  const started = new Promise<void>((resolve) =>
    first.log.observe((events) => events.some((event) => event.type === 'tool/call') && resolve()),
  )
  await first.agent.followup('hello')
  await started
  const model = new ScriptedModel({ text: 'ok' })
  const log = memoryLog([...first.log.events])
  const agent = new Agent(world(model), { id: 's1', log, options })
  await agent.followup('again')
  await agent.whenIdle()
  expect(ofType(log, 'tool/result').map(({ data }) => data.error?.code)).toEqual([
    'TOOL_OUTCOME_UNKNOWN',
    'TOOL_NOT_STARTED',
  ])
  expect(ofType(log, 'turn/end').map(({ data }) => data.reason.kind)).toEqual(['interrupted', 'completed'])
  expect(ofType(log, 'turn/start').map(({ data }) => data.turn)).toEqual([1, 2])
})

test('2.4 a step that fails between answer and tools answers the open calls and closes itself', async () => {
  const { host, agent, log, ends, run } = setting([{ calls: [peek] }])
  host.tools.add(null, tool('peek'))
  const guards = host.tools.guards.bind(host.tools)
  host.tools.guards = () => {
    throw new Error('registry is gone')
  }
  await run()
  expect(ofType(log, 'tool/result').map(({ data }) => data.error?.code)).toEqual(['TOOL_NOT_STARTED'])
  expect(types(log).slice(-2)).toEqual(['step/end', 'turn/end'])
  expect(ends()).toMatchObject([{ kind: 'error', error: { code: 'UNKNOWN' } }])
  host.tools.guards = guards
  expect(agent.status).toBe('idle')
})

test('call ids that a server repeats become unique in the session', async () => {
  const { host, log, run } = setting([{ calls: [peek] }, { calls: [peek] }, { text: 'ok' }])
  host.tools.add(null, tool('peek'))
  await run()
  expect(ofType(log, 'tool/call').map(({ data }) => data.callId)).toEqual(['c1', 'c1~2'])
})

test('only tools that the model was shown can be called', async () => {
  const { host, log, run } = setting([{ calls: [peek] }, { text: 'ok' }])
  host.tools.add(null, tool('peek'))
  host.hooks.on(null, 'system-prompt/assemble', async (_event, next) => ({ ...(await next()), tools: [] }))
  await run()
  expect(ofType(log, 'tool/result')[0]!.data.error?.code).toBe('TOOL_UNKNOWN')
})
