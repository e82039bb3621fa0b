import { expect, test } from 'vitest'
import { memoryLog, ofType, ScriptedModel, world } from '../turn/turn.fixture.ts'
import { Agent } from './agent.ts'
import { AgentRegistry } from './registry.ts'

const options = { provider: 'p', model: 'm', cwd: '/tmp' }

function setting() {
  const host = world(new ScriptedModel({ text: 'ok' }))
  const failures: unknown[] = []
  const registry = new AgentRegistry(host, (error) => failures.push(error))
  const log = memoryLog()
  const bus: string[] = []
  host.hooks.on(null, 'agent/created', () => void bus.push('created'))
  host.hooks.on(null, 'agent/disposed', () => void bus.push('disposed'))
  return { host, registry, log, bus, failures, init: { id: 's1', log, options } }
}

test('A-03 create builds, runs setup and publishes: no preset, no selection listener of its own', async () => {
  const { host, registry, init, log } = setting()
  const { agent } = await registry.create(init)
  expect(registry.get('s1')).toBe(agent)
  expect(host.scopes.parentOf(agent)).toBeUndefined()
  for (const name of ['system-prompt/assemble', 'agent/request', 'agent/pre-step'] as const)
    expect(host.hooks.has(name)).toBe(false)
  expect(log.events).toEqual([])
})

test('A-06 nothing is visible before setup is through; a setup that throws leaves the id free', async () => {
  const { registry, init, bus } = setting()
  const gate = Promise.withResolvers<void>()
  const closed: string[] = []
  const creation = registry.create({
    ...init,
    setup: async (agent) => {
      agent.onClose(() => void closed.push('effect'))
      await gate.promise
      throw new Error('no preset')
    },
  })
  await Promise.resolve()
  expect(registry.get('s1')).toBeUndefined()
  expect(registry.list()).toEqual([])
  gate.resolve()
  await expect(creation).rejects.toThrow('no preset')
  expect([bus, closed, registry.list()]).toEqual([[], ['effect'], []])
  const { agent } = await registry.create(init)
  expect(bus).toEqual(['created'])
  await agent.followup('hi')
  await agent.whenIdle()
})

test('A-12 concurrent creations of one id share one agent; a live id is a conflict', async () => {
  const { registry, init } = setting()
  let setups = 0
  const create = () => registry.create({ ...init, setup: () => void setups++ })
  const [one, two] = await Promise.all([create(), create()])
  expect(one).toBe(two)
  expect(setups).toBe(1)
  await expect(create()).rejects.toMatchObject({ code: 'session/conflict' })
})

test('2.1 dispose cancels, waits, unwinds last first, closes the log, leaves the registry; once', async () => {
  const { host, registry, init, log, bus, failures } = setting()
  const order: string[] = []
  const close = log.close.bind(log)
  log.close = async () => (order.push('log'), close())
  host.hooks.on(null, 'agent/cancelled', ({ cause }) => void order.push(cause.kind))
  const hung = Promise.withResolvers<void>()
  host.hooks.on(null, 'agent/pre-step', () => (hung.resolve(), new Promise<never>(() => {})))
  const handle = await registry.create({
    ...init,
    setup: (agent) => {
      agent.onClose(async () => void order.push(`first ${agent.phase}`))
      agent.onClose(() => {
        throw new Error('effect')
      })
      agent.onClose(() => void order.push('last'))
    },
  })
  await handle.agent.followup('hello')
  await hung.promise
  const disposal = handle.dispose()
  expect(handle.dispose()).toBe(disposal)
  await expect(handle.agent.followup('late')).rejects.toMatchObject({ code: 'gateway/cancelled' })
  await disposal
  expect(order).toEqual(['disposed', 'last', 'first closed', 'log'])
  expect(failures).toMatchObject([{ message: 'effect' }])
  expect(registry.get('s1')).toBeUndefined()
  expect(bus).toEqual(['created', 'disposed'])
  expect(ofType(log, 'turn/end')[0]!.data.reason).toEqual({ kind: 'aborted', reason: { kind: 'disposed' } })
  const again = new Agent(world(new ScriptedModel({ text: 'ok' })), {
    id: 's1',
    log: memoryLog([...log.events]),
    options,
  })
  expect(again.inbox.waiting('next-turn')).toMatchObject([{ message: { content: [{ text: 'hello' }] } }])
  expect(again.inbox.waiting('next-turn')[0]!.parked).toBeUndefined()
})

test('N-11 a creation waits for the agent of the same id that is still draining', async () => {
  const { registry, init } = setting()
  const gate = Promise.withResolvers<void>()
  const handle = await registry.create({ ...init, setup: (agent) => agent.onClose(() => gate.promise) })
  void handle.dispose()
  let ready = false
  const second = registry.create({ ...init, log: memoryLog() }).then(({ agent }) => ((ready = true), agent))
  await new Promise((resolve) => setImmediate(resolve))
  expect(ready).toBe(false)
  gate.resolve()
  const agent = await second
  expect(registry.get('s1')).toBe(agent)
})

test('roots and owners follow delegation', async () => {
  const { registry, init } = setting()
  const { agent: parent } = await registry.create(init)
  const { agent: child } = await registry.create({ id: 's2', log: memoryLog(), options, parent })
  const { agent: grandchild } = await registry.create({ id: 's3', log: memoryLog(), options, parent: child })
  expect(registry.roots()).toEqual([parent])
  expect(registry.isOwnedBy(grandchild, parent)).toBe(true)
  expect(registry.isOwnedBy(parent, grandchild)).toBe(false)
})
