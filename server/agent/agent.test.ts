import { expect, test } from 'vitest'
import { textOf } from '../wire/messages.ts'
import { last, memoryLog, ofType, ScriptedModel, texts, tool, types, world, type Say } from '../turn/turn.fixture.ts'
import { Agent } from './agent.ts'

const options = { provider: 'p', model: 'm', cwd: '/tmp' }

function setting(script: Say[] = [{ text: 'ok' }], log = memoryLog()) {
  const model = new ScriptedModel(...script)
  const host = world(model)
  const agent = new Agent(host, { id: 's1', log, options })
  const prompts = () => texts(ofType(log, 'user/message').map(({ data }) => data.message))
  const queue = () => agent.inbox.waiting('next-turn').map(({ message, parked }) => [textOf(message), parked])
  /** Resolves when a model stream waits; `go` lets it answer. */
  const hold = () => {
    const [held, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    model.script[0] = {
      stream: async function* ({ signal }) {
        held.resolve()
        await Promise.race([go.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
        yield { t: 'open', i: 0, kind: 'text' }
        yield { t: 'delta', i: 0, s: 'held' }
        yield signal.aborted
          ? { t: 'end', finish: { kind: 'aborted', failure: { code: 'ABORTED', message: '' } } }
          : { t: 'end', finish: { kind: 'stop' } }
      },
    }
    return { held: held.promise, go: go.resolve }
  }
  return { model, host, log, agent, prompts, queue, hold }
}

test('SL-05 a prompt is acknowledged only after its event is on disk', async () => {
  const log = memoryLog()
  const disk = Promise.withResolvers<void>()
  log.barrier = () => disk.promise
  const agent = new Agent(world(new ScriptedModel({ text: 'ok' })), { id: 's1', log, options })
  let acknowledged = false
  const sent = agent.followup('hello').then(() => (acknowledged = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(types(log)).toContain('agent/inbox/spliced')
  expect(acknowledged).toBe(false)
  disk.resolve()
  await sent
  await agent.whenIdle()
})

test('prompts run one turn each, in order, and the agent says when it runs', async () => {
  const { host, agent, log, prompts } = setting()
  const statuses: string[] = []
  host.hooks.on(null, 'agent/status', ({ status }) => void statuses.push(status))
  await Promise.all([agent.followup('one'), agent.followup('two'), agent.followup('three')])
  await agent.whenIdle()
  expect(prompts()).toEqual(['one', 'two', 'three'])
  expect(ofType(log, 'turn/start').map(({ data }) => data.turn)).toEqual([1, 2, 3])
  expect(statuses).toEqual(['running', 'idle'])
})

test('inject does not wake; its message rides with the next prompt, before it', async () => {
  const { agent, log, prompts } = setting()
  await agent.inject('note')
  await agent.whenIdle()
  expect(types(log)).toEqual(['agent/inbox/spliced'])
  await agent.followup('go')
  await agent.whenIdle()
  expect(prompts()).toEqual(['note', 'go'])
  expect(ofType(log, 'turn/start')).toHaveLength(1)
  await agent.inject('later')
  await agent.whenIdle()
  expect(ofType(log, 'turn/start')).toHaveLength(1)
})

test('steer starts a turn when none runs, and joins the running one otherwise', async () => {
  const { agent, prompts, hold, log } = setting([{ text: 'x' }, { text: 'ok' }])
  const { held, go } = hold()
  await agent.steer('alone')
  await held
  await agent.steer('joined')
  go()
  await agent.whenIdle()
  expect(prompts()).toEqual(['alone', 'joined'])
  expect(ofType(log, 'turn/start')).toHaveLength(1)
})

test('B67 stop with keepInbox loses nothing: queued and steering messages wait, parked, and can be sent', async () => {
  const { agent, prompts, queue, hold } = setting([{ text: 'x' }, { text: 'ok' }])
  const { held } = hold()
  await agent.followup('running')
  await held
  await agent.followup('queued')
  await agent.steer('steering')
  agent.cancel({ kind: 'user' }, { keepInbox: true })
  await agent.whenIdle()
  expect(queue()).toEqual([['queued', 'cancelled']])
  expect(agent.inbox.waiting('next-step')).toMatchObject([{ parked: 'cancelled' }])
  expect(prompts()).toEqual(['running'])
  await agent.sendNow(agent.inbox.waiting('next-step')[0]!.message.id)
  await agent.whenIdle()
  expect(prompts()).toEqual(['running', 'steering'])
  expect(queue()).toEqual([['queued', 'cancelled']])
  await agent.followup('new')
  await agent.whenIdle()
  expect(prompts()).toEqual(['running', 'steering', 'new'])
})

test('B67 a steering message sent during a tool that is then stopped is not lost', async () => {
  const { host, agent } = setting([{ calls: [{ id: 'c', name: 't', arguments: '{}' }] }])
  const inTool = Promise.withResolvers<void>()
  host.tools.add(
    null,
    tool('t', async (_args, { signal }) => {
      inTool.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { content: [] }
    }),
  )
  await agent.followup('go')
  await inTool.promise
  await agent.steer('wait, not that')
  agent.cancel({ kind: 'user' }, { keepInbox: true })
  await agent.whenIdle()
  expect(agent.inbox.waiting('next-step').map(({ message }) => textOf(message))).toEqual(['wait, not that'])
})

test('2.4 cancel without keepInbox clears both lists, logged as canceled; idle agents are not touched', async () => {
  const { agent, log, hold, queue } = setting()
  const { held } = hold()
  await agent.followup('running')
  await held
  await Promise.all([agent.followup('queued'), agent.steer('steering')])
  agent.cancel({ kind: 'parent' })
  await agent.whenIdle()
  expect(queue()).toEqual([])
  expect(agent.inbox.waiting('next-step')).toEqual([])
  expect(ofType(log, 'agent/inbox/spliced').filter(({ data }) => data.outcome === 'canceled')).toHaveLength(2)
  await agent.inject('kept')
  expect(agent.cancel({ kind: 'user' })).toBe(false)
  expect(agent.inbox.waiting('next-step')).toHaveLength(1)
})

test('2.1 a waking message sent to a cancelled turn gets a turn of its own', async () => {
  const { agent, prompts, log, hold } = setting([{ text: 'x' }, { text: 'ok' }])
  const { held } = hold()
  await agent.followup('one')
  await held
  agent.cancel({ kind: 'user' }, { keepInbox: true })
  await agent.steer('two')
  await agent.whenIdle()
  expect(prompts()).toEqual(['one', 'two'])
  expect(ofType(log, 'turn/end').map(({ data }) => data.reason.kind)).toEqual(['aborted', 'completed'])
})

test('queued rows are edited, removed and sent now; what is gone is refused by its code', async () => {
  const { agent, prompts, queue, hold } = setting([{ text: 'x' }, { text: 'ok' }])
  const { held, go } = hold()
  await agent.followup('one')
  await held
  const [two, three, four] = await Promise.all(['two', 'three', 'four'].map((text) => agent.followup(text)))
  agent.inbox.edit(two!.id, [{ type: 'text', text: 'TWO' }])
  expect(textOf(agent.inbox.remove(three!.id))).toBe('three')
  await agent.sendNow(four!.id)
  expect(queue()).toEqual([['TWO', undefined]])
  expect(() => agent.inbox.edit(three!.id, [])).toThrow(
    expect.objectContaining({ code: 'session/queue-item-not-found' }),
  )
  await expect(agent.sendNow('nope')).rejects.toMatchObject({ code: 'session/queue-item-not-found' })
  go()
  await agent.whenIdle()
  expect(prompts()).toEqual(['one', 'four', 'TWO'])
})

test('rows found after a restart wait for the first wake, then run before the new prompt', async () => {
  const first = setting()
  const { held } = first.hold()
  await first.agent.followup('running')
  await held
  await first.agent.followup('queued')
  const { agent, prompts } = setting(undefined, memoryLog([...first.log.events]))
  await agent.runMaintenance(() => {})
  await agent.whenIdle()
  expect(prompts()).toEqual(['running'])
  await agent.followup('new')
  await agent.whenIdle()
  expect(prompts()).toEqual(['running', 'queued', 'new'])
})

test('a move in the queue that was torn in two is healed on the next start: the message is told once', async () => {
  const first = setting()
  const { held } = first.hold()
  await first.agent.followup('running')
  await held
  const [, row] = await Promise.all(['queued', 'moved'].map((text) => first.agent.followup(text)))
  await first.agent.sendNow(row!.id)
  const { agent, prompts, queue } = setting(undefined, memoryLog(first.log.events.slice(0, -1)))
  expect(queue()).toEqual([['queued', undefined]])
  expect(agent.inbox.waiting('next-step').map(({ message }) => textOf(message))).toEqual(['moved'])
  await agent.followup('new')
  await agent.whenIdle()
  expect(prompts()).toEqual(['running', 'moved', 'queued', 'new'])
})

test('H-03 maintenance runs between turns, in order, and prompts queue behind it', async () => {
  const { agent, log, hold, prompts } = setting()
  const { held, go } = hold()
  const trace: string[] = []
  log.observe((events) => trace.push(...events.map(({ type }) => type).filter((type) => type.startsWith('turn/'))))
  await agent.followup('one')
  await held
  const jobs = [
    agent.runMaintenance(() => void trace.push('job 1')),
    agent.runMaintenance(async () => {
      trace.push('job 2')
      throw new Error('refused')
    }),
    agent.runMaintenance(() => trace.push('job 3')),
  ]
  await agent.followup('two')
  expect(trace).toEqual(['turn/start'])
  go()
  expect((await Promise.allSettled(jobs)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  await agent.whenIdle()
  expect(trace).toEqual(['turn/start', 'turn/end', 'job 1', 'job 2', 'job 3', 'turn/start', 'turn/end'])
  const gate = Promise.withResolvers<void>()
  const slot = agent.runMaintenance(() => gate.promise)
  await agent.followup('three')
  expect(agent.phase).toBe('maintenance')
  expect(prompts()).toEqual(['one', 'two'])
  gate.resolve()
  await slot
  await agent.whenIdle()
  expect(prompts()).toEqual(['one', 'two', 'three'])
})

test('SL-07 a log that refuses ends the driving; the prompt stays queued and runs when the disk is back', async () => {
  const log = memoryLog()
  let full = false
  const append = log.append.bind(log)
  log.barrier = () => (full ? Promise.reject(new Error('disk full')) : Promise.resolve())
  log.append = (...drafts) => {
    if (full) throw new Error('read-only')
    return append(...drafts)
  }
  const model = new ScriptedModel({ text: 'ok' })
  const host = world(model)
  const errors: string[] = []
  host.hooks.on(null, 'agent/error', ({ error }) => void errors.push(error.message))
  host.hooks.on(null, 'agent/request', (_event, next) => ((full = true), next()))
  const agent = new Agent(host, { id: 's1', log, options })
  await agent.followup('hello').catch(() => {})
  await agent.whenIdle()
  expect(errors.at(-1)).toBe('read-only')
  expect(model.requests).toEqual([])
  expect(agent.inbox.waiting('next-turn')).toHaveLength(1)
  await expect(agent.followup('more')).rejects.toThrow('read-only')
  full = false
  host.hooks.on(null, 'agent/request', async (_event, next) => ((full = false), next()))
  await agent.sendNow(agent.inbox.waiting('next-turn')[0]!.message.id)
  await agent.whenIdle()
  expect(ofType(log, 'turn/end').map(({ data }) => data.reason.kind)).toEqual(['interrupted', 'completed'])
})

test('a screen that throws does not end the answer', async () => {
  const { agent, log } = setting()
  agent.onDelta(() => {
    throw new Error('screen')
  })
  await agent.followup('hello')
  await agent.whenIdle()
  expect(last(ofType(log, 'turn/end')).data.reason).toEqual({ kind: 'completed' })
})
