import { expect, test } from 'vitest'
import { Agent } from '../agent/agent.ts'
import type { StreamEvent } from '../model/port.ts'
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
