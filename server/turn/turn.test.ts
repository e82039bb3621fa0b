import { expect, test } from 'vitest'
import { Agent } from '../agent/agent.ts'
import { memoryLog, ofType, ScriptedModel, tool, types, world } from './turn.fixture.ts'

const options = { provider: 'p', model: 'm', cwd: '/tmp' }

test('one turn with a tool logs everything in the order of the contract', async () => {
  const model = new ScriptedModel(
    { text: 'look', calls: [{ id: 'c1', name: 'peek', arguments: '{}' }] },
    { text: 'done' },
  )
  const host = world(model)
  host.tools.add(null, tool('peek'))
  const bus: string[] = []
  host.hooks.on(null, 'agent/inbox/inserted', () => void bus.push('inserted'))
  host.hooks.on(null, 'agent/inbox/claimed', () => void bus.push('claimed'))
  host.hooks.on(null, 'agent/status', ({ status }) => void bus.push(status))
  host.hooks.on(null, 'tools/result', () => void bus.push('result'))
  const log = memoryLog()
  const agent = new Agent(host, { id: 's1', log, options })
  await agent.followup('hello')
  await agent.whenIdle()
  expect(types(log)).toEqual([
    'agent/inbox/spliced',
    'turn/start',
    'step/start',
    'system/message',
    'user/message',
    'request/header',
    'request/context',
    'agent/inbox/spliced',
    'assistant/message',
    'tool/call',
    'tool/result',
    'step/end',
    'step/start',
    'assistant/message',
    'step/end',
    'turn/end',
  ])
  expect(bus).toEqual(['inserted', 'running', 'claimed', 'result', 'idle'])
  expect(ofType(log, 'turn/end')[0]!.data.reason).toEqual({ kind: 'completed' })
  expect(model.requests[1]!.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user'])
})
