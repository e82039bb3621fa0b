import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LogEvent } from '../wire/events.ts'
import type { Message } from '../wire/messages.ts'
import { closers } from '../log/closers.ts'
import { inbox, waiting } from '../projection/inbox.ts'
import { fold } from '../projection/projection.ts'
import { modelHistory, surface } from '../projection/surface.ts'
import { header, memoryLog, ofType, ScriptedModel, tool, world, type Say } from '../turn/turn.fixture.ts'
import { Agent } from './agent.ts'

const options = { provider: 'p', model: 'm', cwd: '/tmp' }

type Act =
  | { do: 'followup' | 'steer' | 'inject' }
  | { do: 'cancel' }
  | { do: 'sendNow' | 'edit'; nth: number }
  | { do: 'settle' }
  | { do: 'tick'; times: number }

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constantFrom('followup' as const, 'steer' as const, 'inject' as const) }),
    fc.record({ do: fc.constant('cancel' as const) }),
    fc.record({ do: fc.constantFrom('sendNow' as const, 'edit' as const), nth: fc.nat(3) }),
    fc.record({ do: fc.constant('settle' as const) }),
    fc.record({ do: fc.constant('tick' as const), times: fc.integer({ min: 1, max: 12 }) }),
  ),
  { minLength: 1, maxLength: 12 },
)

const says: fc.Arbitrary<Say[]> = fc.array(
  fc.oneof(
    fc.constant<Say>({ text: 'ok' }),
    fc.constant<Say>({ calls: ['a', 'b'].map((id) => ({ id, name: 't', arguments: '{}' })) }),
    fc.constant<Say>({ error: { code: 'AUTH', message: 'no' } }),
    fc.constant<Say>({ text: 'cut', finish: { kind: 'max-tokens' } }),
  ),
  { minLength: 1, maxLength: 5 },
)

/** Plays the acts against one agent; the model's last word is always an answer, so that every turn ends. */
async function play(script: Say[], list: Act[], hookFails: boolean): Promise<readonly LogEvent[]> {
  const host = world(new ScriptedModel(...script, { text: 'end' }))
  host.tools.add(null, tool('t'))
  let calls = 0
  host.hooks.on(null, 'agent/pre-step', (_event, next) => {
    if (hookFails && calls++ % 3 === 2) throw new Error('plugin')
    return next()
  })
  const log = memoryLog()
  const agent = new Agent(host, { id: 's1', log, options })
  let count = 0
  for (const act of list) await perform(agent, act, `p${count++}`)
  await agent.whenIdle()
  return log.events
}

async function perform(agent: Agent, act: Act, name: string): Promise<void> {
  switch (act.do) {
    case 'settle':
      return agent.whenIdle()
    case 'tick':
      for (let index = 0; index < act.times; index++) await Promise.resolve()
      return
    case 'cancel':
      agent.cancel({ kind: 'user' }, { keepInbox: true })
      return
    case 'sendNow':
    case 'edit': {
      const rows = [...agent.inbox.waiting('next-turn'), ...agent.inbox.waiting('next-step')]
      const row = rows[act.nth]
      if (!row) return
      if (act.do === 'edit') agent.inbox.edit(row.message.id, [{ type: 'text', text: `${name} edited` }])
      if (act.do === 'sendNow') void agent.sendNow(row.message.id)
      return
    }
    default:
      void agent[act.do](name)
  }
}

const promptsInserted = (events: readonly LogEvent[]): string[] =>
  ofType({ events }, 'agent/inbox/spliced').flatMap(({ data }) => data.inserted.map((message) => message.id))

test('2.3 property: cut anywhere, every prompt stands in the inbox or in the history, and never in both', async () => {
  await fc.assert(
    fc.asyncProperty(says, acts, fc.boolean(), async (script, list, hookFails) => {
      const events = await play(script, list, hookFails)
      for (let cut = 0; cut <= events.length; cut++) {
        const prefix = events.slice(0, cut)
        const state = fold(inbox, header(), prefix)
        const queued = [...waiting(state, 'next-turn'), ...waiting(state, 'next-step')].map((row) => row.message.id)
        const told = ofType({ events: prefix }, 'user/message').map(({ data }) => data.message.id)
        for (const id of new Set(promptsInserted(prefix)))
          expect([queued.includes(id), told.includes(id)], `cut ${cut}`).toContain(true)
        for (const id of queued) expect(told).not.toContain(id)
        expect(new Set(told).size).toBe(told.length)
      }
    }),
    { numRuns: 60 },
  )
})

test('B32 B30 property: cut anywhere and repaired, calls and results pair in both directions; a new prompt completes', async () => {
  await fc.assert(
    fc.asyncProperty(says, acts, fc.nat(), async (script, list, at) => {
      const events = await play(script, list, false)
      const log = memoryLog(events.slice(0, at % (events.length + 1)))
      log.append(
        ...closers(log.events, { reason: 'interrupted', newId: () => crypto.randomUUID(), inbox: log.state(inbox) }),
      )
      const model = new ScriptedModel({ text: 'ok' })
      const host = world(model, { id: () => crypto.randomUUID() })
      host.tools.add(null, tool('t'))
      const agent = new Agent(host, { id: 's1', log, options })
      await agent.followup('after the crash')
      await agent.whenIdle()
      expect(ofType(log, 'turn/end').at(-1)!.data.reason).toEqual({ kind: 'completed' })
      for (const request of model.requests) expectPairs(request.messages)
      expectPairs(modelHistory(log.state(surface)))
      const told = ofType(log, 'user/message').map(({ data }) => data.message.id)
      expect(new Set(told).size).toBe(told.length)
    }),
    { numRuns: 60 },
  )
})

function expectPairs(messages: readonly Message[]): void {
  const calls: string[] = []
  const results: string[] = []
  for (const message of messages)
    for (const block of message.content) {
      if (block.type === 'tool-call') calls.push(block.id)
      if (block.type === 'tool-result') results.push(block.toolCallId)
    }
  expect(results).toEqual(calls)
  expect(new Set(calls).size).toBe(calls.length)
}
