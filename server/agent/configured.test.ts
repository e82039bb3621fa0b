import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { SessionStore } from '../log/store.ts'
import { ScriptedModel, world } from '../turn/turn.fixture.ts'
import { draft } from '../wire/events.ts'
import { planStarts, sessionOf, startAgent } from './configured.ts'
import { AgentRegistry } from './registry.ts'
import type { Start } from './configured.ts'

async function storeOnDisk(): Promise<SessionStore> {
  const folder = await mkdtemp(join(tmpdir(), 'core-web-configured-'))
  const store = new SessionStore(folder, { allowNetworkDisk: true })
  await store.prepare()
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })
  return store
}

const exact = (id: string): Start => ({ label: 'main', identity: { kind: 'exact', id }, options: {} })

test('N-11 a start waits for the agent of the same session to drain, its log included', async () => {
  const agents = new AgentRegistry(world(new ScriptedModel()))
  const parts = { agents, store: await storeOnDisk(), writer: 'test' }
  const first = await startAgent(exact('s1'), 's1', parts)
  first.agent.log.append(draft('session/title', { title: 'kept', source: 'user' }))
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  first.agent.onClose(() => gate.promise)
  const ended = first.dispose().then(() => void order.push('drained'))
  const second = startAgent(exact('s1'), 's1', parts).then((handle) => {
    order.push('started')
    return handle
  })
  gate.resolve()
  await ended
  const { agent, dispose } = await second
  expect(order).toEqual(['drained', 'started'])
  expect(agent.log.events.map(({ type }) => type)).toEqual(['session/title'])
  await dispose()
})

test('a start whose agent is refused gives the log back', async () => {
  const agents = new AgentRegistry(world(new ScriptedModel()))
  const store = await storeOnDisk()
  const taken = await agents.create({ id: 's1', log: store.create(headerOf('elsewhere')), options: { cwd: '/' } })
  const refused = startAgent(exact('s1'), 's1', { agents, store, writer: 'test' })
  await expect(refused).rejects.toMatchObject({ code: 'session/conflict' })
  await taken.dispose()
  const again = await startAgent(exact('s1'), 's1', { agents, store, writer: 'test' })
  await again.dispose()
})

const headerOf = (id: string) => ({
  type: 'session' as const,
  version: 1,
  id,
  createdAt: 1,
  isSeeded: false,
  writer: 't',
})

const id = fc.constantFrom('a', 'b', 'c')
const entry = fc.record({ id, sessionId: id, resumeSessionId: fc.oneof(id, fc.constant('')) }, { requiredKeys: ['id'] })
const identities = fc.dictionary(id, fc.record({ id, resume: fc.boolean() }))

test('N-07 N-09 whatever is configured, accepted starts never share a session, and the launcher’s are used', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 4 }), identities, (entries, assigned) => {
      const { starts, problems } = planStarts(entries, assigned)
      const exactIds = starts.flatMap(({ identity }) => (identity.kind === 'fresh' ? [] : [identity.id]))
      const shared = new Set(exactIds).size < exactIds.length
      const contradictory = entries.some((one) => !assigned[one.id] && one.sessionId && one.resumeSessionId)
      expect(problems.length > 0).toBe(shared || contradictory)
      for (const { label, identity } of starts) {
        const own = assigned[label]
        if (own) expect(identity).toEqual({ kind: own.resume ? 'resume' : 'exact', id: own.id })
      }
    }),
  )
})

test('N-02 each call for a fresh start gives another session', () => {
  let next = 0
  const start: Start = { label: 'main', identity: { kind: 'fresh' }, options: {} }
  const uuid = (): string => String(++next)
  expect([sessionOf(start, uuid), sessionOf(start, uuid)]).toEqual(['main-session-1', 'main-session-2'])
})
