import { expect, test } from 'vitest'
import { Agent } from '../agent/agent.ts'
import { registerPersona } from '../prompt/persona.ts'
import { text } from '../tool/tool.ts'
import { last, memoryLog, ofType, ScriptedModel, tool, types, world, type Say } from './turn.fixture.ts'
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
    'request/origins',
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
    'request/origins',
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
